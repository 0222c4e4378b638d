"""Undo commands: applying, reverting, and removal of a command that failed."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QUndoStack
from pytestqt.qtbot import QtBot

from studio.app.undo import UndoCommand
from studio.errors import CannotWrite, StudioError


class Recorded(UndoCommand):
    """Records its calls; raises the errors it is given."""

    def __init__(self, name: str, calls: list[str], errors: list[StudioError], *, is_applied: bool = False) -> None:
        super().__init__(name, errors.append, is_applied=is_applied)
        self.name = name
        self.calls = calls
        self.error: StudioError | None = None

    def apply(self) -> None:
        self._record("apply")

    def revert(self) -> None:
        self._record("revert")

    def _record(self, call: str) -> None:
        if self.error is not None:
            raise self.error
        self.calls.append(f"{call} {self.name}")


@pytest.fixture
def stack(qtbot: QtBot) -> QUndoStack:
    return QUndoStack()


def test_an_applied_command_is_not_applied_again_by_push(stack: QUndoStack) -> None:
    calls: list[str] = []
    stack.push(Recorded("a", calls, [], is_applied=True))
    stack.push(Recorded("b", calls, []))
    assert calls == ["apply b"]
    for _ in range(2):
        stack.undo()
    stack.redo()
    assert calls == ["apply b", "revert b", "revert a", "apply a"]


@pytest.mark.parametrize("step", ["undo", "redo"])
def test_a_failed_command_is_reported_and_removed(stack: QUndoStack, step: str) -> None:
    calls: list[str] = []
    errors: list[StudioError] = []
    first, second = (Recorded(name, calls, errors) for name in "ab")
    stack.push(first)
    stack.push(second)
    if step == "redo":
        stack.undo()
    calls.clear()
    error = second.error = CannotWrite("The disk is write-protected.", remedy="Use another folder.")
    getattr(stack, step)()
    assert (errors, calls) == ([error], [])
    assert (stack.count(), stack.index()) == (1, 1)
    stack.undo()
    assert calls == ["revert a"]


def test_a_command_that_fails_when_pushed_is_not_kept(stack: QUndoStack) -> None:
    errors: list[StudioError] = []
    command = Recorded("a", [], errors)
    command.error = CannotWrite("The disk is write-protected.", remedy="Use another folder.")
    stack.push(command)
    assert (len(errors), stack.count()) == (1, 0)
