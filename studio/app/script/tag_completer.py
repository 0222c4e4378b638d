"""Completion list of the model's inline tags after a slash: [laughter], [breath], <strong>…"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit

from studio.app.script.style_list import NamedTag, StyleList

_SHOWN_ROWS = 9


class TagCompleter:
    """Completer of one text field, which passes key events to it first."""

    def __init__(self, field: QPlainTextEdit, styles: StyleList) -> None:
        self._field = field
        self._styles = styles
        self._slash: int | None = None
        # A child of the window and not a popup, so that the field keeps the focus and the input method.
        self._list = QListWidget(field.window())
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setAccessibleName(QCoreApplication.translate("TagCompleter", "Tags"))
        self._list.itemClicked.connect(lambda _: self._take())
        self._list.hide()
        field.destroyed.connect(self._list.deleteLater)

    @property
    def is_open(self) -> bool:
        return self._list.isVisible()

    def close(self) -> None:
        self._slash = None
        self._list.hide()

    def takes_key(self, event: QKeyEvent) -> bool:
        """Handle a key of the list; return whether it was one."""
        if not self.is_open:
            return False
        match event.key():
            case Qt.Key.Key_Escape:
                self.close()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Tab:
                self._take()
            case Qt.Key.Key_Up:
                self._list.setCurrentRow(max(0, self._list.currentRow() - 1))
            case Qt.Key.Key_Down:
                self._list.setCurrentRow(min(self._list.count() - 1, self._list.currentRow() + 1))
            case _:
                return False
        return True

    def typed(self) -> None:
        """Update after a change of the text: a slash at the start of a word opens the list, a space closes it."""
        cursor = self._field.textCursor()
        position, text = cursor.position(), self._field.toPlainText()
        if self._slash is None and text[position - 1 : position] == "/":
            before = text[position - 2 : position - 1] if position > 1 else " "
            if not before.isalnum() and before not in "/:":
                self._slash = position - 1
        if self._slash is None:
            return
        if position <= self._slash or text[self._slash : self._slash + 1] != "/":
            self.close()
            return
        self._offer(text[self._slash + 1 : position])

    def _offer(self, typed: str) -> None:
        wanted = typed.casefold()
        found = [tag for tag in self._styles.tags if wanted in tag.text.casefold() or wanted in tag.name.casefold()]
        if not found or " " in typed:
            self.close()
            return
        self._list.clear()
        for tag in found:
            name = tag.name
            if tag.is_experimental:
                name += " " + QCoreApplication.translate("TagCompleter", "(experimental)")
            item = QListWidgetItem(f"{tag.text}   {name}")
            item.setData(Qt.ItemDataRole.UserRole, tag)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        height = self._list.sizeHintForRow(0) * min(len(found), _SHOWN_ROWS) + 2 * self._list.frameWidth()
        self._list.resize(self._list.sizeHintForColumn(0) + 32, height)
        below = self._field.cursorRect().bottomLeft() + QPoint(0, 4)
        window = self._field.window()
        place = self._field.viewport().mapTo(window, below)
        if place.y() + height > window.height():
            place = self._field.viewport().mapTo(window, self._field.cursorRect().topLeft() - QPoint(0, height + 4))
        self._list.move(min(place.x(), max(0, window.width() - self._list.width())), place.y())
        self._list.show()
        self._list.raise_()

    def _take(self) -> None:
        item = self._list.currentItem()
        if item is None or self._slash is None:
            self.close()
            return
        tag: NamedTag = item.data(Qt.ItemDataRole.UserRole)
        cursor = self._field.textCursor()
        end = cursor.position()
        cursor.setPosition(self._slash)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        self.close()
        cursor.insertText(tag.text)
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.MoveAnchor, tag.cursor_back)
        self._field.setTextCursor(cursor)
