"""Typed text reaches the draft while the field is still open, as one undo step for each stretch of typing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from window_bench import Bench, write_on

from studio.app.script.text_field import AUTOSAVE_MILLISECONDS, TextField
from studio.app.window import MainWindow
from studio.errors import DiskFull, StudioError
from studio.project.changes import Change
from studio.project.project import Project

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(bench: Bench) -> MainWindow:
    window = bench.open_window()
    bench.live(0.05)
    return window


def texts_after_a_crash(bench: Bench, folder: Path) -> list[str]:
    """What recovery finds if the program dies now: the files of the draft as they are on the disk."""
    draft = bench.session.editor.project.draft_path
    folder.mkdir()
    for part in draft.parent.glob(f"{draft.name}*"):
        if not part.name.endswith(".lock"):
            shutil.copy(part, folder)
    with Project.recover(folder / draft.name) as recovered:
        return [line.text for line in recovered.lines]


def type_and_wait(bench: Bench, field: TextField, text: str) -> None:
    QTest.keyClicks(field, text)
    expected = field.toPlainText()
    bench.until(lambda: expected in bench.texts)


def test_autosave_is_due_within_half_a_second() -> None:
    assert AUTOSAVE_MILLISECONDS <= 500


def test_typed_text_survives_a_crash_while_the_field_is_open(bench: Bench, window: MainWindow, tmp_path: Path) -> None:
    field = write_on(window)
    type_and_wait(bench, field, "A sentence nobody has finished")
    assert window.script.view.writing_field is field
    assert texts_after_a_crash(bench, tmp_path / "crashed") == ["A sentence nobody has finished"]
    assert window.isWindowModified()


def test_continuous_typing_does_not_put_the_autosave_off(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "a")
    timer = field._autosave
    assert timer.isActive()
    remaining = timer.remainingTime()
    QTest.qWait(20)
    QTest.keyClicks(field, "b")
    assert timer.remainingTime() < remaining


def test_a_stretch_of_typing_is_one_undo_step(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "As it was.", "Edit")
    steps = bench.session.editor.undo_stack.count()
    field = write_on(window)
    for words in (" One.", " Two.", " Three."):
        type_and_wait(bench, field, words)
    assert bench.session.editor.undo_stack.count() == steps + 1
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bench.session.editor.undo_stack.count() - steps == 2, "the text, and the new line after it"
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert bench.texts == ["As it was."]
    bench.trigger("edit.redo")
    assert bench.texts == ["As it was. One. Two. Three."]


def test_undo_in_the_field_goes_on_behind_an_autosave(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "As it was.", "Edit")
    steps = bench.session.editor.undo_stack.count()
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    QTest.keyClick(field, Qt.Key.Key_Z, CONTROL)
    assert field.toPlainText() == "As it was."
    bench.until(lambda: bench.texts == ["As it was."])
    assert bench.session.editor.undo_stack.count() == steps, "no step is left that changes nothing"
    QTest.keyClick(field, Qt.Key.Key_Y, CONTROL)
    assert field.toPlainText() == "As it was. More."
    bench.until(lambda: bench.texts == ["As it was. More."])


def test_undo_from_the_menu_takes_back_an_autosaved_stretch(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "As it was.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    bench.trigger("edit.undo")
    assert (bench.texts, field.toPlainText()) == (["As it was."], "As it was.")
    type_and_wait(bench, field, " Else.")
    bench.trigger("edit.undo")
    assert bench.texts == ["As it was."]


def test_escape_takes_back_autosaved_text_and_redo_brings_it_again(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "As it was.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    QTest.keyClicks(field, " Not yet saved.")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    bench.live(2 * AUTOSAVE_MILLISECONDS / 1000)
    assert bench.texts == ["As it was."]
    bench.trigger("edit.redo")
    assert bench.texts == ["As it was. More."]


def test_escape_takes_back_only_what_was_typed(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "As it was.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    window.script.set_field("speed", 1.5, "Change speed")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (bench.lines[0].text, bench.lines[0].speed) == ("As it was.", 1.5)


def test_autosave_disturbs_neither_cursor_nor_selection(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "One three", "Edit")
    field = write_on(window)
    cursor = field.textCursor()
    cursor.setPosition(4)
    field.setTextCursor(cursor)
    QTest.keyClicks(field, "two ")
    cursor = field.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    bench.until(lambda: bench.texts == ["One two three"])
    assert field.hasFocus()
    assert field.textCursor().selectedText() == "three"


def test_autosave_leaves_a_composition_alone(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "Say ")
    QApplication.sendEvent(field, QInputMethodEvent("ni", []))
    bench.until(lambda: bench.texts == ["Say "])
    assert field.textCursor().block().layout().preeditAreaText() == "ni"
    done = QInputMethodEvent("", [])
    done.setCommitString("你")
    QApplication.sendEvent(field, done)
    bench.until(lambda: bench.texts == ["Say 你"])


def test_text_that_cannot_be_saved_is_kept_and_tried_again(
    bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = bench.session.editor.project
    real: Callable[[Change], Change] = project.apply
    errors: list[StudioError] = []
    bench.session.editor.failed.connect(errors.append)

    def fail(change: Change) -> Change:
        raise DiskFull("The disk is full.", remedy="Make room.")

    field = write_on(window)
    monkeypatch.setattr(project, "apply", fail)
    QTest.keyClicks(field, "Written on a full")
    bench.until(lambda: errors)
    monkeypatch.setattr(project, "apply", real)
    type_and_wait(bench, field, " disk")
    assert bench.texts == ["Written on a full disk"]
    assert len(errors) == 1
