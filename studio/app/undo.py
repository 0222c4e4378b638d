"""Undo: the base class of undoable commands, and the undo and redo actions of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoCommand, QUndoStack

from studio.errors import StudioError


class UndoCommand(QUndoCommand):
    """A change that can be applied and reverted.

    A command whose ``apply`` or ``revert`` raises a ``StudioError`` passes it to ``failed`` and is removed from the
    stack.
    """

    def __init__(self, text: str, failed: Callable[[StudioError], object], *, is_applied: bool = False) -> None:
        """If ``is_applied``, the change is already in effect, so pushing the command does not apply it."""
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
        """Mark the command as obsolete; remove it from ``stack`` if it is the next to undo or redo.

        The stack deletes an obsolete command when it reaches it, without undoing or redoing it.
        """
        self.setObsolete(True)
        index = stack.index()
        if index > 0 and stack.command(index - 1) is self:
            stack.undo()
        elif index < stack.count() and stack.command(index) is self:
            stack.redo()


class UndoActions(QObject):
    """Connects the undo and redo actions with the stack, and names them after the step they affect."""

    status_message = Signal(str)  # names the step that was undone or redone

    def __init__(self, stack: QUndoStack, undo: QAction, redo: QAction, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack = stack
        self._undo = undo
        self._redo = redo
        undo.triggered.connect(lambda: self._step(undo, stack.undo))
        redo.triggered.connect(lambda: self._step(redo, stack.redo))
        for changed in (stack.canUndoChanged, stack.canRedoChanged, stack.indexChanged):
            changed.connect(self._show)
        self._show()

    def _step(self, action: QAction, step: Callable[[], None]) -> None:
        if action.isEnabled():  # committing text being typed may have cleared the redo steps
            words = action.text()
            step()
            self.status_message.emit(words)

    def _show(self) -> None:
        self._undo.setEnabled(self._stack.canUndo())
        self._redo.setEnabled(self._stack.canRedo())
        self._undo.setText(self.tr("Undo {step}").format(step=self._stack.undoText()).strip())
        self._redo.setText(self.tr("Redo {step}").format(step=self._stack.redoText()).strip())
