"""Text fields of the inspector. They can show that the selected lines differ, and keep words being typed."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

_NOTE_ROWS = 2
_NOTE_MARGIN = 12


class WordsField(QLineEdit):
    """A field for a name. ``empty_text`` is shown while the name is empty."""

    words_edited = Signal(str)  # text without leading and trailing spaces

    def __init__(self, *, empty_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._empty_text = empty_text
        self.textEdited.connect(lambda text: self.words_edited.emit(text.strip()))

    def show_words(self, words: str, *, is_mixed: bool, is_other: bool) -> None:
        """Show ``words`` without reporting them. ``is_other`` means that the selected lines have changed."""
        self.setPlaceholderText(self.tr("(mixed)") if is_mixed else self._empty_text)
        wanted = "" if is_mixed else words
        is_being_typed = self.hasFocus() and not is_other and self.text().strip() == wanted
        if not is_being_typed:
            self.setText(wanted)


class NoteField(QPlainTextEdit):
    """A field for a remark that may have several lines."""

    words_edited = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setFixedHeight(_NOTE_ROWS * self.fontMetrics().lineSpacing() + _NOTE_MARGIN)
        self.textChanged.connect(lambda: self.words_edited.emit(self.toPlainText().strip()))

    def show_words(self, words: str, *, is_mixed: bool, is_other: bool) -> None:
        """Show ``words`` without reporting them. ``is_other`` means that the selected lines have changed."""
        with QSignalBlocker(self):
            self.setPlaceholderText(self.tr("(mixed)") if is_mixed else "")
            wanted = "" if is_mixed else words
            if is_other or self.toPlainText().strip() != wanted:
                self.setPlainText(wanted)
