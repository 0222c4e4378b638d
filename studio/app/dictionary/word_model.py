"""Table model of a pronunciation dictionary. Rows with an invalid pronunciation are kept and marked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from studio.app.error_text import format_error
from studio.app.theme.icons import icon
from studio.app.translation import with_label
from studio.app.widgets.painting_guard import paints_safely
from studio.errors import BadPronunciation
from studio.project.dictionary import DictionaryEntry, PronunciationDictionary

WORD, ALIAS, PRONUNCIATION, CASE = range(4)
_FIELDS = ("written", "alias", "pronunciation", "is_case_sensitive")
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Row:
    """A row as the user typed it. Blank rows are ignored."""

    written: str = ""
    alias: str = ""
    pronunciation: str = ""
    is_case_sensitive: bool = False

    @property
    def is_blank(self) -> bool:
        return not (self.written.strip() or self.has_reading)

    @property
    def has_reading(self) -> bool:
        return bool(self.alias.strip() or self.pronunciation.strip())

    @property
    def is_unfinished(self) -> bool:
        """Whether the word or its reading has not been typed yet."""
        return not (self.written.strip() and self.has_reading)

    def entry(self) -> DictionaryEntry:
        """Return the dictionary entry. Raises ``BadPronunciation``."""
        return DictionaryEntry(self.written, self.alias or None, self.pronunciation or None, self.is_case_sensitive)


@paints_safely
class WordModel(QAbstractTableModel):
    """Rows of a dictionary that is being edited."""

    edited = Signal()  # the user changed or removed a row

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._titles = (self.tr("Word"), self.tr("Read as"), self.tr("Pronunciation"), self.tr("Aa"))
        self._hints = (
            self.tr("As written in the text"),
            self.tr("Replacement text, for any model"),
            self.tr("Pinyin such as chong2 qing4, or ARPAbet such as W AY1 N D; Fun-CosyVoice3 only"),
            self.tr("Match case"),
        )

    def show_dictionary(self, dictionary: PronunciationDictionary) -> None:
        self.beginResetModel()
        self._rows = [
            Row(entry.written, entry.alias or "", entry.pronunciation or "", entry.is_case_sensitive)
            for entry in dictionary.entries
        ]
        self.endResetModel()

    def dictionary(self) -> PronunciationDictionary:
        """Return the dictionary without blank rows. Raises ``BadPronunciation`` for the first invalid row."""
        dictionary = PronunciationDictionary()
        for row in self._rows:
            if not row.is_blank:
                dictionary = dictionary.with_entry(row.entry())
        return dictionary

    def row(self, number: int) -> Row:
        return self._rows[number]

    def problem(self, number: int) -> BadPronunciation | None:
        """Return the error of an invalid row, or None if the row is valid or blank."""
        row = self._rows[number]
        if row.is_blank:
            return None
        try:
            key = row.entry().key
        except BadPronunciation as error:
            return error
        if any(_key_of(other) == key for other in self._rows[:number]):
            return BadPronunciation(
                "“{word}” is already in the dictionary.",
                remedy="Remove one of the two entries.",
                word=row.written.strip(),
            )
        return None

    def first_problem(self) -> int | None:
        return next((number for number in range(len(self._rows)) if self.problem(number)), None)

    def append(self, row: Row | None = None) -> int:
        """Append a row and return its number."""
        number = len(self._rows)
        self.beginInsertRows(_NOWHERE, number, number)
        self._rows.append(row or Row())
        self.endInsertRows()
        return number

    def remove(self, numbers: set[int]) -> None:
        for number in sorted(numbers, reverse=True):
            self.beginRemoveRows(_NOWHERE, number, number)
            del self._rows[number]
            self.endRemoveRows()
        if numbers:
            self.edited.emit()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(_FIELDS)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole:
            return self._hints[section]
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        plain = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return plain | (Qt.ItemFlag.ItemIsUserCheckable if index.column() == CASE else Qt.ItemFlag.ItemIsEditable)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self._rows[index.row()], index.column()
        problem = self.problem(index.row()) if column == WORD and not row.is_unfinished else None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole if column != CASE:
                return getattr(row, _FIELDS[column])
            case Qt.ItemDataRole.CheckStateRole if column == CASE:
                return Qt.CheckState.Checked if row.is_case_sensitive else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.DecorationRole if problem is not None:
                return icon("warning")
            case Qt.ItemDataRole.ToolTipRole:
                return format_error(problem) if problem is not None else self._hints[column]
            case Qt.ItemDataRole.AccessibleTextRole if problem is not None:
                return with_label(row.written, format_error(problem))
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802
        column = index.column()
        changed: Any
        match role:
            case Qt.ItemDataRole.CheckStateRole if column == CASE:
                changed = Qt.CheckState(value) is Qt.CheckState.Checked
            case Qt.ItemDataRole.EditRole if column != CASE:
                changed = str(value)
            case _:
                return False
        before = self._rows[index.row()]
        self._rows[index.row()] = row = replace(before, **{_FIELDS[column]: changed})
        # The other rows may be duplicates of this one.
        self.dataChanged.emit(self.index(0, WORD), self.index(len(self._rows) - 1, CASE))
        if row != before:
            self.edited.emit()
        return True


def _key_of(row: Row) -> object:
    """Return the key of the row's entry, or None if the row is invalid."""
    try:
        return row.entry().key
    except BadPronunciation:
        return None
