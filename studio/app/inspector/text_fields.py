"""Text fields of the inspector. They can show that the selected lines differ, and keep words being typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QPlainTextEdit, QWidget

_NOTE_ROWS = 2
_NOTE_MARGIN = 12


class WordsField(QLineEdit):
    """A field for a name. ``empty_text`` is shown while the name is empty."""

    words_edited = Signal(str)  # text without leading and trailing spaces

    def __init__(self, *, empty_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._empty_text = empty_text
        self._connect()

    def _connect(self) -> None:
        self.textEdited.connect(lambda text: self.words_edited.emit(text.strip()))

    def _is_being_typed(self, words: str) -> bool:
        return self.hasFocus() and self.text().strip() == words

    def show_words(self, words: str, *, is_mixed: bool, is_other: bool) -> None:
        """Show ``words`` without reporting them. ``is_other`` means that the selected lines have changed."""
        self.setPlaceholderText(self.tr("(mixed)") if is_mixed else self._empty_text)
        wanted = "" if is_mixed else words
        if is_other or not self._is_being_typed(wanted):
            self.setText(wanted)


class NameField(WordsField):
    """A field that completes known names, and reports a name when it is complete."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._is_edited = False  # since the last report
        super().__init__(parent=parent)
        self.known_names: Callable[[], Iterable[str]] = tuple
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.activated.connect(self._choose)
        self.setCompleter(completer)

    def commit(self) -> None:
        """Report a name that the user has typed."""
        if self._is_edited:
            self._is_edited = False
            self.words_edited.emit(self.text().strip())

    def show_words(self, words: str, *, is_mixed: bool, is_other: bool) -> None:
        self._is_edited = self._is_edited and not is_other
        super().show_words(words, is_mixed=is_mixed, is_other=is_other)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        self._names.setStringList(sorted(self.known_names()))
        super().focusInEvent(event)

    def _connect(self) -> None:
        self.textEdited.connect(self._on_edited)
        self.editingFinished.connect(self.commit)

    def _on_edited(self) -> None:
        self._is_edited = True

    def _choose(self, name: str) -> None:
        """Report a name chosen from the list, before the list has put it into the field."""
        self.setText(name)
        self._is_edited = True
        self.commit()

    def _is_being_typed(self, words: str) -> bool:
        return self._is_edited or super()._is_being_typed(words)


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
