"""Where the text of a line is written."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.app.script.style_list import StyleList
from studio.app.script.tag_completer import TagCompleter

_REDO_KEYS = (
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_Y),
    QKeyCombination(Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_Z),
)


class TextField(QPlainTextEdit):
    """Enter is done with the line; a slash offers tags; a pasted text of several lines becomes several lines."""

    line_finished = Signal()
    texts_pasted = Signal(str)

    def __init__(self, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Text of the line"))
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._completer = TagCompleter(self, styles)
        self.textChanged.connect(self._completer.typed)

    @property
    def is_completing(self) -> bool:
        return self._completer.is_open

    def event(self, event: QEvent) -> bool:
        # While tags are offered, Esc and Enter mean the list and no shortcut.
        if event.type() == QEvent.Type.ShortcutOverride and self._completer.is_open:
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and (step := self._step_of(event)) and event.type() != QEvent.Type.KeyRelease:
            return self._undo_or_redo(event, step)
        return super().event(event)

    def _step_of(self, event: QKeyEvent) -> Callable[[], None] | None:
        if event.matches(QKeySequence.StandardKey.Undo):
            return self.undo
        # Qt knows one of the two, another on each system.
        is_redo = event.matches(QKeySequence.StandardKey.Redo) or event.keyCombination() in _REDO_KEYS
        return self.redo if is_redo else None

    def _undo_or_redo(self, event: QKeyEvent, step: Callable[[], None]) -> bool:
        """What was written here since the line was taken over; beyond that, the steps are those of the script."""
        document = self.document()
        if not (document.isUndoAvailable() if step == self.undo else document.isRedoAvailable()):
            event.ignore()
            return False
        if event.type() == QEvent.Type.KeyPress:
            step()
        event.accept()
        return True

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, N802 - Qt's names
        """Tab takes the offered tag; Qt would go on to the next control before it told us of the key."""
        return not self._completer.is_open and super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if self._completer.takes_key(event):
            event.accept()
            return
        is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if is_plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.line_finished.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._completer.close()
        super().focusOutEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        text = source.text()
        if "\n" in text.strip():
            self.texts_pasted.emit(text)
        else:
            self.textCursor().insertText(text.strip("\n"))
