"""View of the script, as a manuscript or a compact table: selecting and editing lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    QAction,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from studio.app.script.delegates import (
    CellDelegate,
    NumberDelegate,
    StateDelegate,
    StyleDelegate,
    VerdictDelegate,
    VoiceDelegate,
)
from studio.app.script.dragging_view import DraggingView
from studio.app.script.edits import Match
from studio.app.script.hidden_rows import HiddenRows
from studio.app.script.line_model import Column, Index, LineModel, runs
from studio.app.script.manuscript_delegate import ManuscriptDelegate
from studio.app.script.manuscript_layout import RowKind, row_kind
from studio.app.script.row_heights import RowHeights
from studio.app.script.row_order import RowOrder
from studio.app.script.start_hint import StartHint
from studio.app.script.style_list import StyleList
from studio.app.script.table_columns import TableColumns
from studio.app.script.text_field import PLAIN_KEYS, TextField, types_letter
from studio.app.theme.sizes import GRID
from studio.app.voices.voice_items import VoiceNames
from studio.app.widgets.focus import holds_focus
from studio.app.widgets.painting_guard import paints_safely
from studio.project.lines import Heading, Line
from studio.project.text_places import TextRange
from studio.voices.voice import Voice

# In a view of at least this width, the names of voices are written out.
_NAMES_FROM = 1500
_CHARACTERS_FROM = 560  # the same for names of characters
_EDIT_TRIGGERS = (
    QAbstractItemView.EditTrigger.DoubleClicked
    | QAbstractItemView.EditTrigger.SelectedClicked
    | QAbstractItemView.EditTrigger.EditKeyPressed
)


@paints_safely
class ScriptView(DraggingView):
    """One row per line; whole rows are selected."""

    current_line_changed = Signal(object)  # line id or None
    selection_changed = Signal()
    speaker_clicked = Signal(str, QPoint)  # the id of the current line, and where its name was clicked

    def __init__(self, model: LineModel, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._last_line_id: str | None = None
        self._last_row = 0
        self._pressed_name: int | None = None  # the row of the current line
        self._selected_ids: list[str] | None = None  # until the selection or the order of the rows changes
        self._voices = VoiceNames()
        self._styles = styles
        self.start_hint: StartHint | None = None
        self.style_delegate = StyleDelegate(styles, self)
        self.text_delegate = ManuscriptDelegate(styles, self._voices, self)
        self.setModel(model)
        self.row_heights = RowHeights(self, model, self.text_delegate)
        self.hidden_rows = HiddenRows(self, model, self.row_heights)
        self.row_order = RowOrder(self, model)
        self.text_delegate.is_folded = self.hidden_rows.is_folded
        self.setAccessibleName(self.tr("Script"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(_EDIT_TRIGGERS)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._columns = TableColumns(self, model)
        self._set_up_columns()
        self._connect()
        self.set_compact(is_compact=False)

    @property
    def is_compact(self) -> bool:
        return self.text_delegate.is_compact

    def set_compact(self, *, is_compact: bool) -> None:
        """Show the script as a compact table or as a manuscript."""
        self.commit_text()
        line_id = self.current_line_id
        self.text_delegate.is_compact = is_compact
        self.setAlternatingRowColors(is_compact)
        self._columns.show(is_table=is_compact)
        if is_compact:
            self.row_heights.stop()
            self._set_row_height()
            self.hidden_rows.apply()
        else:
            self.row_order.reset()
            self._fit_rows()
            self.row_heights.start()
        if line_id is not None:
            self.hidden_rows.reveal(line_id)
            self._scroll_to_row(self.currentIndex().row())

    @property
    def dragged_line_ids(self) -> list[str]:
        """No lines while a text field is open (the mouse selects text in it) or while the table is sorted."""
        return [] if self.text_field is not None or self.row_order.is_sorted else self.selected_line_ids

    @property
    def current_line_id(self) -> str | None:
        index = self.currentIndex()
        return self._lines.line_at(index.row()).id if index.isValid() else None

    @property
    def selected_line_ids(self) -> list[str]:
        """Selected lines in the order of the script; the current line if none is selected."""
        if self._selected_ids is None:
            self._selected_ids = self._read_selection()
        current = self.current_line_id
        return list(self._selected_ids) or ([current] if current else [])

    def _read_selection(self) -> list[str]:
        # ``selectedRows`` would ask the model for the flags of every cell, which takes seconds in a long script.
        selection = self.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        rows = sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})
        shown = self.hidden_rows.shown  # a range from one shown line to another includes hidden ones
        script = self._lines.script.lines
        ids = [script[row].id for row in rows]
        return ids if shown is None else [line_id for line_id in ids if line_id in shown]

    def _forget_selection(self) -> None:
        self._selected_ids = None

    @property
    def text_field(self) -> TextField | None:
        """The open text field, if any."""
        field = self.indexWidget(self.currentIndex()) if self.currentIndex().isValid() else None
        found = field if isinstance(field, TextField) else self.viewport().findChild(TextField)
        return found if isinstance(found, TextField) and found.isVisible() else None

    def line_at(self, place: QPoint) -> tuple[Line, QRect] | None:
        """Return the line at a point in the viewport and the visible part of its row; None outside the rows."""
        index = self.indexAt(place) if self.viewport().rect().contains(place) else QModelIndex()
        if not index.isValid():
            return None
        row = self.visualRect(index)
        row.setLeft(0)
        row.setRight(self.viewport().width() - 1)
        return self._lines.line_at(index.row()), row.intersected(self.viewport().rect())

    def set_voices(self, voices: Sequence[Voice]) -> None:
        self._voices.use(voices)
        self.viewport().update()

    def mark_matches(self, matches: Sequence[Match], current: Match | None) -> None:
        """Highlight ``matches`` in their rows, with the strongest highlight on ``current``."""
        self.text_delegate.mark_matches(matches, current)
        self.viewport().update()

    def mark_spoken_word(self, line_id: str, word: TextRange | None) -> None:
        """Highlight the word of a line that is being played."""
        before, self.text_delegate.spoken_word = (
            self.text_delegate.spoken_word,
            None if word is None else (line_id, word),
        )
        if before != self.text_delegate.spoken_word:
            for each in {found[0] for found in (before, self.text_delegate.spoken_word) if found}:
                row = self._lines.row_of(each)
                if row is not None:
                    self.viewport().update(self.visualRect(self._lines.index(row, Column.TEXT)))

    def go_to(self, line_id: str, *, starts_editing: bool = False) -> None:
        row = self._lines.row_of(line_id)
        if row is None:
            return
        index = self._lines.index(row, Column.TEXT)
        self.hidden_rows.reveal(line_id)
        self._choose(index)
        self._scroll_to_row(row)
        if starts_editing:
            self.setFocus()
            self._open_field(index)

    def _scroll_to_row(self, row: int) -> None:
        self.row_heights.measure_around(row)
        self.scrollTo(self._lines.index(row, Column.TEXT))

    def select_lines(self, line_ids: list[str]) -> None:
        """Select lines; the first becomes the current one."""
        rows = [row for line_id in line_ids if (row := self._lines.row_of(line_id)) is not None]
        if not rows:
            return
        self.setCurrentIndex(self._lines.index(rows[0], Column.TEXT))
        chosen = QItemSelection()
        for first, last in runs(sorted(rows)):
            chosen.select(self._lines.index(first, 0), self._lines.index(last, len(Column) - 1))
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def leave_hidden_line(self) -> None:
        """If the filter hides the current line, go to the nearest shown one."""
        nearest = self.hidden_rows.nearest_shown(self.currentIndex().row())
        if nearest is not None and nearest != self.currentIndex().row():
            self._choose(self._lines.index(nearest, Column.TEXT))

    def commit_text(self) -> None:
        """Commit the text being edited; the field stays open."""
        field = self.text_field
        if field is not None:
            self.commitData(field)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Edit the text on Enter, F2 or any character, whichever cell is current; fold headings on Left and Right."""
        if not self.is_compact and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.modifiers():
            self._fold(self.currentIndex(), is_folded=event.key() == Qt.Key.Key_Left)
            return
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

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Fold or unfold a heading on a click on its arrow."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.button() == Qt.MouseButton.LeftButton and self._is_on_arrow(index, event):
            line = self._lines.line_at(index.row())
            self._fold(index, is_folded=not self.hidden_rows.is_folded(line.id))
            return
        is_only_one = len(self.selectionModel().selectedRows()) == 1 and index.row() == self.currentIndex().row()
        self._pressed_name = index.row() if is_only_one and self._is_on_name(index, event) else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Offer other speakers after a click on the name of the current line."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if self._pressed_name is not None and index.row() == self._pressed_name and self._is_on_name(index, event):
            self.speaker_clicked.emit(self._lines.line_at(index.row()).id, event.globalPosition().toPoint())
        self._pressed_name = None

    def _is_on_name(self, index: QModelIndex, event: QMouseEvent) -> bool:
        is_plain = event.button() == Qt.MouseButton.LeftButton and not event.modifiers()
        if self.is_compact or not index.isValid() or not is_plain:
            return False
        kind = row_kind(self._lines.line_at(index.row()))
        left = event.position().x() - self.visualRect(index).left()
        return kind is RowKind.SPOKEN and left < self.text_delegate.layouts.columns.text_left

    def _is_on_arrow(self, index: QModelIndex, event: QMouseEvent) -> bool:
        line = self._lines.line_at(index.row())
        if self.is_compact or line.heading is Heading.NONE:
            return False
        place = event.position().toPoint() - self.visualRect(index).topLeft()
        return place.x() <= self.text_delegate.arrow_area(self.text_delegate.row_layout(line)).right() + GRID // 2

    def _fold(self, index: Index, *, is_folded: bool) -> None:
        """Fold or unfold the chapter or scene at ``index``, or fold the one that contains an ordinary line."""
        if not index.isValid():
            return
        row = index.row()
        if self._lines.line_at(row).heading is Heading.NONE:
            above = [section.row for section in self._lines.sections if section.row < row < section.end]
            if not is_folded or not above:
                return
            row = above[-1]
        line_id = self._lines.line_at(row).id
        self.commit_text()
        self.hidden_rows.set_folded(line_id, is_folded=is_folded)
        if row != index.row():
            self.go_to(line_id)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:  # noqa: N802
        """Begin to edit with the first key of a composition, such as a Chinese word or an accented letter."""
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
        """Keep the selection when the user clicks below the last line: the inspector and shortcuts need it.

        Unless several lines are selected, select the line that Ctrl+Home or Ctrl+End moves to. Qt would only make it
        current.
        """
        if not index.isValid():
            return QItemSelectionModel.SelectionFlag.NoUpdate
        if isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            selection = self.selectionModel().selection()
            has_several = selection.count() > 1 or (not selection.isEmpty() and selection.at(0).height() > 1)
            if not has_several and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                return QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        return super().selectionCommand(index, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        self.row_heights.measure_visible()
        super().paintEvent(event)

    def offer_start(self, actions: Iterable[QAction]) -> None:
        """Show a hint with buttons for ``actions`` while the script is empty."""
        self.start_hint = StartHint(actions, self.viewport())
        for changed in (
            self._lines.dataChanged,
            self._lines.rowsInserted,
            self._lines.rowsRemoved,
            self._lines.modelReset,
        ):
            changed.connect(self._place_start_hint)
        self._place_start_hint()

    def _place_start_hint(self) -> None:
        if self.start_hint is None:
            return
        num_rows = self._lines.rowCount()
        is_empty = num_rows == 0 or (num_rows == 1 and not self._lines.line_at(0).text)
        if is_empty:
            room = self.viewport().rect().adjusted(0, self.rowHeight(0) if num_rows else 0, 0, 0)
            wanted = self.start_hint.sizeHint().boundedTo(room.size())
            place = QRect(QPoint(), wanted)
            place.moveCenter(room.center())
            self.start_hint.setGeometry(place)
        elif holds_focus(self.start_hint):
            self.setFocus()
        self.start_hint.setVisible(is_empty)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        current = self.visualRect(self.currentIndex())
        was_visible = current.isValid() and current.top() >= 0 and current.bottom() <= event.oldSize().height()
        super().resizeEvent(event)
        self._fit_rows()
        self._place_start_hint()
        if was_visible:  # for example when a panel opens below the script
            self.scrollTo(self.currentIndex())

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: N802
        super().scrollContentsBy(dx, dy)
        self.row_heights.measure_visible()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._set_row_height()
        super().changeEvent(event)

    def _choose(self, index: Index) -> None:
        """Select only this line. setCurrentIndex() would extend the selection if Shift is held for a shortcut."""
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
        self.edit(
            index, QAbstractItemView.EditTrigger.CurrentChanged, QEvent(QEvent.Type.None_)
        )  # only cancels the delayed edit

    def _set_up_columns(self) -> None:
        for column, delegate in {
            Column.NUMBER: NumberDelegate(self),
            Column.STATE: StateDelegate(self),
            Column.VERDICT: VerdictDelegate(self),
            Column.VOICE: VoiceDelegate(self._voices, self._styles, self),
            Column.TEXT: self.text_delegate,
            Column.STYLE: self.style_delegate,
            Column.DURATION: CellDelegate(self),
            Column.TAKE: CellDelegate(self),
            Column.CHARACTER: CellDelegate(self),
            Column.FILE_NAME: CellDelegate(self),
            Column.NOTE: CellDelegate(self),
            Column.START: CellDelegate(self),
            Column.SLOT: CellDelegate(self),
        }.items():
            self.setItemDelegateForColumn(column, delegate)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(8)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setUpdatesEnabled(False)  # otherwise resizing a row moves all rows below at once
        self._set_row_height()

    def _fit_rows(self) -> None:
        """Follow the width of the view."""
        if self.is_compact:
            self._columns.fit()
            return
        is_wide = self.window().width() >= _NAMES_FROM and self.viewport().width() >= _NAMES_FROM // 2
        has_names = is_wide or (self._lines.has_characters and self.viewport().width() >= _CHARACTERS_FROM)
        if self.text_delegate.layouts.fit(
            self.viewport().width(), has_names=has_names, has_slots=self._lines.has_slots
        ):
            self.row_heights.measure_again()

    def _set_row_height(self) -> None:
        """In the compact table, all rows have one height."""
        self.text_delegate.layouts.use_application_font()
        self.row_heights.measure_again()
        if self.is_compact:
            height = self.fontMetrics().lineSpacing() + 12
            header = self.verticalHeader()
            header.setDefaultSectionSize(height)  # if it differs, this resizes all rows that are not hidden
            for row in range(header.count()):
                if header.sectionSize(row) != height:
                    header.resizeSection(row, height)

    def _connect(self) -> None:
        lines = self._lines
        for changed in (lines.rowsInserted, lines.rowsRemoved, lines.layoutChanged, lines.modelReset):
            changed.connect(self._forget_selection)
        self.selectionModel().selectionChanged.connect(self._forget_selection)
        self.hidden_rows.changed.connect(self._forget_selection)
        self.selectionModel().currentRowChanged.connect(lambda *_: self._emit_current())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        self._lines.modelReset.connect(self._emit_current)
        for changed in (lines.rowsInserted, lines.modelReset, lines.columns_changed):
            changed.connect(self._fit_rows)  # lines may have the first slot, character or verdict
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
