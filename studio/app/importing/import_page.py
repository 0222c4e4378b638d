"""Page that shows how a script file was read, with the choices for its format."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.error_text import message_text
from studio.app.importing.column_table import ColumnTable
from studio.app.importing.contents_tree import ContentsTree
from studio.app.importing.remembered_columns import recall_columns, remember_columns
from studio.app.translation import duration_text, join_phrases
from studio.app.widgets.controls import text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.app.widgets.waveform_painting import time_text
from studio.errors import StudioError
from studio.export.checks import expected_seconds
from studio.project.importing.blocks import SCENE_LEVEL, Book, ImportedScript, sections_of_blocks
from studio.project.importing.script_file import ImportOptions, ScriptFile, ScriptKind, read_file
from studio.project.importing.tables import choose_mapping
from studio.project.lines import Heading, Line
from studio.project.splitting import SplitMode
from studio.settings_store import Settings
from studio.voices.voice import name_key

_log = logging.getLogger(__name__)

_SIZE = (860, 560)
_CONTENTS_WIDTH = 260
_MAX_SHOWN = 200
_SHEET_ROWS = 3
_SHEET_SPACING = 4
_CHARACTER, _TEXT, _TIME = range(3)
_ALWAYS_SHOWN = (".epub", ".pdf")


def has_choices(file: ScriptFile, imported: ImportedScript) -> bool:
    """Return whether there is something to decide: columns, speakers, which parts of a book are spoken, or a guess."""
    if imported.notices or file.kind is ScriptKind.TABLE or file.name.lower().endswith(_ALWAYS_SHOWN):
        return True
    if file.book is not None and (
        len(_heading_levels(file.book)) > 1
        or any(section.is_matter for section in sections_of_blocks(file.book.blocks))
    ):
        return True
    return any(line.character or not line.is_spoken for line in imported.lines)


def _heading_levels(book: Book) -> list[int]:
    """Return the levels of headings that can begin chapters."""
    return sorted({block.level for block in book.blocks if 0 < block.level < SCENE_LEVEL})


class ImportPage(QDialog):
    """After ``accept``, ``imported`` is the script to import.

    Each changed choice recreates the script in the background. ``settings`` contain the columns of earlier tables.
    """

    def __init__(
        self, path: Path, file: ScriptFile, options: ImportOptions, settings: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.imported: ImportedScript | None = None  # None while it is being made, or if that fails
        self._path = path
        self._file = file
        self._options = options
        self._settings = settings
        self._num_requests = 0
        self._is_waiting = False  # accept the script when it is ready
        self.setWindowTitle(self.tr("Import {name}").format(name=file.name))
        self.resize(fit_to_screen(*_SIZE))
        self.encodings = QComboBox()
        self.sheets = QListWidget()
        self.titles = QCheckBox(self.tr("First row contains headings"))
        self.columns = ColumnTable()
        self.lines = self._line_table()
        self.contents = ContentsTree()
        self.levels = QComboBox()
        self.breaks = QComboBox()
        self.speakers = QCheckBox(self.tr("Names before colons are speakers"))
        is_film = file.kind is ScriptKind.SUBTITLES
        self.notes = QCheckBox(
            self.tr("Speak sounds, songs and signs") if is_film else self.tr("Speak stage directions and notes")
        )
        self.summary = text_label("", "quiet")
        self._problem = ErrorLine()
        self.import_button = QPushButton(self.tr("Import"))
        self._fill()
        self._lay_out()
        self._connect_signals()
        self._request()
        self.import_button.setFocus()

    def accept(self) -> None:
        if self.imported is None:
            self._is_waiting = self.import_button.isEnabled()
            return
        table = self._file.table(self.chosen)
        if table is not None:
            try:
                remember_columns(self._settings, table, self.columns.mapping)
            except StudioError as error:  # an import without remembered columns is still possible
                _log.warning("the columns are not remembered: %s", error)
        super().accept()

    # The choices.

    @property
    def _is_table(self) -> bool:
        return self._file.kind is ScriptKind.TABLE

    def _fill(self) -> None:
        for name, preview in self._file.encodings.items():
            self.encodings.addItem(self.tr("{encoding}: {preview}").format(encoding=name, preview=preview), name)
        self.encodings.setAccessibleName(self.tr("Encoding"))
        self.sheets.setAccessibleName(self.tr("Sheets"))
        for words, mode in (
            (self.tr("One line per sentence"), SplitMode.SENTENCE),
            (self.tr("One line per paragraph"), SplitMode.PARAGRAPH),
        ):
            self.breaks.addItem(words, mode)
        self.breaks.setCurrentIndex(self.breaks.findData(self._options.breaks))
        self.breaks.setAccessibleName(self.tr("Split text"))
        self.speakers.setChecked(self._file.has_speakers)
        self._fill_contents()
        self._fill_sheets()

    def _fill_contents(self) -> None:
        if self._file.book is None:
            return
        sections = sections_of_blocks(self._file.book.blocks)
        self.contents.show_sections(sections)
        for level in _heading_levels(self._file.book):
            self.levels.addItem(
                self.tr("Level 1") if level == 1 else self.tr("Levels 1 to {level}").format(level=level), level
            )
        self.levels.setCurrentIndex(self.levels.findData(self._file.book.effective_chapter_level))
        self.levels.setAccessibleName(self.tr("Chapters"))

    def _fill_sheets(self) -> None:
        self.sheets.clear()
        chosen = self._file.sheets(self._options)
        for name, table in self._file.tables.items():
            item = QListWidgetItem(self.tr("{sheet} ({count})").format(sheet=name, count=len(table.rows)), self.sheets)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setCheckState(Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked)
        self._show_table()

    def _show_table(self) -> None:
        table = self._file.table(replace(self._options, sheets=self._chosen_sheets))
        if table is not None:
            table, mapping = recall_columns(self._settings, table)
            self.titles.setChecked(table.has_names)
            self.columns.show_table(table, mapping)

    @property
    def _chosen_sheets(self) -> tuple[str, ...]:
        items = map(self.sheets.item, range(self.sheets.count()))
        return tuple(
            item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def _on_sheet(self, item: QListWidgetItem) -> None:
        with QSignalBlocker(self.sheets), QSignalBlocker(self.titles):
            if not self._chosen_sheets:
                item.setCheckState(Qt.CheckState.Checked)  # at least one
            self._show_table()
        self._request()

    def _on_titles(self) -> None:
        table = self._file.table(self.chosen)
        assert table is not None, "the choice is shown for tables"
        if table.has_names:
            self.columns.show_table(*recall_columns(self._settings, table))
        else:
            self.columns.show_table(table, choose_mapping(table))
        self._request()

    def _on_encoding(self) -> None:
        number = self._begin_request()
        run_in_background(
            self,
            partial(read_file, self._path, self.encodings.currentData()),
            done=lambda file: self._on_read(number, file),
            failed=lambda error: self._on_failed(number, error),
        )

    def _on_read(self, number: int, file: ScriptFile) -> None:
        if number == self._num_requests:
            self._file = file
            with QSignalBlocker(self.titles), QSignalBlocker(self.sheets):
                self._fill_sheets()
            self._request()

    @property
    def file(self) -> ScriptFile:
        """The file, read in the chosen encoding."""
        return self._file

    @property
    def encoding(self) -> str | None:
        """The chosen encoding, or None for a file that has no choice."""
        chosen = self.encodings.currentData()
        return None if chosen is None else str(chosen)

    @property
    def chosen(self) -> ImportOptions:
        """The chosen options."""
        if self._is_table:
            return replace(
                self._options,
                speaks_notes=self.notes.isChecked(),
                sheets=self._chosen_sheets,
                mapping=self.columns.mapping,
                has_names=self.titles.isChecked(),
            )
        return replace(
            self._options,
            breaks=self.breaks.currentData(),
            finds_speakers=self.speakers.isChecked(),
            speaks_notes=self.notes.isChecked(),
            left_out=self.contents.left_out,
            chapter_level=self.levels.currentData(),
        )

    def _begin_request(self) -> int:
        self._num_requests += 1
        self.imported = None
        self.import_button.setEnabled(True)
        self.import_button.setDefault(True)  # a disabled button is not, and Enter would cancel
        return self._num_requests

    def _request(self) -> None:
        """Make the lines in the background."""
        number = self._begin_request()
        run_in_background(
            self,
            partial(self._file.script, self.chosen),
            done=lambda imported: self._on_made(number, imported),
            failed=lambda error: self._on_failed(number, error),
        )

    def _on_made(self, number: int, imported: ImportedScript) -> None:
        if number != self._num_requests:
            return
        self.imported = imported
        self._problem.clear()
        self.summary.setText(self._summary(imported))
        self.summary.show()
        if not self._is_table:
            self._show_lines(imported.lines)
        if self._is_waiting:
            self.accept()

    def _on_failed(self, number: int, error: StudioError) -> None:
        if number == self._num_requests:
            self._is_waiting = False
            self.summary.hide()
            self._problem.show_error(error)
            self.import_button.setEnabled(False)

    # Result of reading.

    def _summary(self, imported: ImportedScript) -> str:
        lines = imported.lines
        characters = {name_key(line.character) for line in lines if line.character}
        num_chapters = sum(line.heading is Heading.CHAPTER for line in lines)
        num_silent = sum(not line.is_spoken for line in lines)
        parts = [self.tr("%n line(s)", "", len(lines))]
        if num_silent:
            parts.append(self.tr("%n not spoken", "", num_silent))
        if characters:
            parts.append(self.tr("%n character(s)", "", len(characters)))
        if num_chapters:
            parts.append(self.tr("%n chapter(s)", "", num_chapters))
        if self._file.kind in (ScriptKind.TEXT, ScriptKind.BOOK, ScriptKind.SCREENPLAY):
            seconds = sum(expected_seconds(line.text) + line.pause_after_seconds for line in lines if line.is_spoken)
            parts.append(self.tr("about {time}").format(time=duration_text(seconds)))
        rows = [join_phrases(tuple(parts)), *map(message_text, imported.notices)]
        if imported.title:
            rows.insert(0, join_phrases(filter(None, (imported.title, imported.author))))
        return "\n".join(rows)

    def _show_lines(self, lines: Sequence[Line]) -> None:
        shown = lines[:_MAX_SHOWN]
        self.lines.setRowCount(len(shown) + (len(lines) > len(shown)))
        for row, line in enumerate(shown):
            name = QTableWidgetItem(line.character or "")
            text = QTableWidgetItem(line.text)
            if line.heading:
                font = QFont(self.lines.font())
                font.setBold(True)
                text.setFont(font)
            if not line.is_spoken:
                for item in (name, text):
                    item.setForeground(self.palette().placeholderText())
                text.setToolTip(self.tr("Not spoken"))
                text.setData(Qt.ItemDataRole.AccessibleTextRole, self.tr("Not spoken: {text}").format(text=line.text))
            self.lines.setItem(row, _CHARACTER, name)
            self.lines.setItem(row, _TEXT, text)
            time = "" if line.slot is None else time_text(line.slot.start_seconds, 2)
            self.lines.setItem(row, _TIME, QTableWidgetItem(time))
        if len(lines) > len(shown):
            self.lines.setItem(len(shown), _CHARACTER, QTableWidgetItem())
            more = QTableWidgetItem(self.tr("%n more line(s)", "", len(lines) - len(shown)))
            more.setForeground(self.palette().placeholderText())
            self.lines.setItem(len(shown), _TEXT, more)
        self.lines.setColumnHidden(_CHARACTER, not any(line.character for line in shown))
        self.lines.setColumnHidden(_TIME, not any(line.slot for line in shown))

    def _line_table(self) -> QTableWidget:
        table = QTableWidget(0, 3)
        table.setAccessibleName(self.tr("Preview"))
        table.setHorizontalHeaderLabels([self.tr("Character"), self.tr("Text"), self.tr("Start")])
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.verticalHeader().hide()
        for column in (_CHARACTER, _TIME):
            table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return table

    # Construction.

    def _lay_out(self) -> None:
        kind = self._file.kind
        choices = QFormLayout()
        if self.encodings.count():
            choices.addRow(self.tr("Encoding:"), self.encodings)
        if len(self._file.tables) > 1:
            self.sheets.setSpacing(_SHEET_SPACING)
            row = self.sheets.sizeHintForRow(0) + 2 * _SHEET_SPACING
            shown = min(_SHEET_ROWS, self.sheets.count())
            self.sheets.setFixedHeight(shown * row + 2 * (_SHEET_SPACING + self.sheets.frameWidth()))
            choices.addRow(self.tr("Sheets:"), self.sheets)
        if self._is_table:
            choices.addRow(self.titles)
        if kind in (ScriptKind.TEXT, ScriptKind.BOOK, ScriptKind.SCREENPLAY):
            choices.addRow(self.tr("Split text:"), self.breaks)
        if self.levels.count() > 1:
            choices.addRow(self.tr("Chapters:"), self.levels)
        if kind in (ScriptKind.TEXT, ScriptKind.BOOK, ScriptKind.SUBTITLES):
            choices.addRow(self.speakers)
        choices.addRow(self.notes)
        buttons = dialog_buttons(self, accept=self.import_button)
        for button in buttons.buttons():
            if button is not self.import_button and isinstance(button, QPushButton):
                button.setAutoDefault(False)
        rows = QVBoxLayout(self)
        rows.addLayout(choices)
        preview = QSplitter()
        self.contents.setVisible(self.levels.count() > 0)
        for part in (self.contents, self.columns if self._is_table else self.lines):
            preview.addWidget(part)
        preview.setSizes([_CONTENTS_WIDTH, _SIZE[0] - _CONTENTS_WIDTH])
        preview.setStretchFactor(1, 1)
        preview.setChildrenCollapsible(False)
        rows.addWidget(preview, 1)
        for widget in (self.summary, self._problem, buttons):
            rows.addWidget(widget)

    def _connect_signals(self) -> None:
        self.encodings.currentIndexChanged.connect(self._on_encoding)
        self.contents.changed.connect(self._request)
        self.levels.currentIndexChanged.connect(self._request)
        self.sheets.itemChanged.connect(self._on_sheet)
        self.titles.toggled.connect(self._on_titles)
        self.columns.mapping_changed.connect(self._request)
        self.breaks.currentIndexChanged.connect(self._request)
        self.speakers.toggled.connect(self._request)
        self.notes.toggled.connect(self._request)
