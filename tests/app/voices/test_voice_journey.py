"""Voices in the whole window: dropped, assigned, prepared, renamed, deleted and restored."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench, clip_of_noise

from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.preload_queue import PreparationState
from studio.app.window import MainWindow

COPY, LEFT, PLAIN = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def drop_on(bench: Bench, window: MainWindow, *paths: Path) -> str:
    """Drag ``paths`` over the window and drop them; return the text shown meanwhile."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    overlay = bench.parts.drops.overlay
    for target in (window, overlay):
        QApplication.sendEvent(target, QDragEnterEvent(QPoint(50, 50), COPY, mime, LEFT, PLAIN))
    words = overlay.accessibleDescription()
    QApplication.sendEvent(overlay, QDropEvent(QPointF(50, 50), COPY, mime, LEFT, PLAIN))
    return words


def clip_editor_of(bench: Bench) -> ClipEditorDialog:
    window = bench.window
    assert window is not None
    bench.until(lambda: any(dialog._create.isEnabled() for dialog in window.findChildren(ClipEditorDialog)))
    return window.findChildren(ClipEditorDialog)[0]


def names(bench: Bench) -> list[str]:
    return [voice.name for voice in bench.library.voices()]


@pytest.mark.slow
def test_a_dropped_recording_becomes_the_voice_of_a_line(bench: Bench) -> None:
    window = bench.open_window()
    recording = clip_of_noise(bench.folder / "narrator.wav")
    assert drop_on(bench, window, recording) == "Drop to create a voice from narrator.wav"
    dialog = clip_editor_of(bench)
    dialog._form.transcript.setPlainText("What is said in it.")
    dialog.accept()
    bench.until(lambda: names(bench) == ["narrator"])
    bench.until(lambda: window.voices.preparation.of("narrator").state is PreparationState.READY)
    bench.until(lambda: bench.lines[0].voice == "narrator")
    window.script.view.setFocus()
    QTest.keyClicks(window.script.view, "o")
    field = window.script.view.text_field
    assert field is not None
    QTest.keyClicks(field, "ne two three")
    bench.trigger("speak.line")
    bench.until(lambda: bench.lines[0].chosen_take is not None and not bench.session.playback.player.is_playing)
    (take,) = bench.session.editor.project.takes_of(bench.lines[0].id)
    assert (take.parameters.voice_name, take.parameters.voice_sha256) == (
        "narrator",
        bench.library.get("narrator").sha256,
    )
    assert len(bench.card.heard)


def test_lines_follow_a_renamed_voice_and_one_undo_reverts_both(bench: Bench) -> None:
    bench.add_voice("Anna")
    window = bench.open_window()
    bench.until(lambda: bench.lines[0].voice == "Anna")
    steps = bench.session.editor.undo_stack.index()
    window.voices._list.rename(bench.library.get("Anna"), "Clara")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Clara", ["Clara"]))
    bench.trigger("edit.undo")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Anna", ["Anna"]))
    assert bench.session.editor.undo_stack.index() == steps
    bench.trigger("edit.redo")
    bench.until(lambda: (bench.lines[0].voice, names(bench)) == ("Clara", ["Clara"]))


def test_undo_restores_a_deleted_voice(bench: Bench) -> None:
    for name in ("Anna", "Bert"):
        bench.add_voice(name)
    window = bench.open_window()
    window.voices.select("Bert")
    window.voices._list.actions_by_name["delete"].trigger()
    bench.until(lambda: names(bench) == ["Anna"])
    bench.trigger("edit.undo")
    bench.until(lambda: names(bench) == ["Anna", "Bert"])
    bench.until(lambda: [voice.name for voice in window.voices.voices] == ["Anna", "Bert"])


def test_number_shortcuts_assign_voices(bench: Bench) -> None:
    for name in ("Anna", "Bert"):
        bench.add_voice(name)
    bench.open_window()
    for number, name in ((2, "Bert"), (1, "Anna")):
        bench.trigger(f"voices.assign_{number}")
        assert bench.lines[0].voice == name
