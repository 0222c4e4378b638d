"""Voices that the chosen model cannot use, in the lists for the voice of a line and of a character."""

from __future__ import annotations

from pathlib import Path

import noise_models
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from window_bench import Bench

from studio.app.importing.import_page import ImportPage
from studio.app.script.line_model import Column
from studio.app.window import MainWindow
from studio.catalog.built_in_speakers import list_speakers

SPEAKERS = [voice.name for voice in list_speakers(noise_models.V1)]
GREY = [f"{name} · Needs noise-cosyvoice1" for name in SPEAKERS]


@pytest.fixture
def window(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A CosyVoice3 model is chosen; an installed CosyVoice-300M has two speakers."""
    monkeypatch.setattr(bench.library, "_speakers_of_models", lambda: list_speakers(noise_models.V1))
    bench.add_voice("Anna")
    window = bench.open_window()
    bench.until(lambda: bench.session.model_selection.styles.generation)
    window.script.set_field("voice", "Anna", "Change voice")
    return window


def entries(box: QComboBox) -> list[str]:
    return [box.itemText(row) for row in range(box.count())]


def test_the_inspector_lets_choose_a_speaker_only_with_its_model(bench: Bench, window: MainWindow) -> None:
    box = window.inspector.form._voice
    assert entries(box) == ["Anna", *GREY]
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert bench.lines[0].voice == "Anna"
    bench.session.model_selection.use_model(str(noise_models.V1))
    assert entries(box) == ["Anna", *SPEAKERS]
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert bench.lines[0].voice == SPEAKERS[0]
    assert window.inspector.form._mode.text() == "Built-in voice of the model, without a recording."


def test_a_line_whose_speaker_needs_another_model_shows_the_reason(bench: Bench, window: MainWindow) -> None:
    window.script.assign_voice(SPEAKERS[0])
    assert window.inspector.form._voice.currentText() == GREY[0]
    assert "works only with another model" in window.inspector.form._mode.text()


@pytest.mark.slow
def test_the_table_lets_choose_a_speaker_only_with_its_model(bench: Bench, window: MainWindow) -> None:
    view = window.script.view

    def choose_next() -> list[str]:
        view.setCurrentIndex(view.model().index(0, Column.VOICE))
        view.edit(view.currentIndex())
        box = view.viewport().findChild(QComboBox)
        shown = entries(box)
        QTest.keyClick(box.view(), Qt.Key.Key_Down)
        QTest.keyClick(box.view(), Qt.Key.Key_Return)
        bench.live(0.01)
        return shown

    view.set_compact(is_compact=True)
    assert choose_next() == ["Anna", *GREY]
    assert bench.lines[0].voice == "Anna"
    bench.session.model_selection.use_model(str(noise_models.V1))
    assert choose_next() == ["Anna", *SPEAKERS]
    assert bench.lines[0].voice == SPEAKERS[0]


def test_characters_are_cast_only_with_voices_of_the_model(bench: Bench, window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "scene.txt").write_text("Mira: Quiet tonight.\nTom: Too quiet.\nMira: Listen.\n")
    window.documents.open_files(tmp_path / "scene.txt")
    bench.until(lambda: any(page.isVisible() for page in window.findChildren(ImportPage)))
    next(page for page in window.findChildren(ImportPage) if page.isVisible()).accept()
    bench.until(lambda: bench.parts.casting.dialog is not None)
    boxes = bench.parts.casting.dialog.voice_boxes
    assert [box.currentText() for box in boxes] == ["Anna", "Anna"], "Tom is not suggested a speaker"
    assert entries(boxes[1]) == ["Keep as is", "Anna", *GREY]
    boxes[1].setFocus()
    QTest.keyClick(boxes[1], Qt.Key.Key_Down)
    assert boxes[1].currentText() == "Anna"
