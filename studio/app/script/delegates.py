"""Item delegates of the script table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QEvent,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QPainter, QPalette, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from studio.app.script.edits import Match
from studio.app.script.line_model import LINE_ROLE, PROGRESS_ROLE, STATE_ROLE, Index, LineModel
from studio.app.script.style_list import StyleList
from studio.app.script.text_field import TextField
from studio.app.script.text_painting import paint_highlighted
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.painting_guard import paints_safely
from studio.project.lines import Line, LineState, LineStyle
from studio.voices.voice import name_key

_MARGIN = 6
_ICON_SIDE = 16
CUSTOM_INSTRUCTION = "custom"  # data of the style box entry for an instruction in the user's words


def _state_colour(state: LineState, colors: ThemeColors) -> str:
    return {
        LineState.DRAFT: colors.quiet,
        LineState.OUTDATED: colors.warn,
        LineState.CHECK: colors.warn,
        LineState.QUEUED: colors.quiet,
        LineState.SPEAKING: colors.busy,
        LineState.READY: colors.good,
        LineState.FAILED: colors.bad,
    }[state]


@paints_safely
class CellDelegate(QStyledItemDelegate):
    """Base class of the delegates; paints no focus frame."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus

    def paint_background(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> QStyleOptionViewItem:
        """Paint an empty cell and return its options."""
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        cell.text = ""
        _style_of(cell).drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)
        return cell

    def commit_and_close(self, editor: QWidget) -> None:
        self.commitData.emit(editor)
        self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.NoHint)


@paints_safely
class NumberDelegate(CellDelegate):
    """Line number, with a lock icon for locked lines."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        line: Line = index.data(LINE_ROLE)
        if line.is_locked:
            rect: QRect = option.rect
            place = QRect(rect.left() + 3, rect.center().y() - _ICON_SIDE // 2, _ICON_SIDE, _ICON_SIDE)
            icon("lock", _text_color(option, theme_colors(option.palette).quiet)).paint(painter, place)


@paints_safely
class StateDelegate(CellDelegate):
    """State icon and text, with progress while speaking."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option, index)
        state: LineState = index.data(STATE_ROLE)
        rect: QRect = option.rect
        colour = _text_color(option, _state_colour(state, theme_colors(option.palette)))
        place = QRect(rect.left() + _MARGIN, rect.center().y() - _ICON_SIDE // 2, _ICON_SIDE, _ICON_SIDE)
        icon(f"state-{state.value}", colour).paint(painter, place)
        painter.save()
        painter.setPen(QColor(colour))
        words = rect.adjusted(_MARGIN + _ICON_SIDE + 5, 0, -2, 0)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), index.data())
        share = index.data(PROGRESS_ROLE) if state is LineState.SPEAKING else 0.0
        if share:
            painter.fillRect(QRectF(rect.left(), rect.bottom() - 2, rect.width() * share, 3), QColor(colour))
        painter.restore()


@paints_safely
class VoiceDelegate(CellDelegate):
    """Voice name, edited with a list of all voices."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._voices: tuple[str, ...] = ()
        self._keys: frozenset[str] | None = None  # None until the library has been read

    def set_voices(self, names: tuple[str, ...]) -> None:
        self._voices = names
        self._keys = frozenset(map(name_key, names))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        line: Line = index.data(LINE_ROLE)
        warn = theme_colors(cell.palette).warn
        if line.voice is None:
            cell.palette.setColor(QPalette.ColorRole.Text, QColor(warn))
        elif self._is_missing(line):
            cell.palette.setColor(QPalette.ColorRole.Text, QColor(warn))
            cell.icon = icon("warning", _text_color(option, warn))
            cell.decorationSize = QSize(_ICON_SIDE, _ICON_SIDE)
            cell.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        _style_of(cell).drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)

    def helpEvent(  # noqa: N802
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        line: Line | None = index.data(LINE_ROLE)
        if event.type() == QEvent.Type.ToolTip and line is not None and self._is_missing(line):
            QToolTip.showText(event.globalPos(), self.missing_words(line), view)
            return True
        return super().helpEvent(event, view, option, index)

    def missing_words(self, line: Line) -> str:
        words = self.tr("There is no voice named {name}. Choose another voice, or add one with this name.")
        return words.format(name=line.voice)

    def _is_missing(self, line: Line) -> bool:
        """Return whether the voice of ``line`` is not in the library, for example after it was deleted."""
        return line.voice is not None and self._keys is not None and name_key(line.voice) not in self._keys

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002, N802
        box = QComboBox(parent)
        box.setAccessibleName(self.tr("Line voice"))
        box.addItems(list(self._voices))
        box.activated.connect(lambda _: self.commit_and_close(box))
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        key = name_key(index.data(Qt.ItemDataRole.EditRole) or "")
        rows = range(editor.count())
        editor.setCurrentIndex(next((row for row in rows if name_key(editor.itemText(row)) == key), -1))
        editor.showPopup()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        if editor.currentIndex() >= 0:
            model.setData(index, editor.currentText())


@paints_safely
class StyleDelegate(CellDelegate):
    """Style name as a chip, edited with a list of the model's styles."""

    instruction_requested = Signal()

    def __init__(self, styles: StyleList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._styles = styles

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option, index)
        words: str = index.data()
        if not words:
            return
        rect: QRect = option.rect
        colors = theme_colors(option.palette)
        line: Line = index.data(LINE_ROLE)
        colour = QColor(_text_color(option, colors.accent if self._styles.supports(line.style) else colors.warn))
        metrics = option.fontMetrics
        available = rect.width() - 4 * _MARGIN
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, available)
        chip = QRectF(0, 0, metrics.horizontalAdvance(shown) + 2 * _MARGIN, metrics.height() + 6)
        chip.moveCenter(QRectF(rect).center())
        chip.moveLeft(rect.left() + _MARGIN)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colour)
        painter.drawRoundedRect(chip, chip.height() / 2, chip.height() / 2)
        painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), shown)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002, N802
        box = QComboBox(parent)
        box.setAccessibleName(self.tr("Line style"))
        fill_style_box(box, self._styles)
        box.activated.connect(lambda _: self._finish(box))
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        show_style(editor, self._styles, index.data(Qt.ItemDataRole.EditRole))
        editor.showPopup()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        chosen = editor.currentData()
        if chosen != CUSTOM_INSTRUCTION:
            model.setData(index, LineStyle(preset=chosen or None))

    def _finish(self, editor: QComboBox) -> None:
        is_custom = editor.currentData() == CUSTOM_INSTRUCTION
        self.commit_and_close(editor)
        if is_custom:
            self.instruction_requested.emit()


