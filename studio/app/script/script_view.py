"""The table of the script: choosing lines, writing in them, dropping texts."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from studio.app.script.delegates import (
    CellDelegate,
    NumberDelegate,
    StateDelegate,
    StyleDelegate,
    TextDelegate,
    VoiceDelegate,
)
from studio.app.script.line_model import Column, LineModel
from studio.app.script.style_list import StyleList
from studio.app.script.text_field import TextField

_WIDTHS = {
    Column.NUMBER: 52,
    Column.STATE: 124,
    Column.VOICE: 110,
    Column.STYLE: 130,
    Column.DURATION: 72,
    Column.TAKE: 64,
}


class ScriptView(QTableView):
    """One row a line; the selection is of whole rows."""

    current_line_changed = Signal(object)  # line id or None
    selection_changed = Signal()
    line_finished = Signal()  # Enter in the text: go on with the next line
    texts_pasted = Signal(str)
    own_words_wanted = Signal()
    lines_dragged = Signal(list, int)  # these lines are to stand before the line that is now at this row

    def __init__(self, model: LineModel, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = model
        self._last_line_id: str | None = None
        self._voice_delegate = VoiceDelegate(self)
        self._style_delegate = StyleDelegate(styles, self)
        self._text_delegate = TextDelegate(styles, self)
        self.setModel(model)
        self.setAccessibleName(self.tr("Script"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        # Only lines are taken here (``LineModel.mimeTypes``): files are for the whole window.
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(True)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._set_up_columns()
        self._connect()

    # For the window.

    @property
    def current_line_id(self) -> str | None:
        index = self.currentIndex()
        return self._lines.line_at(index.row()).id if index.isValid() else None

    @property
    def selected_line_ids(self) -> list[str]:
        """In the order of the script; the current line where nothing is selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        ids = [self._lines.line_at(row).id for row in rows]
        current = self.current_line_id
        return ids or ([current] if current else [])

    @property
    def writing_field(self) -> TextField | None:
        """Where somebody is writing a line just now."""
        field = self.indexWidget(self.currentIndex()) if self.currentIndex().isValid() else None
        found = field if isinstance(field, TextField) else self.viewport().findChild(TextField)
        return found if isinstance(found, TextField) and found.isVisible() else None

    def set_voices(self, names: tuple[str, ...]) -> None:
        self._voice_delegate.set_voices(names)

    def go_to(self, line_id: str, *, starts_writing: bool = False) -> None:
        row = self._lines.row_of(line_id)
        if row is None:
            return
        index = self._lines.index(row, Column.TEXT)
        self.setCurrentIndex(index)
        self.scrollTo(index)
        if starts_writing:
            self.setFocus()
            self.edit(index)

    def select_lines(self, line_ids: list[str]) -> None:
        """The first of them becomes the current one."""
        rows = [row for line_id in line_ids if (row := self._lines.row_of(line_id)) is not None]
        if not rows:
            return
        self.setCurrentIndex(self._lines.index(rows[0], Column.TEXT))
        chosen = QItemSelection()
        for row in rows:
            chosen.select(self._lines.index(row, 0), self._lines.index(row, len(Column) - 1))
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def commit_writing(self) -> None:
        """What is being written counts from now on; the field stays open."""
        field = self.writing_field
        if field is not None:
            self.commitData(field)

    # Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter and any letter write in the text, whichever cell is the current one."""
        is_plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        is_letter = is_plain and bool(event.text()) and event.text().isprintable()
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2)
        index = self.currentIndex()
        if not index.isValid() or not (is_letter or (is_enter and is_plain)):
            super().keyPressEvent(event)
            return
        text = index.siblingAtColumn(Column.TEXT)
        self.setCurrentIndex(text)
        if not text.flags() & Qt.ItemFlag.ItemIsEditable:
            return
        self.edit(text)
        field = self.writing_field
        if is_letter and field is not None:
            field.insertPlainText(event.text())

    def startDrag(self, supported: Qt.DropAction) -> None:  # noqa: N802
        """Not while somebody is writing: there, the mouse selects letters."""
        if self.writing_field is None:
            super().startDrag(supported)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        """The model moves nothing by itself: every change goes through the project, where it can be undone."""
        line_ids = self._lines.dragged_lines(event.mimeData())
        if line_ids:
            row = self._row_below(event.position().toPoint())
            event.setDropAction(Qt.DropAction.MoveAction)
            event.accept()
            # Once the drag is over: until then the view holds on to its rows.
            QTimer.singleShot(0, self, lambda: self.lines_dragged.emit(line_ids, row))
        else:
            event.ignore()
        self.stopAutoScroll()
        self.setState(QAbstractItemView.State.NoState)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._set_row_height()
        super().changeEvent(event)

    def context_position(self) -> QPoint:
        return self.visualRect(self.currentIndex()).center()

    # Inside.

    def _row_below(self, place: QPoint) -> int:
        """The row before which something dropped at ``place`` belongs: the nearest gap between two lines."""
        index = self.indexAt(place)
        if not index.isValid():
            return self._lines.rowCount()
        return index.row() + (1 if place.y() > self.visualRect(index).center().y() else 0)

    def _set_up_columns(self) -> None:
        for column, delegate in {
            Column.NUMBER: NumberDelegate(self),
            Column.STATE: StateDelegate(self),
            Column.VOICE: self._voice_delegate,
            Column.TEXT: self._text_delegate,
            Column.STYLE: self._style_delegate,
            Column.DURATION: CellDelegate(self),
            Column.TAKE: CellDelegate(self),
        }.items():
            self.setItemDelegateForColumn(column, delegate)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(Column.TEXT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(40)
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, width)
        self.verticalHeader().hide()
        self._set_row_height()

    def _set_row_height(self) -> None:
        """The same for all rows: thousands of lines must not be measured one by one."""
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(2 * self.fontMetrics().lineSpacing() + 12)

    def _connect(self) -> None:
        self.selectionModel().currentRowChanged.connect(lambda *_: self._tell_current())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        self._lines.modelReset.connect(self._tell_current)
        self._lines.rowsRemoved.connect(lambda *_: QTimer.singleShot(0, self._tell_current))
        self._text_delegate.line_finished.connect(self.line_finished)
        self._text_delegate.texts_pasted.connect(self.texts_pasted)
        self._style_delegate.own_words_wanted.connect(self.own_words_wanted)

    def _tell_current(self) -> None:
        line_id = self.current_line_id
        if line_id != self._last_line_id:
            self._last_line_id = line_id
            self.current_line_changed.emit(line_id)
