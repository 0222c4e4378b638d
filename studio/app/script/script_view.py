"""Table view of the script: selecting, editing and dragging lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QDrag,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from studio.app.script.delegates import (
    CellDelegate,
    NumberDelegate,
    StateDelegate,
    StyleDelegate,
    TextDelegate,
    VoiceDelegate,
)
from studio.app.script.edits import Match
from studio.app.script.line_model import Column, Index, LineModel
from studio.app.script.style_list import StyleList
from studio.app.script.text_field import PLAIN_KEYS, TextField, types_letter
from studio.app.script.text_painting import drag_pixmap
from studio.app.theme.colors import theme_colors
from studio.app.widgets.painting_guard import paints_safely
from studio.project.lines import Line

_GAP_PIXELS = 4
# Column widths from wide to narrow; hidden columns leave space for the text and are shown in the inspector.
_WIDTHS: tuple[dict[Column, int], ...] = (
    {Column.NUMBER: 52, Column.STATE: 124, Column.VOICE: 110, Column.STYLE: 130, Column.DURATION: 72, Column.TAKE: 64},
    {Column.NUMBER: 48, Column.STATE: 118, Column.VOICE: 84, Column.STYLE: 92, Column.DURATION: 60, Column.TAKE: 56},
    {Column.NUMBER: 48, Column.STATE: 118, Column.VOICE: 84, Column.STYLE: 92, Column.DURATION: 60},
    {Column.NUMBER: 48, Column.STATE: 118, Column.VOICE: 84, Column.STYLE: 92},
    {Column.NUMBER: 48, Column.STATE: 118, Column.VOICE: 84},
    {Column.NUMBER: 40, Column.STATE: 112},
)
_LEAST_TEXT_LETTERS = 32
_EDIT_TRIGGERS = (
    QAbstractItemView.EditTrigger.DoubleClicked
    | QAbstractItemView.EditTrigger.SelectedClicked
    | QAbstractItemView.EditTrigger.EditKeyPressed
)


@paints_safely
class ScriptView(QTableView):
    """One row per line; whole rows are selected."""

    current_line_changed = Signal(object)  # line id or None
    selection_changed = Signal()
    lines_dragged = Signal(list, int)  # line ids, row of the line before which they are dropped

    def __init__(self, model: LineModel, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = model
        self._last_line_id: str | None = None
        self._last_row = 0
        self._widths: dict[Column, int] | None = None
        self._gap: int | None = None  # row above which dragged lines would be dropped
        self._voice_delegate = VoiceDelegate(self)
        self.style_delegate = StyleDelegate(styles, self)
        self.text_delegate = TextDelegate(styles, self)
        self.setModel(model)
        self.setAccessibleName(self.tr("Script"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(_EDIT_TRIGGERS)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        # Only lines are accepted here (``LineModel.mimeTypes``); the window accepts files.
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(False)  # replaced by a more visible one, see paintEvent
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._set_up_columns()
        self._connect()

    @property
    def current_line_id(self) -> str | None:
        index = self.currentIndex()
        return self._lines.line_at(index.row()).id if index.isValid() else None

    @property
    def selected_line_ids(self) -> list[str]:
        """Selected lines in the order of the script; the current line if none is selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        ids = [self._lines.line_at(row).id for row in rows]
        current = self.current_line_id
        return ids or ([current] if current else [])

    @property
    def text_field(self) -> TextField | None:
        """The open text field, if any."""
        field = self.indexWidget(self.currentIndex()) if self.currentIndex().isValid() else None
        found = field if isinstance(field, TextField) else self.viewport().findChild(TextField)
        return found if isinstance(found, TextField) and found.isVisible() else None

    def line_at(self, place: QPoint) -> tuple[Line, QRect] | None:
        """Return the line at a point of the viewport and the visible part of its row; None outside the lines."""
        index = self.indexAt(place) if self.viewport().rect().contains(place) else QModelIndex()
        if not index.isValid():
            return None
        row = self.visualRect(index)
        row.setLeft(0)
        row.setRight(self.viewport().width() - 1)
        return self._lines.line_at(index.row()), row.intersected(self.viewport().rect())

    def set_voices(self, names: tuple[str, ...]) -> None:
        self._voice_delegate.set_voices(names)
        self.viewport().update()

    def mark_matches(self, matches: Sequence[Match], current: Match | None) -> None:
        """Highlight ``matches`` in their rows, with the strongest highlight on ``current``."""
        self.text_delegate.mark_matches(matches, current)
        self.viewport().update()

    def go_to(self, line_id: str, *, starts_editing: bool = False) -> None:
        row = self._lines.row_of(line_id)
        if row is None:
            return
        index = self._lines.index(row, Column.TEXT)
        self._choose(index)
        self.scrollTo(index)
        if starts_editing:
            self.setFocus()
            self._open_field(index)

    def select_lines(self, line_ids: list[str]) -> None:
        """Select lines; the first becomes the current one."""
        rows = [row for line_id in line_ids if (row := self._lines.row_of(line_id)) is not None]
        if not rows:
            return
        self.setCurrentIndex(self._lines.index(rows[0], Column.TEXT))
        chosen = QItemSelection()
        for row in rows:
            chosen.select(self._lines.index(row, 0), self._lines.index(row, len(Column) - 1))
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def commit_text(self) -> None:
        """Commit the text being edited; the field stays open."""
        field = self.text_field
        if field is not None:
            self.commitData(field)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Edit the text on Enter, F2 or any character, whichever cell is current."""
        is_letter = types_letter(event)
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2)
        is_plain = not event.modifiers() & ~PLAIN_KEYS
        text = self.currentIndex().siblingAtColumn(Column.TEXT)
        if not text.isValid() or not (is_letter or (is_enter and is_plain)):
            super().keyPressEvent(event)
            return
        self._choose(text)
        field = self._open_field(text)
        if is_letter and field is not None:
            field.insertPlainText(event.text())

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:  # noqa: N802
        """Edit the text from the first key of a composition, such as Chinese words or accented letters."""
        text = self.currentIndex().siblingAtColumn(Column.TEXT)
        if not text.isValid() or self.text_field is not None:
            super().inputMethodEvent(event)
            return
        if event.preeditString():
            self._choose(text)
            self._cancel_delayed_edit(text)
            # Only with this trigger does Qt open the editor without interrupting the composition.
            self.setEditTriggers(_EDIT_TRIGGERS | QAbstractItemView.EditTrigger.AnyKeyPressed)
            super().inputMethodEvent(event)
            self.setEditTriggers(_EDIT_TRIGGERS)
        elif event.commitString():
            self._choose(text)
            if field := self._open_field(text):
                QCoreApplication.sendEvent(field, event)

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802
        super().currentChanged(current, previous)
        self._update_input_method()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        self._update_input_method()

    def selectionCommand(  # noqa: N802
        self, index: Index, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Keep the selection when the user clicks below the last line: the inspector and shortcuts need it."""
        if not index.isValid():
            return QItemSelectionModel.SelectionFlag.NoUpdate
        return super().selectionCommand(index, event)

    def startDrag(self, supported: Qt.DropAction) -> None:  # noqa: N802
        """Drag lines, except while a text field is open, where the mouse selects text."""
        ids = self.selected_line_ids
        if self.text_field is not None or not ids:
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
        """Also paint the position of dragged lines, and a hint while the script is empty."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        if self._gap is not None:
            painter.fillRect(self._gap_area(self._gap), self.palette().color(QPalette.ColorRole.Highlight))
        num_rows = self._lines.rowCount()
        if num_rows > 1 or (num_rows and self._lines.line_at(0).text) or self.text_field is not None:
            return
        painter.setPen(theme_colors(self.palette()).quiet)
        words = self.tr(
            "Write a line and press Ctrl+Enter to hear it.\n\n"
            "Paste or open a text to split it into lines.\n"
            "Drop a recording here to create a voice."
        )
        below_rows = self.viewport().rect().adjusted(0, self.rowHeight(0) if num_rows else 0, 0, 0)
        painter.drawText(below_rows, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), words)

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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit_columns()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._set_row_height()
        super().changeEvent(event)

    def _choose(self, index: Index) -> None:
        """Select only this line. setCurrentIndex() would extend the selection while Shift is held for a shortcut."""
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)

    def _open_field(self, text: Index) -> TextField | None:
        """Open the text field of a line; return None if the line is locked."""
        if not self._lines.flags(text) & Qt.ItemFlag.ItemIsEditable:
            return None
        if self.indexWidget(text) is None:
            self._cancel_delayed_edit(text)
            self.edit(text)
        return self.text_field

    def _update_input_method(self) -> None:
        """Enable the input method in every cell of an editable line; Qt enables it only in the text cell."""
        text = self.currentIndex().siblingAtColumn(Column.TEXT)
        is_writable = bool(text.flags() & Qt.ItemFlag.ItemIsEditable)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, is_writable)

    def _cancel_delayed_edit(self, index: Index) -> None:
        """Cancel the delayed edit that Qt starts after a click on a selected line; until then it opens no editor."""
        self.edit(index, QAbstractItemView.EditTrigger.CurrentChanged, QEvent(QEvent.Type.None_))  # only cancels

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
        """Return the row below the gap between lines that is nearest to ``place``."""
        index = self.indexAt(place)
        if not index.isValid():
            return self._lines.rowCount()
        return index.row() + (1 if place.y() > self.visualRect(index).center().y() else 0)

    def _set_up_columns(self) -> None:
        for column, delegate in {
            Column.NUMBER: NumberDelegate(self),
            Column.STATE: StateDelegate(self),
            Column.VOICE: self._voice_delegate,
            Column.TEXT: self.text_delegate,
            Column.STYLE: self.style_delegate,
            Column.DURATION: CellDelegate(self),
            Column.TAKE: CellDelegate(self),
        }.items():
            self.setItemDelegateForColumn(column, delegate)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(Column.TEXT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        self.verticalHeader().hide()
        self._set_row_height()

    def _fit_columns(self) -> None:
        """Use the widest columns that leave space for the text; widths set by the user stay while these fit."""
        least = _LEAST_TEXT_LETTERS * self.fontMetrics().averageCharWidth()
        room = self.viewport().width() - least
        widths = next((each for each in _WIDTHS if sum(each.values()) <= room), _WIDTHS[-1])
        if widths is self._widths:
            return
        self._widths = widths
        for column in Column:
            self.setColumnHidden(column, column is not Column.TEXT and column not in widths)
            if column in widths:
                self.setColumnWidth(column, widths[column])

    def _set_row_height(self) -> None:
        """Use one height for all rows, so that thousands of lines need not be measured."""
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(2 * self.fontMetrics().lineSpacing() + 12)

    def _connect(self) -> None:
        self.selectionModel().currentRowChanged.connect(lambda *_: self._emit_current())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        self._lines.modelReset.connect(self._emit_current)
        for gone in (self._lines.rowsRemoved, self._lines.layoutChanged):
            gone.connect(lambda *_: QTimer.singleShot(0, self, self._restore_selection))

    def _restore_selection(self) -> None:
        """If the selected line was removed, for example by undo, select the line now in its row."""
        index, num_rows = self.currentIndex(), self._lines.rowCount()
        if not index.isValid() and num_rows:
            index = self._lines.index(min(self._last_row, num_rows - 1), Column.TEXT)
        if index.isValid() and not self.selectionModel().hasSelection():
            self._choose(index)
        self._emit_current()

    def _emit_current(self) -> None:
        line_id = self.current_line_id
        if self.currentIndex().isValid():
            self._last_row = self.currentIndex().row()
        if line_id != self._last_line_id:
            self._last_line_id = line_id
            self.current_line_changed.emit(line_id)
