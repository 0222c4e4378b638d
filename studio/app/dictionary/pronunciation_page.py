"""One dictionary: its table, what can be done with it, and what a word becomes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.app.dictionary.word_model import ALIAS, CASE, PRONUNCIATION, WORD, WordModel
from studio.app.theme.icons import icon
from studio.app.widgets.error_line import ErrorLine
from studio.project.dictionary import DictionaryEntry

# How many lines use an entry.
CountLines = Callable[[DictionaryEntry], int]


class PronunciationPage(QWidget):
    """``hear_clicked`` carries the DictionaryEntry of the current row."""

    hear_clicked = Signal(object)

    def __init__(self, name: str, count_lines: CountLines, *, can_hear: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = WordModel(self)
        self._count_lines = count_lines
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName(name)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        # Not when a row is merely gone to: the Delete key is for rows then, not for letters.
        self.table.setEditTriggers(
            QAbstractItemView.EditTrigger.AllEditTriggers & ~QAbstractItemView.EditTrigger.CurrentChanged
        )
        self.table.setTabKeyNavigation(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        for column in (WORD, ALIAS, PRONUNCIATION):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(CASE, QHeaderView.ResizeMode.ResizeToContents)
        self.add_button = QPushButton(icon("add"), self.tr("Add word"))
        self.remove_button = QPushButton(icon("remove"), self.tr("Remove"))
        self.hear_button = QPushButton(icon("play"), self.tr("Hear"))
        self.hear_button.setToolTip(self.tr("Speak this word in the voice of the current line"))
        self.hear_button.setVisible(can_hear)
        self._remark = QLabel()
        self._remark.setWordWrap(True)
        self._remark.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._remark.setProperty("role", "quiet")
        self._problem = ErrorLine()
        self._lay_out()
        # in the table
        self.model.edited.connect(self._remark_row)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._remark_row())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._remark_row())
        self.model.modelReset.connect(self._remark_row)
        # buttons and keys
        self.add_button.clicked.connect(self.add_word)
        self.remove_button.clicked.connect(self.remove_selected)
        self.hear_button.clicked.connect(self._hear)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.remove_selected)
        self._remark_row()

    def add_word(self) -> None:
        """A new row to be typed in; a blank one that is there will do."""
        number = self.model.rowCount() - 1
        if number < 0 or not self.model.row(number).is_blank:
            number = self.model.append()
        self.go_to(number)
        self.table.setFocus()
        self.table.edit(self.model.index(number, WORD))

    def remove_selected(self) -> None:
        self.model.remove({index.row() for index in self.table.selectionModel().selectedRows()})
        self._remark_row()

    def go_to(self, number: int) -> None:
        self.table.selectionModel().setCurrentIndex(
            self.model.index(number, WORD),
            QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows,
        )

    def current_entry(self) -> DictionaryEntry | None:
        """Of the current row, if it can be used."""
        number = self.table.currentIndex().row()
        if number < 0 or self.model.row(number).is_blank or self.model.problem(number):
            return None
        return self.model.row(number).entry()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        for button in (self.add_button, self.remove_button, self.hear_button):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.addWidget(self.table, 1)
        layout.addWidget(self._remark)
        layout.addWidget(self._problem)
        layout.addLayout(buttons)
        # Two lines, so that the table does not jump when there is more to say.
        self._remark.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._problem.setMinimumHeight(self._remark.minimumHeight())
        self._remark.setAlignment(Qt.AlignmentFlag.AlignTop)

    def _remark_row(self) -> None:
        number = self.table.currentIndex().row()
        entry = self.current_entry()
        problem = self.model.problem(number) if number >= 0 else None
        self._problem.show_error(problem)
        self._remark.setVisible(problem is None)
        self._remark.setText(self._words_about(entry))
        self.remove_button.setEnabled(self.table.selectionModel().hasSelection())
        self.hear_button.setEnabled(entry is not None)

    def _words_about(self, entry: DictionaryEntry | None) -> str:
        if entry is None:
            return self.tr("A word that is read wrongly: write how it should be said.")
        sent = [words for words in (entry.alias, entry.spoken(speaks_phones=True)) if words]
        return self.tr(
            "Sent to the model as {words}. In %n line(s) of this script.", "", self._count_lines(entry)
        ).format(words=" / ".join(dict.fromkeys(sent)))

    def _hear(self) -> None:
        entry = self.current_entry()
        if entry is not None:
            self.hear_clicked.emit(entry)
