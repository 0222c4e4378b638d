"""Sorting of the compact table. The order of the script does not change."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import QTableView

from studio.app.script.line_model import Column, LineModel


class RowOrder(QObject):
    """Sorts by the column whose header is clicked; a third click, or the number column, restores the script's order."""

    def __init__(self, view: QTableView, model: LineModel) -> None:
        super().__init__(view)
        self._view = view
        self._lines = model
        self._column: Column | None = None
        self._is_descending = False
        header = view.horizontalHeader()
        header.setSectionsClickable(True)
        header.sectionClicked.connect(self._on_clicked)
        for changed in (model.rowsInserted, model.rowsRemoved, model.layoutChanged, model.modelReset):
            changed.connect(self._apply_again)

    @property
    def is_sorted(self) -> bool:
        return self._column is not None

    def reset(self) -> None:
        """Show the rows in the order of the script."""
        if self._column is not None:
            self._column = None
            self._apply()

    def _on_clicked(self, section: int) -> None:
        column = Column(section)
        if column is not self._column:
            self._column, self._is_descending = (None if column is Column.NUMBER else column), False
        elif not self._is_descending:
            self._is_descending = True
        else:
            self._column = None
        self._apply()

    def _apply_again(self) -> None:
        if self._column is not None:
            self._apply()

    def _apply(self) -> None:
        column, header = self._column, self._view.horizontalHeader()
        header.setSortIndicatorShown(column is not None)
        rows = list(range(self._lines.rowCount()))
        if column is not None:
            order = Qt.SortOrder.DescendingOrder if self._is_descending else Qt.SortOrder.AscendingOrder
            header.setSortIndicator(column, order)
            rows.sort(key=lambda row: self._key(row, column), reverse=self._is_descending)
        vertical = self._view.verticalHeader()
        with QSignalBlocker(vertical):
            for place, row in enumerate(rows):
                vertical.moveSection(vertical.visualIndex(row), place)
        self._view.updateGeometries()
        self._view.viewport().update()
        self._view.scrollTo(self._view.currentIndex())

    def _key(self, row: int, column: Column) -> Any:
        slot = self._lines.line_at(row).slot
        if slot is not None and column in (Column.START, Column.SLOT):
            return (False, slot.start_seconds if column is Column.START else slot.seconds)
        words = self._lines.cell_text(row, column)
        # Empty cells come last in ascending order.
        return (not words, words.casefold() if isinstance(words, str) else "")
