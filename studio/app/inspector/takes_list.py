"""List of the takes of the current line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.app.inspector.take_rows import (
    TakeRow,
    accessible_text,
    details_text,
    length_text,
    mark_texts,
    take_name,
    tool_tip,
    verdict_text,
)
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID, SELECTION_BAR
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import WaveformPeaks
from studio.app.widgets.waveform_painting import paint_outline

_ROW_ROLE = Qt.ItemDataRole.UserRole
_CHOSEN_ROLE = Qt.ItemDataRole.UserRole + 1
_WAVE_WIDTH, _WAVE_HEIGHT = 72, 20
_MARK_PIXELS = 14  # diameter of the mark of the chosen take
_TEXT_LEFT = GRID + _MARK_PIXELS + GRID
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class TakesList(QListWidget):
    """A click plays a take; a double click, Enter or a click on its mark chooses it.

    ``outline_of`` returns the thumbnail of a take, or None until it is computed. Then update the viewport.
    """

    take_chosen = Signal(str)
    play_requested = Signal(str)
    play_toggled = Signal(str)  # Space: play the take, or stop
    menu_requested = Signal(QPoint)  # screen position of the menu for the selected and removed takes
    drag_requested = Signal(str)  # the user starts to drag a take out of the window

    def __init__(self, outline_of: Callable[[str], WaveformPeaks | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Takes of the line"))
        self.setItemDelegate(_TakeDelegate(outline_of, self))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.customContextMenuRequested.connect(self._on_menu)
        self._rows: tuple[TakeRow, ...] = ()
        self._chosen: str | None = None
        self._is_double_click = False

    @property
    def selected_takes(self) -> list[str]:
        """The selected takes, the newest first."""
        return [self._take_of(item) for item in sorted(self.selectedItems(), key=self.row)]

    @property
    def current_take(self) -> str | None:
        item = self.currentItem()
        return self._take_of(item) if item is not None else None

    def show_takes(self, rows: Sequence[TakeRow], chosen: str | None) -> None:
        """Show takes, the newest on top. The chosen one is selected when the takes or the choice change."""
        newest_first = tuple(reversed(rows))
        if newest_first == self._rows and chosen == self._chosen:
            return
        is_same = [row.take.id for row in newest_first] == [row.take.id for row in self._rows]
        selects_chosen = not is_same or chosen != self._chosen
        self._rows, self._chosen = newest_first, chosen
        with QSignalBlocker(self):
            if not is_same:
                self.clear()
                for _ in newest_first:
                    self.addItem(QListWidgetItem())
            for number, row in enumerate(newest_first):
                self._fill(self.item(number), row)
            if selects_chosen:
                self._select(chosen)
        self.viewport().update()

    def _fill(self, item: QListWidgetItem, row: TakeRow) -> None:
        is_chosen = row.take.id == self._chosen
        item.setData(_ROW_ROLE, row)
        item.setData(_CHOSEN_ROLE, is_chosen)
        item.setText(take_name(row.take))
        item.setToolTip(tool_tip(row))
        item.setData(Qt.ItemDataRole.AccessibleTextRole, accessible_text(row, is_chosen=is_chosen))

    def _select(self, take_id: str | None) -> None:
        for number, row in enumerate(self._rows):
            if row.take.id == take_id:
                self.setCurrentRow(number)

    @staticmethod
    def _take_of(item: QListWidgetItem) -> str:
        row: TakeRow = item.data(_ROW_ROLE)
        return row.take.id

    # Keyboard and mouse.

    def event(self, event: QEvent) -> bool:
        """Keep Space for the selected take; in the window it plays the chosen one."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_space(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Space plays the current take, Enter chooses it, and 1 to 9 play the take with that number."""
        number, current = event.text(), self.current_take
        if _is_space(event) and current is not None:
            self.play_toggled.emit(current)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() and current is not None:
            self.take_chosen.emit(current)
        elif number.isdigit() and number != "0" and not event.modifiers():
            self._play_number(int(number))
        else:
            super().keyPressEvent(event)

    def _play_number(self, number: int) -> None:
        for position, row in enumerate(self._rows):
            if row.take.number == number:
                self.setCurrentRow(position)
                self.play_requested.emit(row.take.id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._is_double_click = True  # the second release is not another click
        item = self.itemAt(event.position().toPoint())
        if item is not None and event.button() == Qt.MouseButton.LeftButton:
            self.take_chosen.emit(self._take_of(item))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        was_double_click, self._is_double_click = self._is_double_click, False
        was_dragging = self.state() in (self.State.DraggingState, self.State.DragSelectingState)
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        item = self.itemAt(place)
        is_plain = event.button() == Qt.MouseButton.LeftButton and not event.modifiers()
        if item is None or not is_plain or was_dragging or was_double_click:
            return
        if place.x() - self.visualItemRect(item).left() < _TEXT_LEFT:
            self.take_chosen.emit(self._take_of(item))
        else:
            self.play_requested.emit(self._take_of(item))

    def startDrag(self, _actions: Qt.DropAction) -> None:  # noqa: N802
        if self.current_take is not None:
            self.drag_requested.emit(self.current_take)

    def _on_menu(self, position: QPoint) -> None:
        """Open the menu even if no take is below the mouse, because the menu also restores removed takes."""
        item = self.itemAt(position)
        if item is not None and not item.isSelected():
            self.setCurrentItem(item)
        self.menu_requested.emit(self.viewport().mapToGlobal(position))


def _is_space(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Space and not event.modifiers()


@paints_safely
class _TakeDelegate(QStyledItemDelegate):
    """Paints the mark of the chosen take, the name, notes and length; below them, the waveform and details."""

    def __init__(self, outline_of: Callable[[str], WaveformPeaks | None], parent: QListWidget) -> None:
        super().__init__(parent)
        self._outline_of = outline_of

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002, N802
        meta = QFontMetrics(text_font(TextSize.META)).lineSpacing()
        return QSize(160, option.fontMetrics.lineSpacing() + max(_WAVE_HEIGHT, meta) + 2 * GRID + GRID // 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: TakeRow = index.data(_ROW_ROLE)
        colors, rect = theme_colors(option.palette), option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colors.selection))
            painter.fillRect(QRect(rect.left(), rect.top(), SELECTION_BAR, rect.height()), QColor(colors.accent))
        area = rect.adjusted(_TEXT_LEFT, GRID, -GRID, -GRID)
        head = QRect(area.left(), area.top(), area.width(), option.fontMetrics.lineSpacing())
        _paint_mark(painter, rect.left() + GRID, head.center().y(), colors, is_chosen=bool(index.data(_CHOSEN_ROLE)))
        self._paint_head(painter, head, row, colors)
        foot = QRect(area.left(), head.bottom() + GRID // 2, area.width(), area.bottom() - head.bottom() - GRID // 2)
        self._paint_foot(painter, foot, row, colors)
        painter.restore()

    def _paint_head(self, painter: QPainter, area: QRect, row: TakeRow, colors: ThemeColors) -> None:
        meta = text_font(TextSize.META)
        painter.setFont(meta)
        painter.setPen(QColor(colors.quiet))
        length = length_text(row)
        painter.drawText(area, _RIGHT, length)
        rest = area.adjusted(0, 0, -QFontMetrics(meta).horizontalAdvance(length) - GRID, 0)
        bold = text_font(weight=QFont.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(QColor(colors.ink))
        name = take_name(row.take)
        painter.drawText(rest, _LEFT, name)
        rest.setLeft(rest.left() + QFontMetrics(bold).horizontalAdvance(name) + GRID)
        if row.take.is_kept:
            icon("kept", colors.quiet).paint(painter, QRect(rest.left(), rest.top(), rest.height(), rest.height()))
            rest.setLeft(rest.left() + rest.height() + GRID // 2)
        painter.setFont(meta)
        if row.verdict is not None:
            colour, words = row.verdict.colour(colors), verdict_text(row)
            icon(row.verdict.icon, colour).paint(painter, QRect(rest.left(), rest.top(), rest.height(), rest.height()))
            rest.setLeft(rest.left() + rest.height() + GRID // 2)
            painter.setPen(QColor(colour))
            shown = QFontMetrics(meta).elidedText(words, Qt.TextElideMode.ElideRight, rest.width())
            painter.drawText(rest, _LEFT, shown)
            rest.setLeft(rest.left() + QFontMetrics(meta).horizontalAdvance(shown) + GRID)
        marks = " · ".join(mark_texts(row))
        painter.setPen(QColor(colors.warn))
        painter.drawText(rest, _LEFT, QFontMetrics(meta).elidedText(marks, Qt.TextElideMode.ElideRight, rest.width()))

    def _paint_foot(self, painter: QPainter, area: QRect, row: TakeRow, colors: ThemeColors) -> None:
        outline = self._outline_of(row.take.id)
        if outline is not None:
            wave = QRectF(area.left(), area.top(), _WAVE_WIDTH, area.height())
            paint_outline(painter, wave, outline, QColor(colors.faint))
        words_area = area.adjusted(_WAVE_WIDTH + GRID, 0, 0, 0)
        metrics = QFontMetrics(text_font(TextSize.META))
        painter.setFont(text_font(TextSize.META))
        painter.setPen(QColor(colors.quiet))
        words = metrics.elidedText(details_text(row), Qt.TextElideMode.ElideRight, words_area.width())
        painter.drawText(words_area, _LEFT, words)


def _paint_mark(painter: QPainter, left: int, middle: int, colors: ThemeColors, *, is_chosen: bool) -> None:
    circle = QRectF(left + 1, middle - _MARK_PIXELS / 2 + 1, _MARK_PIXELS - 2, _MARK_PIXELS - 2)
    painter.setPen(QPen(QColor(colors.accent if is_chosen else colors.faint), 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(circle)
    if is_chosen:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.accent))
        painter.drawEllipse(circle.adjusted(3, 3, -3, -3))
