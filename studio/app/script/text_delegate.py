"""Item delegate of the text of lines, which is edited in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPalette, QTextCursor
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from studio.app.script.delegates import CellDelegate, style_of
from studio.app.script.edits import Match
from studio.app.script.line_model import LINE_ROLE, PROBLEMS_ROLE, Index, LineModel
from studio.app.script.style_list import StyleList
from studio.app.script.text_field import TextField
from studio.app.script.text_painting import Look, paint_highlighted, problem_look, spoken_look
from studio.app.widgets.painting_guard import paints_safely
from studio.project.lines import Heading, Line
from studio.project.text_places import TextRange

_MARGIN = 6


@paints_safely
class TextDelegate(CellDelegate):
    """Text in one row of the compact table, edited in a field that grows with the text."""

    line_finished = Signal(bool)  # whether the cursor was at the end of the text
    texts_pasted = Signal(str)

    def __init__(self, styles: StyleList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._styles = styles
        self.stop_playback: Callable[[], bool] = lambda: False  # called on Esc; returns whether playback was stopped
        self._matches: dict[str, list[Match]] = {}  # matches by line id
        self._current_match: Match | None = None
        self.spoken_word: tuple[str, TextRange] | None = None  # line id, and the word that is being played

    def mark_matches(self, matches: Sequence[Match], current: Match | None) -> None:
        self._matches = {}
        for match in matches:
            self._matches.setdefault(match.line_id, []).append(match)
        self._current_match = current

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        super().initStyleOption(option, index)
        line: Line = index.data(LINE_ROLE)
        font = QFont(option.font)
        font.setBold(line.heading is not Heading.NONE)
        font.setItalic(not line.is_spoken and line.heading is Heading.NONE)
        option.font = font

    def matches_of(self, line: Line) -> tuple[Sequence[Match], Match | None]:
        """Return the matches in a line, and the current match if it is in this line."""
        current = self._current_match
        return self._matches.get(line.id, ()), current if current and current.line_id == line.id else None

    def looks_of(self, index: Index, palette: QPalette) -> list[Look]:
        """Return the marks of problems, and of the word that is being played."""
        line: Line = index.data(LINE_ROLE)
        problems: tuple[TextRange, ...] = index.data(PROBLEMS_ROLE)
        looks = [problem_look(place, palette) for place in problems]
        if self.spoken_word is not None and self.spoken_word[0] == line.id:
            looks.append(spoken_look(self.spoken_word[1], palette))
        return looks

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: Line = index.data(LINE_ROLE)
        matches, current = self.matches_of(line)
        looks = self.looks_of(index, option.palette)
        if not matches and not looks:
            super().paint(painter, option, index)
            return
        cell = self.paint_background(painter, option, index)
        cell.text = line.text
        style = style_of(cell)
        area = QRectF(style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, cell, cell.widget))
        # The same margin as in QStyledItemDelegate.
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, cell, cell.widget) + 1
        paint_highlighted(
            painter,
            area.adjusted(margin, 0, -margin, 0),
            line.text,
            matches,
            current,
            font=cell.font,
            palette=cell.palette,
            is_selected=bool(cell.state & QStyle.StateFlag.State_Selected),
            looks=looks,
        )

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002, N802
        return QSize(200, option.fontMetrics.lineSpacing() + 2 * _MARGIN)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002, N802
        field = self.make_field(parent, index)
        place = QPersistentModelIndex(index)  # rows above may be inserted or removed
        field.begin_undo_step(index.data(Qt.ItemDataRole.EditRole))
        field.autosave_due.connect(lambda: self._autosave(field, place))
        field.cancelled.connect(lambda: self._cancel(field, place))
        field.line_finished.connect(lambda: self._finish(field))
        field.texts_pasted.connect(self.texts_pasted)
        return field

    def make_field(self, parent: QWidget, index: Index) -> TextField:  # noqa: ARG002 - for subclasses
        return TextField(self._styles, parent)

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, TextField)
        # Rows change while lines are spoken. Keep the cursor, and text that is being typed or composed.
        text: str = index.data(Qt.ItemDataRole.EditRole)
        if not editor.document().isModified() and editor.toPlainText() != text:
            editor.setPlainText(text)
            editor.moveCursor(QTextCursor.MoveOperation.End)
            editor.mark_saved()
            editor.begin_undo_step(text)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, TextField)
        assert isinstance(model, LineModel)
        model.write_text(index, editor.toPlainText(), editor.merge_key)
        editor.mark_saved()
        editor.document().clearUndoRedoStacks()  # from now on, the undo stack of the script handles undo
        editor.begin_undo_step(editor.toPlainText())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: ARG002, N802
        assert isinstance(editor, TextField)
        editor.fit(option.rect)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """While the tag list is open, leave all keys to it; otherwise Esc stops playback or cancels editing."""
        if isinstance(event, QKeyEvent) and isinstance(watched, TextField):
            if watched.is_completing:
                return False
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
                if self.stop_playback():
                    return True
                watched.cancelled.emit()
        return super().eventFilter(watched, event)

    def _autosave(self, field: TextField, place: QPersistentModelIndex) -> None:
        """Save the typed text; the field keeps its cursor and undo steps."""
        model = place.model()
        if not place.isValid() or not isinstance(model, LineModel) or not field.document().isModified():
            return
        if model.autosave_text(place, field.toPlainText(), field.merge_key):
            field.mark_saved()  # otherwise the next key saves again

    def _cancel(self, field: TextField, place: QPersistentModelIndex) -> None:
        model = place.model()
        field.mark_saved()
        if place.isValid() and isinstance(model, LineModel):
            model.restore_text(place, field.text_before, field.merge_key)

    def _finish(self, editor: TextField) -> None:
        is_at_end = editor.textCursor().atEnd()
        self.commit_and_close(editor)
        self.line_finished.emit(is_at_end)
