"""From a recording to exported files, as a first-time user would do it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from window_bench import Bench, clip_of_noise

from studio.app.export_dialog.dialog import ExportDialog
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.project.lines import LineStyle
from studio.provenance.mark import Marker
from studio.settings import EXPORT_FOLDER


def drop(bench: Bench, path: Path) -> None:
    """A file is held over the window, and let go."""
    window = bench.window
    assert window is not None
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    middle, copy = QPointF(window.rect().center()), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(middle.toPoint(), copy, files, buttons, keys))
    overlay = bench.parts.drops.overlay
    assert overlay.isVisible()
    # It lies over the window now, so that is where the pointer is.
    QApplication.sendEvent(overlay, QDragEnterEvent(middle.toPoint(), copy, files, buttons, keys))
    QApplication.sendEvent(overlay, QDropEvent(middle, copy, files, buttons, keys))


@pytest.mark.slow
def test_from_a_dropped_clip_to_an_exported_file(bench: Bench, tmp_path: Path) -> None:
    window = bench.open_window()

    # Drops a recording, looks at what the doctor says, and makes a voice of it.
    drop(bench, clip_of_noise(tmp_path / "grandmother.wav"))
    doctor = bench.dialog(ClipEditorDialog)
    bench.loop.call_soon(next(b for b in doctor.findChildren(QPushButton) if b.isDefault()).click)
    bench.until(lambda: "grandmother" in [voice.name for voice in bench.library.voices()])
    bench.until(lambda: bench.lines[0].voice == "grandmother")

    # Writes a line and hears it.
    window.script.view.setFocus()
    QTest.keyClicks(window.script.view, "T")
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, "he harbour was quiet.")
    bench.trigger("speak.line")
    bench.until(lambda: bench.lines[0].chosen_take is not None)
    bench.until(lambda: not bench.session.playback.player.is_playing)
    first = bench.lines[0].chosen_take
    assert first is not None
    np.testing.assert_array_equal(bench.card.heard, bench.session.editor.project.samples_of(first))

    # Another style, another take; likes the first better after all, and keeps it.
    style = window.inspector.form._style
    style.setCurrentIndex(style.findData("emotion.happy"))
    style.activated.emit(style.currentIndex())
    assert bench.lines[0].style == LineStyle(preset="emotion.happy")
    bench.trigger("speak.line")
    bench.until(lambda: len(bench.session.editor.project.takes_of(bench.lines[0].id)) == 2)
    bench.until(lambda: not bench.session.playback.player.is_playing and bench.session.queue.current is None)
    bench.trigger("edit.undo")
    assert bench.lines[0].style.is_plain
    bench.trigger("play.previous_take")
    bench.trigger("play.keep")
    chosen = bench.session.editor.project.chosen_take(bench.lines[0].id)
    assert chosen is not None
    assert chosen.id == first
    assert chosen.is_kept

    # Exports the script.
    out = tmp_path / "out"
    bench.settings[EXPORT_FOLDER] = str(out)
    bench.trigger("file.export")
    dialog = bench.dialog(ExportDialog)
    bench.until(dialog.export_button.isEnabled)
    bench.loop.call_soon(dialog.export_button.click)
    bench.until(lambda: list(out.rglob("*.wav")))
    (file,) = out.rglob("*.wav")
    exported, rate = soundfile.read(file, dtype="float32")
    assert rate == 24_000
    marked = Marker(rate)(bench.session.editor.project.samples_of(first))
    np.testing.assert_allclose(exported, marked, atol=1.1 / 32_768)
