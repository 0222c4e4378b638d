"""Every text of the window is translated, and no placeholder is lost on the way."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtCore import QLocale

from studio.app.error_words import _HEADINGS, error_heading
from studio.app.translation import use_language
from studio.errors import DiskFull, type_of_code

HOUSE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", HOUSE / "packaging" / "translations.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_text_is_translated_and_compiled(translations: ModuleType, language: str) -> None:
    assert translations.faults_of(language) == []


@pytest.fixture
def chinese(qapp: Any) -> Any:
    use_language(qapp, QLocale("zh_CN"))
    yield
    use_language(qapp, QLocale("en_US"))


def test_the_window_speaks_chinese(bench: Any, qapp: Any) -> None:
    use_language(qapp, QLocale("zh_CN"))
    window = bench.open_window()
    assert window.actions_by_id["speak.line"].text() == "朗读此行"
    assert window.docks.voices.windowTitle() == "声音"


def test_errors_are_headed_in_the_language_of_the_window(qapp: Any, chinese: None) -> None:
    error = DiskFull("There is no room.", remedy="Make some.")
    assert error_heading(error) == "磁盘已满。"
    use_language(qapp, QLocale("en_US"))
    assert error_heading(error) == ""


def test_every_error_a_person_may_meet_has_a_heading() -> None:
    """(A cut off the grid is met by callers of the library alone.)"""
    assert set(_HEADINGS) == set(type_of_code) - {"off-grid-cut"}
