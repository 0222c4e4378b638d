"""Rows of the script that are hidden: below folded headings, or left out by a filter."""

from __future__ import annotations

from itertools import takewhile

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QTableView

from studio.app.script.line_model import LineModel
from studio.app.script.outline import folded_lines
from studio.app.script.row_heights import RowHeights
from studio.project.lines import is_removed
from studio.project.script import Script


class HiddenRows(QObject):
    """Hides rows of ``view``. A filter also shows matching lines below folded headings."""

    changed = Signal()

    def __init__(self, view: QTableView, model: LineModel, heights: RowHeights) -> None:
        super().__init__(view)
        self._view = view
        self._lines = model
        self._heights = heights
        self._folded: set[str] = set()  # ids of headings
        self._removed: set[str] = set()  # ids of headings above removed lines
        self._shown: frozenset[str] | None = None  # ids of the lines that match the filter; None without a filter
        for changed in (model.rowsInserted, model.rowsRemoved, model.layoutChanged, model.modelReset):
            changed.connect(self.apply)
        model.dataChanged.connect(self._repaint_headings)

    def _repaint_headings(self) -> None:
        """Repaint what folded headings show about the lines below them."""
        if self._folded:
            self._view.viewport().update()

    @property
    def shown(self) -> frozenset[str] | None:
        """Lines that the filter shows; None without a filter."""
        return self._shown

    def is_folded(self, line_id: str) -> bool:
        return line_id in self._folded and self._shown is None

    def set_folded(self, line_id: str, *, is_folded: bool) -> None:
        if is_folded:
            self._folded.add(line_id)
        else:
            self._folded.discard(line_id)
        self.apply()

    def filter(self, line_ids: frozenset[str] | None) -> None:
        """Show only the lines ``line_ids``, or all lines."""
        if line_ids != self._shown:
            self._shown = line_ids
            self.apply()

    def reveal(self, line_id: str) -> None:
        """Unfold the headings above a line, and show the line even if the filter excludes it."""
        row = self._lines.row_of(line_id)
        if self._shown is not None and line_id not in self._shown:
            self.filter(self._shown | {line_id})
        if row is None or not self._folded or self._shown is not None:
            return
        above = [each for each in self._lines.sections if each.row < row < each.end]
        ids = {self._lines.line_at(section.row).id for section in above}
        if ids & self._folded:
            self._folded -= ids
            self.apply()

    def nearest_shown(self, row: int) -> int | None:
        """Return the visible row nearest to ``row``; None if no row is visible or ``row`` is negative."""
        shown = (each for each in range(self._lines.rowCount()) if not self._view.isRowHidden(each))
        return min(shown, key=lambda each: abs(each - row), default=None) if row >= 0 else None

    def apply(self) -> None:
        """Hide and show rows after a change of the script, the folds or the filter."""
        script = self._lines.script
        self._fold_removed(script)
        self._folded.intersection_update(
            {line_id for line_id in self._folded if line_id in script.index_of and script.line(line_id).heading}
        )
        if self._folded or self._shown is not None or self._view.verticalHeader().sectionsHidden():
            self._hide_and_show(folded_lines(self._lines.sections, script, self._folded) if self._folded else set())
        self._heights.measure_visible()
        self._view.viewport().update()
        self.changed.emit()

    def _fold_removed(self, script: Script) -> None:
        """Fold new headings above lines that an imported file no longer contains. They are at the end of the script."""
        ends = takewhile(is_removed, reversed(script.lines))
        headings = {line.id for line in ends if line.heading}
        self._folded |= headings - self._removed
        self._removed = headings

    def _hide_and_show(self, folded: set[str]) -> None:
        shown_again = []
        for row, line in enumerate(self._lines.script.lines):
            is_hidden = line.id in folded if self._shown is None else line.id not in self._shown
            if is_hidden != self._view.isRowHidden(row):
                self._view.setRowHidden(row, is_hidden)
                if not is_hidden:
                    shown_again.append(row)
        if shown_again:
            self._heights.add(shown_again)