@paints_safely
class TextDelegate(CellDelegate):
    """Text on two lines, edited in a field that grows with it."""

    line_finished = Signal()
    texts_pasted = Signal(str)

    def __init__(self, styles: StyleList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._styles = styles
        self.stop_playback: Callable[[], bool] = lambda: False  # called on Esc; returns whether playback was stopped
        self._matches: dict[str, list[Match]] = {}  # by line id
        self._current_match: Match | None = None

    def mark_matches(self, matches: Sequence[Match], current: Match | None) -> None:
        self._matches = {}
        for match in matches:
            self._matches.setdefault(match.line_id, []).append(match)
        self._current_match = current

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: Line = index.data(LINE_ROLE)
        matches = self._matches.get(line.id)
        if matches is None:
            super().paint(painter, option, index)
            return
        cell = self.paint_background(painter, option, index)
        cell.text = line.text
        style = _style_of(cell)
        area = QRectF(style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, cell, cell.widget))
        # The same margin as in QStyledItemDelegate.
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, cell, cell.widget) + 1
        current = self._current_match
        paint_highlighted(
            painter,
            area.adjusted(margin, 0, -margin, 0),
            line.text,
            matches,
            current if current is not None and current.line_id == line.id else None,
            font=cell.font,
            palette=cell.palette,
            is_selected=bool(cell.state & QStyle.StateFlag.State_Selected),
        )

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002, N802
        return QSize(200, 2 * option.fontMetrics.lineSpacing() + 2 * _MARGIN)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002, N802
        field = TextField(self._styles, parent)
        place = QPersistentModelIndex(index)  # rows above may be inserted or removed
        field.begin_undo_step(index.data(Qt.ItemDataRole.EditRole))
        field.autosave_due.connect(lambda: self._autosave(field, place))
        field.cancelled.connect(lambda: self._cancel(field, place))
        field.line_finished.connect(lambda: self._finish(field))
        field.texts_pasted.connect(self.texts_pasted)
        return field

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
            field.mark_saved()  # otherwise the next key tries again

    def _cancel(self, field: TextField, place: QPersistentModelIndex) -> None:
        model = place.model()
        field.mark_saved()
        if place.isValid() and isinstance(model, LineModel):
            model.restore_text(place, field.text_before, field.merge_key)

    def _finish(self, editor: QWidget) -> None:
        self.commit_and_close(editor)
        self.line_finished.emit()


def _style_of(cell: QStyleOptionViewItem) -> QStyle:
    return cell.widget.style() if cell.widget else QApplication.style()


def fill_style_box(box: QComboBox, styles: StyleList) -> None:
    """Add the default style, all styles by category, and the custom instruction."""
    box.addItem(QCoreApplication.translate("StyleBox", "Default"), "")
    category = None
    for style in styles.styles:
        if style.category != category:
            category = style.category
            box.insertSeparator(box.count())
        box.addItem(f"{styles.category_name(style.category)}: {style.name}", style.family)
        if style.note:
            box.setItemData(box.count() - 1, style.note, Qt.ItemDataRole.ToolTipRole)
    box.insertSeparator(box.count())
    box.addItem(QCoreApplication.translate("StyleBox", "Custom instruction…"), CUSTOM_INSTRUCTION)


def show_style(box: QComboBox, styles: StyleList, style: LineStyle) -> None:
    """Select the entry of ``style``; add one for a style that the model does not support."""
    wanted = CUSTOM_INSTRUCTION if style.instruct else style.preset or ""
    place = box.findData(wanted)
    if place < 0:
        words = QCoreApplication.translate("StyleBox", "{style} (not supported by this model)")
        box.insertItem(1, words.format(style=styles.label(style)), wanted)
        place = 1
    box.setCurrentIndex(place)


def _text_color(option: QStyleOptionViewItem, colour: str) -> str:
    """Return ``colour``, or the colour of selected text on a selected row."""
    if option.state & QStyle.StateFlag.State_Selected:
        palette: QPalette = option.palette
        return palette.color(QPalette.ColorRole.HighlightedText).name()
    return colour
