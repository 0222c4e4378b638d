"""Table whose rows are lines that can be dragged to another place."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDrag,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from studio.app.script.line_model import LineModel
from studio.app.script.text_painting import drag_pixmap
from studio.app.theme.colors import theme_colors
from studio.app.widgets.painting_guard import paints_safely

_GAP_PIXELS = 4


@paints_safely
class DraggingView(QTableView):
    """Emits ``lines_dragged``; the project moves the lines."""

    lines_dragged = Signal(list, int)  # line ids, row of the line before which they are dropped

    def __init__(self, model: LineModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = model
        self._gap: int | None = None  # row above which dragged lines would be dropped
        # Only lines are accepted here (``LineModel.mimeTypes``); the window accepts files.
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(False)  # paintEvent draws a more visible indicator

    @property
    def dragged_line_ids(self) -> list[str]:
        """Lines that would move if a drag began now."""
        raise NotImplementedError

    def startDrag(self, supported: Qt.DropAction) -> None:  # noqa: N802
        ids = self.dragged_line_ids
        if not ids:
            return
        drag = QDrag(self)
        drag.setMimeData(self._lines.mimeData(self.selectedIndexes()))
        words = self._lines.line_by_id(ids[0]).text if len(ids) == 1 else self.tr("%n line(s)", "", len(ids))
        drag.setPixmap(drag_pixmap(words, self))
        drag.setHotSpot(QPoint(-12, -8))  # beside the pointer, so that it does not cover the drop position
        drag.exec(supported, Qt.DropAction.MoveAction)
        self._show_gap(None)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        super().dragMoveEvent(event)
        self._show_gap(self._row_below(event.position().toPoint()) if event.isAccepted() else None)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802
        super().dragLeaveEvent(event)
        self._show_gap(None)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Also paint the position of dragged lines."""
        super().paintEvent(event)
        if self._gap is not None:
            painter = QPainter(self.viewport())
            painter.fillRect(self._gap_area(self._gap), QColor(theme_colors(self.palette()).accent))
            painter.end()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        """Emit ``lines_dragged``; the lines are moved by an undoable change of the project."""
        line_ids = self._lines.dragged_lines(event.mimeData())
        if line_ids:
            row = self._row_below(event.position().toPoint())
            event.setDropAction(Qt.DropAction.MoveAction)
            event.accept()
            # Emitted after the drag, because the view keeps its rows until then.
            QTimer.singleShot(0, self, lambda: self.lines_dragged.emit(line_ids, row))
        else:
            event.ignore()
        self.stopAutoScroll()
        self.setState(QAbstractItemView.State.NoState)
        self._show_gap(None)

    def _show_gap(self, row: int | None) -> None:
        if row != self._gap:
            self._gap = row
            self.viewport().update()

    def _gap_area(self, row: int) -> QRect:
        below = self.rowViewportPosition(row) if row < self._lines.rowCount() else self.verticalHeader().length()
        if row == self._lines.rowCount():
            below -= self.verticalHeader().offset()
        return QRect(0, max(0, below - _GAP_PIXELS // 2), self.viewport().width(), _GAP_PIXELS)

    def _row_below(self, place: QPoint) -> int:
        """Return the row below the gap nearest to ``place``."""
        index = self.indexAt(place)
        if not index.isValid():
            return self._lines.rowCount()
        row = index.row()
        if place.y() > self.visualRect(index).center().y():
            row += 1
            while row < self._lines.rowCount() and self.isRowHidden(row):  # below a folded heading
                row += 1
        return row
