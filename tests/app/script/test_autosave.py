"""Autosave of typed text while the field is open, as one undo step for each run of typing."""

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
    """Return what recovery finds after a crash: a copy of the draft's files as they are on disk."""
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


@pytest.mark.slow
def test_typed_text_survives_a_crash_while_the_field_is_open(bench: Bench, window: MainWindow, tmp_path: Path) -> None:
    field = write_on(window)
    type_and_wait(bench, field, "An unfinished sentence")
    assert window.script.view.text_field is field
    assert texts_after_a_crash(bench, tmp_path / "crashed") == ["An unfinished sentence"]
    assert window.isWindowModified()


def test_continuous_typing_does_not_postpone_the_autosave(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "a")
    timer = field._autosave
    assert timer.isActive()
    remaining = timer.remainingTime()
    QTest.qWait(20)
    QTest.keyClicks(field, "b")
    assert timer.remainingTime() < remaining


@pytest.mark.slow
def test_continuous_typing_is_one_undo_step(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    steps = bench.session.editor.undo_stack.count()
    field = write_on(window)
    for words in (" One.", " Two.", " Three."):
        type_and_wait(bench, field, words)
    assert bench.session.editor.undo_stack.count() == steps + 1
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert bench.session.editor.undo_stack.count() - steps == 2, "one for the text, one for the new line"
    bench.trigger("edit.undo")
    bench.trigger("edit.undo")
    assert bench.texts == ["Before."]
    bench.trigger("edit.redo")
    assert bench.texts == ["Before. One. Two. Three."]


@pytest.mark.slow
def test_undo_in_the_field_works_after_an_autosave(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    steps = bench.session.editor.undo_stack.count()
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    QTest.keyClick(field, Qt.Key.Key_Z, CONTROL)
    assert field.toPlainText() == "Before."
    bench.until(lambda: bench.texts == ["Before."])
    assert bench.session.editor.undo_stack.count() == steps, "a step without effect is dropped"
    QTest.keyClick(field, Qt.Key.Key_Y, CONTROL)
    assert field.toPlainText() == "Before. More."
    bench.until(lambda: bench.texts == ["Before. More."])


@pytest.mark.slow
def test_undo_from_the_menu_reverts_autosaved_typing(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    bench.trigger("edit.undo")
    assert (bench.texts, field.toPlainText()) == (["Before."], "Before.")
    type_and_wait(bench, field, " Else.")
    bench.trigger("edit.undo")
    assert bench.texts == ["Before."]


@pytest.mark.slow
def test_escape_reverts_autosaved_text_and_redo_restores_it(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    QTest.keyClicks(field, " Not yet saved.")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    bench.live(2 * AUTOSAVE_MILLISECONDS / 1000)
    assert bench.texts == ["Before."]
    bench.trigger("edit.redo")
    assert bench.texts == ["Before. More."]


@pytest.mark.slow
def test_escape_reverts_only_typed_text(bench: Bench, window: MainWindow) -> None:
    window.script.set_field("text", "Before.", "Edit")
    field = write_on(window)
    type_and_wait(bench, field, " More.")
    window.script.set_field("speed", 1.5, "Change speed")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (bench.lines[0].text, bench.lines[0].speed) == ("Before.", 1.5)


@pytest.mark.slow
def test_autosave_keeps_cursor_and_selection(bench: Bench, window: MainWindow) -> None:
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


@pytest.mark.slow
def test_autosave_keeps_a_composition(bench: Bench, window: MainWindow) -> None:
    field = write_on(window)
    QTest.keyClicks(field, "Say ")
    QApplication.sendEvent(field, QInputMethodEvent("ni", []))
    bench.until(lambda: bench.texts == ["Say "])
    assert field.textCursor().block().layout().preeditAreaText() == "ni"
    done = QInputMethodEvent("", [])
    done.setCommitString("你")
    QApplication.sendEvent(field, done)
    bench.until(lambda: bench.texts == ["Say 你"])


@pytest.mark.slow
def test_a_failed_autosave_is_retried(bench: Bench, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
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
