"""Editor of a line's text in the script."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QKeyCombination,
    QMimeData,
    QPoint,
    QRect,
    QRectF,
    QSizeF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextDocumentLayout, QPlainTextEdit, QWidget

from studio.app.script.style_list import NamedTag, StyleList
from studio.app.script.text_painting import spread_lines
from studio.project.lines import new_id

_REDO_KEYS = (
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_Y),
    QKeyCombination(Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_Z),
)
_SHIFT_DELETE = QKeyCombination(Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_Delete)
PLAIN_KEYS = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_ALT_GR_OF_WINDOWS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_MIN_LINES = 4
# Counted from the first unsaved character: more typing does not postpone the autosave.
AUTOSAVE_MILLISECONDS = 300


class TextField(QPlainTextEdit):
    """Enter finishes the line, a slash opens the tag list, and pasted text with line breaks becomes several lines.

    The field grows with its text, up to the height of the table. ``autosave_due`` is emitted after typing; for
    composed text, after the input method commits it.
    """

    line_finished = Signal()
    texts_pasted = Signal(str)
    autosave_due = Signal()
    cancelled = Signal()  # emitted on Esc

    def __init__(self, styles: StyleList, parent: QWidget | None = None, *, pitch: float | None = None) -> None:
        """``pitch`` is the line height of a field without a frame; by default the field has a frame."""
        super().__init__(parent)
        self._min_lines = _MIN_LINES
        if pitch is not None:
            self._min_lines = 1
            self.document().setDocumentMargin(0)
            self.document().setDocumentLayout(_SpreadLayout(self.document(), pitch))
            self.setStyleSheet("QPlainTextEdit { border: 0; padding: 0; background: palette(highlight); }")
        self.setAccessibleName(self.tr("Line text"))
        self.setTabChangesFocus(True)
        self._completer = TagCompleter(self, styles)
        self._cell = QRect()
        self._autosave = QTimer(self, singleShot=True, interval=AUTOSAVE_MILLISECONDS)
        self._autosave.timeout.connect(self.autosave_due)
        self.merge_key = ""  # id of the current stretch of typing
        self.text_before = ""  # text before that stretch
        self.textChanged.connect(self._on_text_changed)
        self.textChanged.connect(self._completer.typed)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())

    @property
    def is_completing(self) -> bool:
        return self._completer.is_open

    def begin_undo_step(self, text: str) -> None:
        """Start a new undo step for typing; Esc restores ``text``."""
        self.merge_key, self.text_before = new_id(), text

    def mark_saved(self) -> None:
        """Mark the text as saved or discarded."""
        self._autosave.stop()
        self.document().setModified(False)

    def _on_text_changed(self) -> None:
        if self.document().isModified() and not self._autosave.isActive():
            self._autosave.start()

    def fit(self, cell: QRect) -> None:
        """Place the field over ``cell`` of its parent."""
        self._cell = QRect(cell)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Fit the height after the text has been wrapped to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        table = self.parentWidget()
        if table is None or self._cell.isEmpty():
            return
        around = 2 * (self.document().documentMargin() + self.frameWidth() + 1)
        text = sum(self.blockBoundingRect(block).height() for block in _blocks(self.document()))
        wanted = max(self._min_lines * self.fontMetrics().lineSpacing(), math.ceil(text + around))
        # Set explicitly: with Qt's own policy, a visible bar narrows the text, which then needs the bar.
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if wanted > table.height() else policy.ScrollBarAlwaysOff
        )
        place = QRect(self._cell)
        place.setHeight(max(place.height(), min(wanted, table.height())))
        if place.bottom() > table.height():
            place.moveBottom(table.height())
        self.setGeometry(place)

    def event(self, event: QEvent) -> bool:
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.keyCombination() == _SHIFT_DELETE:
            if self.textCursor().hasSelection():
                return super().event(event)
            event.ignore()  # with nothing to cut, the key removes the line
            return False
        # While the tag list is open, Esc and Enter belong to it and do not trigger shortcuts.
        if event.type() == QEvent.Type.ShortcutOverride and self._completer.is_open:
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and (step := self._step_of(event)) and event.type() != QEvent.Type.KeyRelease:
            return self._undo_or_redo(event, step)
        return super().event(event)

    def _step_of(self, event: QKeyEvent) -> Callable[[], None] | None:
        if event.matches(QKeySequence.StandardKey.Undo):
            return self.undo
        # Each platform defines only one of the two.
        is_redo = event.matches(QKeySequence.StandardKey.Redo) or event.keyCombination() in _REDO_KEYS
        return self.redo if is_redo else None

    def _undo_or_redo(self, event: QKeyEvent, step: Callable[[], None]) -> bool:
        """Undo or redo within the field; beyond that, let the undo stack of the script handle the key."""
        document = self.document()
        if not (document.isUndoAvailable() if step == self.undo else document.isRedoAvailable()):
            event.ignore()
            return False
        if event.type() == QEvent.Type.KeyPress:
            step()
        event.accept()
        return True

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, N802 - Qt's names
        """Tab accepts the selected tag. Qt would move the focus before sending the key event."""
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


class _SpreadLayout(QPlainTextDocumentLayout):
    """Document layout with lines at least ``pitch`` high."""

    def __init__(self, document: QTextDocument, pitch: float) -> None:
        super().__init__(document)
        self._pitch = pitch

    def documentSize(self) -> QSizeF:  # noqa: N802
        """Return width 0, because the text is wrapped, and the height in lines."""
        return QSizeF(0, super().documentSize().height())

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:  # noqa: N802
        rect = super().blockBoundingRect(block)  # lays out the block if necessary
        if block.isValid() and block.isVisible():
            rect.setHeight(spread_lines(block.layout(), self._pitch))
        return rect


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def types_letter(event: QKeyEvent) -> bool:
    """Return whether the key types a character, even with AltGr or the Option key of a Mac."""
    held = event.modifiers() & ~(PLAIN_KEYS | Qt.KeyboardModifier.GroupSwitchModifier)
    is_option = sys.platform == "darwin" and held == Qt.KeyboardModifier.AltModifier
    types = is_option or held in (Qt.KeyboardModifier.NoModifier, _ALT_GR_OF_WINDOWS)
    return types and bool(event.text()) and event.text().isprintable()


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
        """Handle ``event`` if the open list uses its key; return whether it was handled."""
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
