"""Item delegates of the compact table: number, state, verdict, voice and style."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QEvent,
    QObject,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPalette, QStandardItemModel
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

from studio.app.checking.verdicts import VerdictMark
from studio.app.script.line_model import LINE_ROLE, PROGRESS_ROLE, STATE_ROLE, VERDICT_ROLE, Index
from studio.app.script.style_list import StyleList
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.icons import icon
from studio.app.theme.sizes import SELECTION_BAR
from studio.app.voices.voice_items import VoiceNames, fill_voice_box, row_of_voice
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.wide_list_box import WideListBox
from studio.project.lines import Line, LineState, LineStyle

_MARGIN = 6
_ICON_SIDE = 16
CUSTOM_INSTRUCTION = "custom"  # data of the style box entry for an instruction in the user's words


def state_colour(state: LineState, colors: ThemeColors) -> str:
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
        style_of(cell).drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)
        return cell

    def commit_and_close(self, editor: QWidget) -> None:
        self.commitData.emit(editor)
        self.closeEditor.emit(editor, QStyledItemDelegate.EndEditHint.NoHint)


@paints_safely
class NumberDelegate(CellDelegate):
    """Line number, with a lock icon for locked lines and a bar for a selected row."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        paint_selection_bar(painter, option)
        line: Line = index.data(LINE_ROLE)
        if line.is_locked:
            rect: QRect = option.rect
            place = QRect(rect.left() + 3, rect.center().y() - _ICON_SIDE // 2, _ICON_SIDE, _ICON_SIDE)
            icon("lock", theme_colors(option.palette).quiet).paint(painter, place)


@paints_safely
class StateDelegate(CellDelegate):
    """State icon and text, with progress while speaking."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option, index)
        state: LineState = index.data(STATE_ROLE)
        rect: QRect = option.rect
        line: Line = index.data(LINE_ROLE)
        if not line.is_spoken:
            return
        colour = state_colour(state, theme_colors(option.palette))
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
class VerdictDelegate(CellDelegate):
    """Icon and name of the verdict on the chosen take."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option, index)
        mark: VerdictMark | None = index.data(VERDICT_ROLE)
        line: Line = index.data(LINE_ROLE)
        if mark is None or not line.is_spoken:
            return
        rect: QRect = option.rect
        colour = mark.colour(theme_colors(option.palette))
        place = QRect(rect.left() + _MARGIN, rect.center().y() - _ICON_SIDE // 2, _ICON_SIDE, _ICON_SIDE)
        icon(mark.icon, colour).paint(painter, place)
        words = rect.adjusted(_MARGIN + _ICON_SIDE + 5, 0, -2, 0)
        shown = option.fontMetrics.elidedText(mark.name, Qt.TextElideMode.ElideRight, words.width())
        painter.save()
        painter.setPen(QColor(colour))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.restore()


@paints_safely
class VoiceDelegate(CellDelegate):
    """Voice name, edited with a list of all voices."""

    def __init__(self, voices: VoiceNames, styles: StyleList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._voices = voices
        self._styles = styles

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        line: Line = index.data(LINE_ROLE)
        warn = theme_colors(cell.palette).warn
        if not line.is_spoken:
            cell.text = ""
        elif line.voice is None:
            cell.palette.setColor(QPalette.ColorRole.Text, QColor(warn))
        elif self._voices.is_missing(line):
            cell.palette.setColor(QPalette.ColorRole.Text, QColor(warn))
            cell.icon = icon("warning", warn)
            cell.decorationSize = QSize(_ICON_SIDE, _ICON_SIDE)
            cell.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        style_of(cell).drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)

    def helpEvent(  # noqa: N802
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        line: Line | None = index.data(LINE_ROLE)
        if event.type() == QEvent.Type.ToolTip and line is not None and self._voices.is_missing(line):
            QToolTip.showText(event.globalPos(), self._voices.missing_words(line), view)
            return True
        return super().helpEvent(event, view, option, index)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002, N802
        box = WideListBox(parent)
        box.setAccessibleName(self.tr("Line voice"))
        fill_voice_box(box, self._voices.voices, self._styles.generation)
        box.activated.connect(lambda _: self.commit_and_close(box))
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        editor.setCurrentIndex(row_of_voice(editor, index.data(Qt.ItemDataRole.EditRole) or ""))
        editor.showPopup()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:  # noqa: N802
        assert isinstance(editor, QComboBox)
        if editor.currentIndex() >= 0:
            model.setData(index, editor.currentData())


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
        colour = QColor(colors.accent if self._styles.supports(line.style) else colors.warn)
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
        box = WideListBox(parent)
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


def paint_selection_bar(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Paint the bar at the left edge of a selected row."""
    if option.state & QStyle.StateFlag.State_Selected:
        bar = QRect(option.rect.topLeft(), QSize(SELECTION_BAR, option.rect.height()))
        painter.fillRect(bar, QColor(theme_colors(option.palette).accent))


def style_of(cell: QStyleOptionViewItem) -> QStyle:
    return cell.widget.style() if cell.widget else QApplication.style()


def fill_style_box(box: QComboBox, styles: StyleList) -> None:
    """Add the default style, the custom instruction, all styles by category, and disabled styles of other models."""
    box.addItem(QCoreApplication.translate("StyleBox", "Default"), "")
    box.addItem(QCoreApplication.translate("StyleBox", "Custom instruction…"), CUSTOM_INSTRUCTION)
    group: tuple[str, bool] | None = None
    entries = box.model()
    assert isinstance(entries, QStandardItemModel)
    for style in styles.listed:
        if group != (style.category, bool(style.model)):
            group = (style.category, bool(style.model))
            box.insertSeparator(box.count())
        words = styles.categorized_name(style)
        if style.model:
            words = QCoreApplication.translate("StyleBox", "{style} (needs {model})").format(
                style=words, model=style.model
            )
        box.addItem(words, style.family)
        entries.item(box.count() - 1).setEnabled(not style.model)
        if style.note:
            box.setItemData(box.count() - 1, style.note, Qt.ItemDataRole.ToolTipRole)


def show_style(box: QComboBox, styles: StyleList, style: LineStyle) -> None:
    """Select the entry of ``style``; add one for a style that the model does not support."""
    wanted = CUSTOM_INSTRUCTION if style.instruct else style.preset or ""
    place = box.findData(wanted)
    if place < 0:
        words = QCoreApplication.translate("StyleBox", "{style} (not supported by this model)")
        words = "{style}" if styles.generation is None else words  # no model has been opened yet
        box.insertItem(1, words.format(style=styles.label(style)), wanted)
        place = 1
    box.setCurrentIndex(place)
