"""A script with two spoken lines and one empty line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from export_bench import ExportBench, speak
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.app.translation import use_language
from studio.project.changes import InsertLines
from studio.project.lines import Line
from studio.project.project import Project
from studio.settings_store import Settings


@pytest.fixture(autouse=True)
def english(qapp: QApplication) -> None:
    use_language(qapp, QLocale("en_US"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "data"))
    project = Project.create(tmp_path / "drafts")
    lines = (Line("a", "The first line.", "Anna"), Line("b", "The second line.", "Ben"), Line("c", "", "Ben"))
    project.apply(InsertLines(0, lines))
    speak(project, "a")
    speak(project, "b")
    yield project
    project.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(tmp_path / "settings.json")
    settings[declared.EXPORT_FOLDER] = str(tmp_path / "target")
    settings[declared.MARKS_FILES] = False  # files equal their takes
    return settings


@pytest.fixture
def exporting(qtbot: QtBot, project: Project, settings: Settings) -> ExportBench:
    return ExportBench(qtbot, project, settings)
