"""Row heights of the manuscript. Visible rows are measured at once, all others little by little.

A script of thousands of lines opens with estimated heights. When rows above the visible ones are measured, the view is
scrolled by the difference, so nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QTableView

from studio.app.script.line_model import Column, Index, LineModel
from studio.app.script.manuscript_delegate import ManuscriptDelegate

_ROWS_AT_ONCE = 24
_ROWS_ESTIMATED = 200


class RowHeights(QObject):
    """Keeps the heights of the rows of ``view`` up to date while it is active."""

    def __init__(self, view: QTableView, model: LineModel, delegate: ManuscriptDelegate) -> None:
        super().__init__(view)
        self._view = view
        self._lines = model
        self._delegate = delegate
        self._is_active = False
        self._is_adjusting = False
        self._pending: dict[str, None] = {}  # ids of lines whose height is an estimate, an ordered set
        self._idle = QTimer(self)
        self._idle.timeout.connect(self._measure_some)
        model.dataChanged.connect(self._on_data_changed)
        model.rowsInserted.connect(lambda _, first, last: self._on_inserted(range(first, last + 1)))
        model.layoutChanged.connect(lambda: self.add(range(model.rowCount())))  # rows keep their heights
        model.modelReset.connect(self.measure_again)

    def start(self) -> None:
        self._is_active = True
        self.measure_again()

    def stop(self) -> None:
        self._is_active = False
        self._pending.clear()
        self._idle.stop()

    def measure_again(self) -> None:
        """Estimate the heights of all rows, for example after a change of width, and measure the visible rows.

        A scroll bar that appears while heights change also changes the width. The rows then keep their heights until
        they are measured: estimates could hide the scroll bar again, without end.
        """
        if self._is_adjusting:
            self.add(range(self._lines.rowCount()))
        elif self._is_active:
            self._keeping(self._view.rowAt(0), self._estimate)
            self.measure_visible()

    def add(self, rows: Iterable[int]) -> None:
        """Measure ``rows`` again, for example after they were shown."""
        if self._is_active:
            self._pending.update({self._lines.line_at(row).id: None for row in rows})
            self._idle.start()

    def measure_visible(self) -> None:
        """Measure the visible rows. The first visible row that has already been measured keeps its place on the screen."""
        if not self._pending or self._is_adjusting:
            return
        anchor = next((row for row in self._visible_rows() if self._lines.line_at(row).id not in self._pending), None)
        top = self._view.rowAt(0)
        self._keeping(top if anchor is None else anchor, self._measure_until_filled)

    def _measure_until_filled(self) -> bool:
        # If rows are lower than estimated, more rows become visible.
        has_changed = False
        while pending := [row for row in self._visible_rows() if self._lines.line_at(row).id in self._pending]:
            has_changed |= self._measure(pending)
        return has_changed

    def measure_around(self, row: int) -> None:
        """Measure ``row`` before it is scrolled into view."""
        if self._pending:
            self._keeping(self._view.rowAt(0), lambda: self._measure([row]))

    def _measure_some(self) -> None:
        if self._view.verticalScrollBar().isSliderDown():
            return
        self.measure_visible()
        ids = [line_id for line_id, _ in zip(self._pending, range(_ROWS_AT_ONCE), strict=False)]
        rows = [row for line_id in ids if (row := self._lines.row_of(line_id)) is not None]
        for line_id in ids:
            del self._pending[line_id]
        if rows:
            self._keeping(self._view.rowAt(0), lambda: self._measure(rows))
        if not self._pending:
            self._idle.stop()

    def _visible_rows(self) -> Iterator[int]:
        """Yield the rows in the viewport from top to bottom."""
        header, height = self._view.verticalHeader(), self._view.viewport().height()
        visual = header.visualIndexAt(0)
        while 0 <= visual < header.count():
            row = header.logicalIndex(visual)
            if not header.isSectionHidden(row):
                if self._view.rowViewportPosition(row) >= height:
                    return
                yield row
            visual += 1

    def _measure(self, rows: Iterable[int]) -> bool:
        """Return whether a height has changed."""
        header, has_changed = self._view.verticalHeader(), False
        for row in rows:
            line = self._lines.line_at(row)
            self._pending.pop(line.id, None)
            height = self._delegate.row_layout(line).height
            has_changed |= height != header.sectionSize(row)
            header.resizeSection(row, height)
        return has_changed

    def _estimate(self) -> bool:
        """Give all rows the average height of some of them, which is also the height of new rows."""
        lines = self._lines.script.lines
        some = lines[:: max(1, len(lines) // _ROWS_ESTIMATED)]
        if some:
            heights = sum(map(self._delegate.layouts.estimated_height, some))
            self._view.verticalHeader().setDefaultSectionSize(round(heights / len(some)))
        self._pending = dict.fromkeys(line.id for line in lines)
        self._idle.start()
        return True

    def _on_inserted(self, rows: range) -> None:
        if 2 * len(rows) > self._lines.rowCount():  # their average may differ from that of the others
            self.measure_again()
        else:
            self.add(rows)

    def _keeping(self, anchor: int, change: Callable[[], bool]) -> None:
        """Call ``change``, and scroll so that the row ``anchor`` stays where it is if heights have changed."""
        if self._is_adjusting:
            return
        self._is_adjusting = True
        bar, header = self._view.verticalScrollBar(), self._view.verticalHeader()
        try:
            before = header.sectionPosition(anchor) if anchor >= 0 else 0
            if not change():
                return
            self._view.updateGeometries()
            moved = header.sectionPosition(anchor) - before if anchor >= 0 else 0
            if moved:
                bar.setValue(bar.value() + moved)
        finally:
            self._is_adjusting = False
        self._view.viewport().update()

    def _on_data_changed(self, first: Index, last: Index) -> None:
        if first.column() <= Column.TEXT <= last.column():
            self.add(range(first.row(), last.row() + 1))
