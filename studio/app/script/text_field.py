"""Where the text of a line is written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.app.script.style_list import StyleList
from studio.app.script.tag_completer import TagCompleter


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
        return super().event(event)

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
