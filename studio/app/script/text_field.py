"""Where the text of a line is written."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QResizeEvent, QTextBlock, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.app.script.style_list import StyleList
from studio.app.script.tag_completer import TagCompleter
from studio.project.lines import new_id

_REDO_KEYS = (
    QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_Y),
    QKeyCombination(Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_Z),
)
PLAIN_KEYS = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_ALT_GR_OF_WINDOWS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_FEWEST_LINES = 4
# From the first unsaved letter. Typing goes on meanwhile, and does not put it off.
AUTOSAVE_MILLISECONDS = 300


class TextField(QPlainTextEdit):
    """Enter is done with the line; a slash offers tags; a pasted text of several lines becomes several lines.

    It is as high as its text, as far as the table has room. ``autosave_due`` follows what is typed; composed text
    counts once the input method commits it.
    """

    line_finished = Signal()
    texts_pasted = Signal(str)
    autosave_due = Signal()
    cancelled = Signal()  # by Esc

    def __init__(self, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Text of the line"))
        self.setTabChangesFocus(True)
        self._completer = TagCompleter(self, styles)
        self._cell = QRect()
        self._autosave = QTimer(self)
        self._autosave.setSingleShot(True)
        self._autosave.setInterval(AUTOSAVE_MILLISECONDS)
        self._autosave.timeout.connect(self.autosave_due)
        self.stretch = ""  # of typing: an id
        self.text_before = ""  # the stretch
        self.textChanged.connect(self._on_text_changed)
        self.textChanged.connect(self._completer.typed)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())

    @property
    def is_completing(self) -> bool:
        return self._completer.is_open

    def begin_stretch(self, text: str) -> None:
        """What is typed from now on is one step of undo; ``text`` is what Esc returns to."""
        self.stretch, self.text_before = new_id(), text

    def mark_saved(self) -> None:
        """All text is saved, or given up."""
        self._autosave.stop()
        self.document().setModified(False)

    def _on_text_changed(self) -> None:
        if self.document().isModified() and not self._autosave.isActive():
            self._autosave.start()

    def fit(self, cell: QRect) -> None:
        """Over the ``cell`` of its parent."""
        self._cell = QRect(cell)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Only now it is known where the text wraps."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        table = self.parentWidget()
        if table is None or self._cell.isEmpty():
            return
        around = 2 * (self.document().documentMargin() + self.frameWidth() + 1)
        text = sum(self.blockBoundingRect(block).height() for block in _blocks(self.document()))
        wanted = max(_FEWEST_LINES * self.fontMetrics().lineSpacing(), math.ceil(text + around))
        # Not as Qt thinks it needed: the bar takes room from the text, which then needs the bar.
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


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def types_letter(event: QKeyEvent) -> bool:
    """Whether the key writes a letter; also with AltGr, or with the Option key of a Mac."""
    held = event.modifiers() & ~(PLAIN_KEYS | Qt.KeyboardModifier.GroupSwitchModifier)
    is_option = sys.platform == "darwin" and held == Qt.KeyboardModifier.AltModifier
    types = is_option or held in (Qt.KeyboardModifier.NoModifier, _ALT_GR_OF_WINDOWS)
    return types and bool(event.text()) and event.text().isprintable()
