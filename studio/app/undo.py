"""Base class of the commands on the window's undo stack."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand, QUndoStack

from studio.errors import StudioError


class UndoCommand(QUndoCommand):
    """A change that can be applied and reverted.

    A command whose ``apply`` or ``revert`` raises a ``StudioError`` passes it to ``failed`` and is removed from the
    stack.
    """

    def __init__(self, text: str, failed: Callable[[StudioError], object], *, is_applied: bool = False) -> None:
        """``is_applied``: the change has already been made, so pushing the command does not apply it."""
        super().__init__(text)
        self._failed = failed
        self._skips_redo = is_applied

    def apply(self) -> None:
        raise NotImplementedError

    def revert(self) -> None:
        raise NotImplementedError

    def redo(self) -> None:
        if self._skips_redo:  # ``QUndoStack.push`` calls redo()
            self._skips_redo = False
        else:
            self._attempt(self.apply)

    def undo(self) -> None:
        self._attempt(self.revert)

    def _attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except StudioError as error:
            self.setObsolete(True)
            self._failed(error)

    def discard(self, stack: QUndoStack) -> None:
        """Mark as obsolete; remove from ``stack`` if it is the next command to undo or redo.

        The stack deletes an obsolete command when it reaches it, without undoing or redoing it.
        """
        self.setObsolete(True)
        index = stack.index()
        if index > 0 and stack.command(index - 1) is self:
            stack.undo()
        elif index < stack.count() and stack.command(index) is self:
            stack.redo()
