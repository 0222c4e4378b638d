"""Tasks of models that the end of the program interrupts."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from studio.app.models.model_tasks import ModelTasks
from studio.catalog.known import known_models
from studio.settings_store import Settings

NAMES = ("CosyVoice2-0.5B", "Fun-CosyVoice3-0.5B-2512")


@pytest.fixture
def tasks(qapp: QApplication, tmp_path: Path) -> ModelTasks:
    return open_tasks(tmp_path)


def open_tasks(folder: Path) -> ModelTasks:
    """Return tasks that only wait."""

    def run(coroutine: Coroutine[Any, Any, Any]) -> None:
        coroutine.close()

    return ModelTasks(Settings(folder / "settings.json"), run)


def test_a_download_that_has_not_begun_keeps_its_variants(tasks: ModelTasks, tmp_path: Path) -> None:
    plain, extended = (known_models()[name] for name in NAMES)
    tasks.install(plain.name)
    tasks.install(extended.name, frozenset(extended.variants))
    again = open_tasks(tmp_path)
    again.resume_unfinished()
    found = {name: task.variants for name in NAMES if (task := again.task_of(name)) is not None}
    assert found == {plain.name: frozenset(), extended.name: frozenset({"rl"})}
