"""Dialog for the pronunciation dictionaries, with one page for each."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QTabWidget,
    QWidget,
)

from studio.app.dictionary.global_words import GlobalWords
from studio.app.dictionary.word_model import ALIAS, CASE, PRONUNCIATION, WORD, Row, WordModel
from studio.app.script.project_editor import ProjectEditor
from studio.app.theme.icons import icon
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.project.changes import EditDictionary
from studio.project.dictionary import DictionaryEntry, lines_using


class PronunciationPage(QWidget):
    """Page of one dictionary: a table of its words, buttons, and the current word as sent to the model."""

    play_clicked = Signal(object)  # the DictionaryEntry of the current row

    def __init__(self, name: str, count_lines: Callable[[DictionaryEntry], int]) -> None:
        """``count_lines`` returns the number of lines that use an entry."""
        super().__init__()
        self.model = WordModel(self)
        self._count_lines = count_lines
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName(name)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        # Selecting a row does not start editing, so that the Delete key removes rows.
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
        self.hear_button = QPushButton(icon("play"), self.tr("Play"))
        self.hear_button.setToolTip(self.tr("Play this word in the current line's voice"))
        self._hint = text_label("", "quiet", is_selectable=True)
        self._problem = ErrorLine()
        self._lay_out()
        # Table.
        self.model.edited.connect(self._update_row)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._update_row())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._update_row())
        self.model.modelReset.connect(self._update_row)
        # Buttons and shortcuts.
        self.add_button.clicked.connect(self.add_word)
        self.remove_button.clicked.connect(self.remove_selected)
        self.hear_button.clicked.connect(self._play_current)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.remove_selected)
        self._update_row()

    def add_word(self) -> None:
        """Edit the blank row at the end; append one if there is none."""
        number = self.model.rowCount() - 1
        if number < 0 or not self.model.row(number).is_blank:
            number = self.model.append()
        self.go_to(number)
        self.table.setFocus()
        self.table.edit(self.model.index(number, WORD))

    def remove_selected(self) -> None:
        self.model.remove({index.row() for index in self.table.selectionModel().selectedRows()})
        self._update_row()

    def go_to(self, number: int) -> None:
        self.table.selectionModel().setCurrentIndex(
            self.model.index(number, WORD),
            QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows,
        )

    def current_entry(self) -> DictionaryEntry | None:
        """Return the entry of the current row if it is valid."""
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
        in_column((self.table, 1), self._hint, self._problem, buttons, parent=self)
        # Reserve two lines, so that the table does not move when the text gets longer.
        self._hint.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._problem.setMinimumHeight(self._hint.minimumHeight())
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)

    def _update_row(self) -> None:
        number = self.table.currentIndex().row()
        entry = self.current_entry()
        is_unfinished = number < 0 or self.model.row(number).is_unfinished
        problem = None if is_unfinished else self.model.problem(number)
        self._problem.show_error(problem)
        self._hint.setVisible(problem is None)
        self._hint.setText(self._hint_for(entry))
        self.remove_button.setEnabled(self.table.selectionModel().hasSelection())
        self.hear_button.setEnabled(entry is not None)

    def _hint_for(self, entry: DictionaryEntry | None) -> str:
        if entry is None:
            return self.tr("Add a mispronounced word and how to read it.")
        sent = [words for words in (entry.alias, entry.spoken(speaks_phones=True)) if words]
        return self.tr(
            "Sent to the model as {words}. Used in %n line(s) of this script.", "", self._count_lines(entry)
        ).format(words=" / ".join(dict.fromkeys(sent)))

    def _play_current(self) -> None:
        entry = self.current_entry()
        if entry is not None:
            self.play_clicked.emit(entry)


class DictionaryDialog(QDialog):
    """Edits the dictionary of the project and the one shared by all projects.

    Accepting the dialog makes the takes of all lines that contain a changed word outdated.
    """

    play_clicked = Signal(object)  # the DictionaryEntry to play

    def __init__(self, editor: ProjectEditor, global_words: GlobalWords, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Pronunciation"))
        self._editor = editor
        self._global_words = global_words
        self.project_page = PronunciationPage(self.tr("Script dictionary"), self._count_lines)
        self.global_page = PronunciationPage(self.tr("Shared dictionary"), self._count_lines)
        self.pages = (self.project_page, self.global_page)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Pronunciation"))
        self.tabs.addTab(self.project_page, self.tr("This script"))
        self.tabs.addTab(self.global_page, self.tr("All scripts"))
        self._error_line = ErrorLine()
        self.buttons = dialog_buttons(self)
        in_column((self.tabs, 1), self._error_line, self.buttons, parent=self)
        self.project_page.model.show_dictionary(editor.project.dictionary)
        self.global_page.model.show_dictionary(global_words.dictionary)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(100 * width, 64 * width))
        # Rows.
        for page in self.pages:
            page.model.edited.connect(self._error_line.clear)
            page.play_clicked.connect(self.play_clicked)
        # Buttons.

    def add_word(self, written: str) -> None:
        """Add a row for a word selected in the script."""
        self.tabs.setCurrentWidget(self.project_page)
        self.project_page.go_to(self.project_page.model.append(Row(written=written.strip())))

    def accept(self) -> None:
        """Save both dictionaries and close; on an error, show it and stay open."""
        for page in self.pages:
            number = page.model.first_problem()
            if number is not None:
                self.tabs.setCurrentWidget(page)
                page.go_to(number)
                self._error_line.show_error(page.model.problem(number))
                return
        try:
            self._global_words.change(self.global_page.model.dictionary())
            dictionary = self.project_page.model.dictionary()
            if dictionary != self._editor.project.dictionary:
                self._editor.push(EditDictionary(dictionary), self.tr("Pronunciation"))
        except StudioError as error:
            self._error_line.show_error(error)
            return
        super().accept()

    def _count_lines(self, entry: DictionaryEntry) -> int:
        return len(lines_using(((line.id, line.text) for line in self._editor.script.lines), entry))
