"""Columns of the compact table, and of the manuscript, which has only the text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTableView

from studio.app.script.line_model import Column, LineModel

# Column widths from wide to narrow; hidden columns leave space for the text and are shown in the inspector.
_WIDTHS: tuple[dict[Column, int], ...] = (
    {Column.NUMBER: 52, Column.STATE: 124, Column.VOICE: 110, Column.STYLE: 130, Column.DURATION: 72, Column.TAKE: 64},
    {Column.NUMBER: 48, Column.STATE: 124, Column.VOICE: 84, Column.STYLE: 92, Column.DURATION: 60, Column.TAKE: 56},
    {Column.NUMBER: 48, Column.STATE: 124, Column.VOICE: 84, Column.STYLE: 92, Column.DURATION: 60},
    {Column.NUMBER: 48, Column.STATE: 124, Column.VOICE: 84, Column.STYLE: 92},
    {Column.NUMBER: 48, Column.STATE: 124, Column.VOICE: 84},
    {Column.NUMBER: 40, Column.STATE: 124},
)
# Shown if a line uses them: the first two before all others, the rest if the other columns leave space.
_IMPORTANT_WIDTHS = {Column.CHARACTER: 100, Column.START: 72}
_OPTIONAL_WIDTHS = {Column.SLOT: 60, Column.FILE_NAME: 120, Column.NOTE: 140}
_MIN_TEXT_LETTERS = 32
_VERDICT_WIDTH = 112  # if any take was checked


class TableColumns:
    """Shows the widest columns that leave space for the text. Widths set by the user are kept while they fit."""

    def __init__(self, view: QTableView, model: LineModel) -> None:
        self._view = view
        self._lines = model
        self._widths: dict[Column, int] | None = None
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(Column.TEXT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        header.moveSection(header.visualIndex(Column.CHARACTER), header.visualIndex(Column.VOICE))
        header.moveSection(header.visualIndex(Column.START), header.visualIndex(Column.CHARACTER))
        header.moveSection(header.visualIndex(Column.SLOT), header.visualIndex(Column.START) + 1)
        header.moveSection(header.visualIndex(Column.VERDICT), header.visualIndex(Column.STATE) + 1)

    def show(self, *, is_table: bool) -> None:
        """Show the table, or only the text."""
        self._view.horizontalHeader().setVisible(is_table)
        self._widths = None
        if is_table:
            self.fit()
            return
        for column in Column:
            self._view.setColumnHidden(column, column is not Column.TEXT)

    def fit(self) -> None:
        least = _MIN_TEXT_LETTERS * self._view.fontMetrics().averageCharWidth()
        room = self._view.viewport().width() - least
        used = self._used_columns()
        first = {Column.VERDICT: _VERDICT_WIDTH} if self._lines.has_verdicts else {}
        first |= {column: width for column, width in _IMPORTANT_WIDTHS.items() if column in used}
        room -= sum(first.values())
        others = next((each for each in _WIDTHS if sum(each.values()) <= room), _WIDTHS[-1])
        room -= sum(others.values())
        widths = first | others
        for column, width in _OPTIONAL_WIDTHS.items():
            if column in used and width <= room:
                widths[column] = width
                room -= width
        if widths == self._widths:
            return
        self._widths = widths
        for column in Column:
            self._view.setColumnHidden(column, column is not Column.TEXT and column not in widths)
            if column in widths:
                self._view.setColumnWidth(column, widths[column])

    def _used_columns(self) -> frozenset[Column]:
        lines = self._lines.script.lines
        uses = {
            Column.CHARACTER: self._lines.has_characters,
            Column.START: self._lines.has_slots,
            Column.SLOT: self._lines.has_slots,
            Column.FILE_NAME: any(line.file_name for line in lines),
            Column.NOTE: any(line.note for line in lines),
        }
        return frozenset(column for column, is_used in uses.items() if is_used)
