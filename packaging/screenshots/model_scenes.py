"""Example states of the Models page and the first-run panel for the screenshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QWidget

from studio.app.models.model_preview import ModelPreview
from studio.app.models.model_tasks import ModelTask, ModelTaskKind, ModelTasks
from studio.app.models.model_text import advice_text
from studio.app.models.models_page import ModelsController
from studio.audio.player import StreamingAudio
from studio.catalog.installed import InstallRecord, ModelState, model_statuses
from studio.catalog.known import known_models
from studio.catalog.machine import Gpu, MachineFacts, recommend_model
from studio.catalog.progress import Phase, Progress

_GIB = 1 << 30
_MACHINE = MachineFacts(
    "AMD Ryzen 7 5800X",
    8,
    32 * _GIB,
    21 * _GIB,
    412_000_000_000,
    Gpu("NVIDIA GeForce RTX 4070", 12 * _GIB, "580.95", 12 * _GIB),
)
_DOWNLOAD = Progress(
    Phase.RECEIVING, "flow.pt", 612_000_000, 1_329_116_148, 1_694_000_000, 4_438_935_000, 11_400_000.0, 241.0
)


def model_scenes(desk: ModelsController, work: ModelTasks, window: QWidget) -> Iterator[tuple[str, QWidget]]:
    """Yield names and widgets. No network is used, and nothing is stored."""
    _pretend(work)
    desk.open_page()
    page = desk.page
    assert page is not None, "it was opened"
    work.blockSignals(True)  # installed models would replace the examples
    page._show_statuses()
    advice = recommend_model(_MACHINE, known_models().values())
    assert advice is not None, "the catalogue contains models"
    page.show_advice(advice.model.name, advice_text(advice, _MACHINE))
    yield "models", page
    work.blockSignals(False)
    page.hide()
    first = desk.first_run
    first._is_active, first._machine = True, _MACHINE
    first._advice = recommend_model(_MACHINE, known_models().values())
    work._tasks.clear()
    first._show_advice()
    yield "first-steps", window
    work._tasks.append(ModelTask(first._name, ModelTaskKind.INSTALL, progress=_DOWNLOAD, is_running=True))
    first._on_task_changed()
    yield "first-steps-download", window
    work._tasks.clear()
    sound = StreamingAudio(24_000)
    first._show_difference(
        ModelPreview("studio-mini", False, 0.31, 0.22, 7_400.0, sound),
        ModelPreview(first._name, False, 0.94, 0.61, 10_900.0, sound),
    )
    yield "first-steps-difference", window
    first._end()


def _pretend(work: ModelTasks) -> None:
    """One model is being downloaded, another is installed."""
    statuses = []
    for status in model_statuses():
        known = status.known
        if known is not None and known.name == "Fun-CosyVoice3-0.5B-2512":
            status = replace(status, state=ModelState.PARTIAL, arrived_bytes=1_694_000_000)  # noqa: PLW2901
        elif known is not None and known.name == "CosyVoice2-0.5B":
            record = InstallRecord(known.name, "ModelScope iic/CosyVoice2-0.5B", "master", ())
            status = replace(status, state=ModelState.INSTALLED, record=record, folder=Path())  # noqa: PLW2901
        statuses.append(status)
    work.statuses = tuple(statuses)
    work._tasks[:] = [ModelTask("Fun-CosyVoice3-0.5B-2512", ModelTaskKind.INSTALL, progress=_DOWNLOAD, is_running=True)]
