"""Room tone from a file, chosen in the export dialog."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from export_bench import ExportBench
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from studio import settings as declared
from studio.app.export_dialog.export_task import ExportState
from studio.project.project import Project
from studio.settings_store import Settings

RATE = 44_100


@pytest.fixture
def exporting(qtbot: QtBot, project: Project, settings: Settings) -> ExportBench:
    settings.change({
        declared.EXPORT_FILES: "joined",
        declared.EXPORT_STANDARD: "acx",
        declared.EXPORT_ENCODING: "wav32f",
        declared.EXPORT_SAMPLE_RATE: RATE,
    })  # fmt: skip
    return ExportBench(qtbot, project, settings)


def choose(exporting: ExportBench, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Click "Choose…" and pick a file."""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    control = exporting.dialog.form.editor(declared.EXPORT_ROOM_TONE).control
    assert control.isVisible()
    control.findChildren(QPushButton)[0].click()


def test_the_pauses_contain_the_chosen_recording(
    exporting: ExportBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = np.arange(3 * RATE) / RATE
    soundfile.write(tmp_path / "room.wav", 0.01 * np.sin(2 * np.pi * 500 * times), RATE, subtype="FLOAT")
    choose(exporting, tmp_path / "room.wav", monkeypatch)
    task = exporting.export()
    assert task.state is ExportState.DONE, task.error
    assert task.order.settings.room_tone == tmp_path / "room.wav"
    (file,) = task.order.folder.glob("*.wav")
    samples, _ = soundfile.read(file)
    tail = samples[-RATE:]
    assert np.abs(np.fft.rfft(tail)).argmax() == pytest.approx(500, abs=2)


def test_a_missing_recording_is_found_before_the_export(
    exporting: ExportBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(exporting, tmp_path / "missing.wav", monkeypatch)
    exporting.qtbot.waitUntil(lambda: not exporting.dialog.export_button.isEnabled(), timeout=30_000)
    exporting.qtbot.waitUntil(
        lambda: any("missing.wav" in text for text in exporting.dialog.findings.texts), timeout=30_000
    )


def test_without_a_standard_there_is_no_room_tone(exporting: ExportBench) -> None:
    editor = exporting.dialog.form.editor(declared.EXPORT_STANDARD)
    editor.set_value("none")
    editor.changed.emit()
    assert not exporting.dialog.form.editor(declared.EXPORT_ROOM_TONE).control.isVisible()
