"""Undo and redo actions, named after the step they affect."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoStack


class UndoActions(QObject):
    status_message = Signal(str)  # what was undone or redone

    def __init__(self, stack: QUndoStack, undo: QAction, redo: QAction, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack = stack
        self._undo = undo
        self._redo = redo
        undo.triggered.connect(self._on_undo)
        redo.triggered.connect(self._on_redo)
        for changed in (stack.canUndoChanged, stack.canRedoChanged, stack.indexChanged):
            changed.connect(self._show)
        self._show()

    def _on_undo(self) -> None:
        if self._stack.canUndo():
            words = self._undo.text()
            self._stack.undo()
            self.status_message.emit(words)

    def _on_redo(self) -> None:
        if self._stack.canRedo():
            words = self._redo.text()
            self._stack.redo()
            self.status_message.emit(words)

    def _show(self) -> None:
        self._undo.setEnabled(self._stack.canUndo())
        self._redo.setEnabled(self._stack.canRedo())
        self._undo.setText(self.tr("Undo {step}").format(step=self._stack.undoText()).strip())
        self._redo.setText(self.tr("Redo {step}").format(step=self._stack.redoText()).strip())
