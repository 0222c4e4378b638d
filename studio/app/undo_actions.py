"""Undo and redo as actions that say what they would take back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QUndoStack

from studio.app.translation import language

if TYPE_CHECKING:
    from studio.app.retranslation import TextSources


class UndoActions(QObject):
    status_message = Signal(str)  # what was undone or done again, for the status bar

    def __init__(self, stack: QUndoStack, undo: QAction, redo: QAction, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack = stack
        self._undo = undo
        self._redo = redo
        undo.triggered.connect(self._on_undo)
        redo.triggered.connect(self._on_redo)
        for changed in (stack.canUndoChanged, stack.canRedoChanged, stack.indexChanged):
            changed.connect(self._show)
        language.changed.connect(self._retranslate)
        self._show()

    def _on_undo(self) -> None:
        if self._stack.canUndo():
            words = self.tr("Undone: {step}").format(step=self._stack.undoText())
            self._stack.undo()
            self.status_message.emit(words)

    def _on_redo(self) -> None:
        if self._stack.canRedo():
            words = self.tr("Done again: {step}").format(step=self._stack.redoText())
            self._stack.redo()
            self.status_message.emit(words)

    def _retranslate(self, texts: TextSources) -> None:
        """Steps are named when they are done, and taken back in another language."""
        for number in range(self._stack.count()):
            step = self._stack.command(number)
            step.setText(texts.retranslated(step.text(), ()))
        self._show()

    def _show(self) -> None:
        self._undo.setEnabled(self._stack.canUndo())
        self._redo.setEnabled(self._stack.canRedo())
        self._undo.setText(self.tr("Undo {step}").format(step=self._stack.undoText()).strip())
        self._redo.setText(self.tr("Redo {step}").format(step=self._stack.redoText()).strip())
