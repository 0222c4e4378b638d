"""Dialog with both dictionaries. Accepting it outdates the takes of lines that contain a changed word."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTabWidget, QVBoxLayout, QWidget

from studio.app.dictionary.global_words import GlobalWords
from studio.app.dictionary.pronunciation_page import PronunciationPage
from studio.app.dictionary.word_model import Row
from studio.app.script.project_editor import ProjectEditor
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.errors import StudioError
from studio.project.changes import EditDictionary
from studio.project.dictionary import DictionaryEntry, lines_using


class DictionaryDialog(QDialog):
    """``hear_clicked`` carries the DictionaryEntry to play."""

    hear_clicked = Signal(object)

    def __init__(
        self, editor: ProjectEditor, global_words: GlobalWords, *, can_hear: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Pronunciation"))
        self._editor = editor
        self._global_words = global_words
        self.project_page = PronunciationPage(self.tr("Project dictionary"), self._count_lines, can_hear=can_hear)
        self.global_page = PronunciationPage(self.tr("Shared dictionary"), self._count_lines, can_hear=can_hear)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Pronunciation"))
        self.tabs.addTab(self.project_page, self.tr("This project"))
        self.tabs.addTab(self.global_page, self.tr("All projects"))
        self._error_line = ErrorLine()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        layout = QVBoxLayout(self)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self._error_line)
        layout.addWidget(self.buttons)
        self.project_page.model.show_dictionary(editor.project.dictionary)
        self.global_page.model.show_dictionary(global_words.dictionary)
        width = self.fontMetrics().averageCharWidth()
        self.resize(fit_to_screen(100 * width, 64 * width))
        # Rows.
        for page in self.pages:
            page.model.edited.connect(self._error_line.clear)
            page.hear_clicked.connect(self.hear_clicked)
        # Buttons.
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    @property
    def pages(self) -> tuple[PronunciationPage, PronunciationPage]:
        return self.project_page, self.global_page

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
