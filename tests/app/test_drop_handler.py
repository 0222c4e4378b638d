"""Recordings dropped on a line: a voice for the line, or with Ctrl a conversion to its voice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from window_bench import Bench, clip_of_noise

from studio.app.script.line_model import Column
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.window import MainWindow
from studio.pipeline.request import Mode

COPY, LEFT = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(bench: Bench) -> Iterator[MainWindow]:
    bench.add_voice("Anna")
    window = bench.open_window()
    window.resize(1200, 800)
    window.script.paste_text("The first line.\n\nThe second line.\n\nThe third line.")
    bench.live(0.1)
    yield window
    for dialog in window.findChildren(ClipEditorDialog):
        dialog.reject()


@pytest.fixture
def clip(bench: Bench) -> Path:
    return clip_of_noise(bench.folder / "Bert.wav")


def place_of(window: MainWindow, row: int) -> QPoint:
    view = window.script.view
    return view.viewport().mapTo(window, view.visualRect(window.script._model.index(row, Column.TEXT)).center())


def held(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def hold(bench: Bench, window: MainWindow, mime: QMimeData, place: QPoint, keys: Qt.KeyboardModifier = PLAIN) -> str:
    """Return the text of the overlay while the file is dragged there."""
    overlay = bench.parts.drops.overlay
    for target in [window, overlay] if overlay.isHidden() else []:
        enter = QDragEnterEvent(place, COPY, mime, LEFT, keys)
        enter.ignore()
        QApplication.sendEvent(target, enter)
        assert enter.isAccepted()
    QApplication.sendEvent(overlay, QDragMoveEvent(place, COPY, mime, LEFT, keys))
    return overlay.accessibleDescription()


def drop(bench: Bench, window: MainWindow, mime: QMimeData, row: int, keys: Qt.KeyboardModifier = PLAIN) -> None:
    place = place_of(window, row)
    hold(bench, window, mime, place, keys)
    QApplication.sendEvent(bench.parts.drops.overlay, QDropEvent(QPointF(place), COPY, mime, LEFT, keys))
    bench.live(0.05)


def make_the_voice(bench: Bench, window: MainWindow) -> None:
    bench.until(lambda: window.findChildren(ClipEditorDialog))
    (dialog,) = window.findChildren(ClipEditorDialog)
    bench.loop.call_soon(dialog.accept)
    bench.until(lambda: any(voice.name == "Bert" for voice in window.voices.voices))
    bench.live(0.05)


def voices(bench: Bench) -> list[str | None]:
    return [line.voice for line in bench.lines]


@pytest.mark.slow
def test_the_drop_prompt_depends_on_place_and_key(bench: Bench, window: MainWindow, clip: Path) -> None:
    one, two = held(clip), held(clip, bench.folder / "Anna.wav")
    assert "a voice from Bert.wav for line 2" in hold(bench, window, one, place_of(window, 1))
    assert "for line 3" in hold(bench, window, one, place_of(window, 2))
    assert "With Ctrl" in hold(bench, window, one, place_of(window, 2))
    assert hold(bench, window, one, place_of(window, 1), CONTROL) == ("Drop to convert Bert.wav to the voice Anna")
    beside = window.voices.mapTo(window, window.voices.rect().center())
    assert hold(bench, window, one, beside, CONTROL) == "Drop to create a voice from Bert.wav"
    QApplication.sendEvent(bench.parts.drops.overlay, QDragLeaveEvent())
    assert hold(bench, window, two, place_of(window, 0)).startswith("Drop to create one voice per file")
    assert "convert these files" in hold(bench, window, two, place_of(window, 0), CONTROL)


def test_a_line_without_a_voice_is_reported(bench: Bench, clip: Path) -> None:
    window = bench.open_window()
    window.resize(1200, 800)
    window.script.paste_text("The first line.\n\nThe second line.")
    bench.live(0.05)
    assert "no voice" in hold(bench, window, held(clip), place_of(window, 0), CONTROL)
    assert "Ctrl" not in hold(bench, window, held(clip), place_of(window, 0))


@pytest.mark.slow
def test_a_dropped_recording_becomes_the_voice_of_that_line_and_undo_reverts_it(
    bench: Bench, window: MainWindow, clip: Path
) -> None:
    drop(bench, window, held(clip), 1)
    make_the_voice(bench, window)
    bench.until(lambda: voices(bench) == ["Anna", "Bert", "Anna"])
    num_steps = bench.session.editor.undo_stack.index()
    bench.trigger("edit.undo")
    assert bench.session.editor.undo_stack.index() == num_steps - 1
    bench.until(lambda: [voice.name for voice in window.voices.voices] == ["Anna"])
    assert voices(bench) == ["Anna", "Anna", "Anna"]
    bench.trigger("edit.redo")
    bench.until(lambda: voices(bench) == ["Anna", "Bert", "Anna"])


@pytest.mark.slow
def test_the_current_line_gets_a_voice_from_a_file(bench: Bench, window: MainWindow, clip: Path) -> None:
    """The new voice was made, and the line kept its own."""
    window.script.view.go_to(bench.lines[1].id)
    window.voices.voice_importer.import_paths([clip])
    window.script.view.go_to(bench.lines[2].id)
    make_the_voice(bench, window)
    bench.until(lambda: voices(bench) == ["Anna", "Bert", "Anna"])
    assert window.actions_by_id["edit.undo"].text() == "Undo New voice Bert, used for the line"
    bench.trigger("edit.undo")
    bench.until(lambda: [voice.name for voice in window.voices.voices] == ["Anna"])
    assert voices(bench) == ["Anna", "Anna", "Anna"]


@pytest.mark.slow
def test_a_locked_line_keeps_its_voice(bench: Bench, window: MainWindow, clip: Path) -> None:
    window.script.view.go_to(bench.lines[1].id)
    bench.trigger("edit.lock")
    assert "line 2" not in hold(bench, window, held(clip), place_of(window, 1))
    drop(bench, window, held(clip), 1)
    make_the_voice(bench, window)
    assert voices(bench) == ["Anna", "Anna", "Anna"]


def test_ctrl_converts_the_recording_below_the_line_and_undo_reverts_it(
    bench: Bench, window: MainWindow, clip: Path
) -> None:
    drop(bench, window, held(clip), 1, CONTROL)
    bench.until(lambda: len(bench.lines) == 4 and bench.lines[2].chosen_take)
    assert bench.texts[1:3] == ["The second line.", "Bert"]
    (take,) = bench.session.editor.project.takes_of(bench.lines[2].id)
    assert (take.parameters.mode, bench.lines[2].voice) == (Mode.CONVERSION.value, "Anna")
    assert not window.findChildren(ClipEditorDialog)
    bench.until(lambda: bench.session.queue.current is None)
    bench.trigger("edit.undo")
    assert bench.texts == ["The first line.", "The second line.", "The third line."]


def test_several_recordings_become_lines_in_their_order(bench: Bench, window: MainWindow, clip: Path) -> None:
    bench.session.queue.set_paused(True)
    drop(bench, window, held(clip, bench.folder / "Anna.wav"), 0, CONTROL)
    assert bench.texts == ["The first line.", "Bert", "Anna", "The second line.", "The third line."]
    assert len(bench.session.queue.waiting) == 2
