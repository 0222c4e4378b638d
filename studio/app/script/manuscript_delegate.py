"""Item delegate of the manuscript: paints a whole line of the script in its text cell."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem, QToolTip, QWidget

from studio.app.checking.verdicts import VerdictMark
from studio.app.script.delegates import paint_selection_bar, state_colour
from studio.app.script.line_model import (
    ATTENTION_ROLE,
    LINE_ROLE,
    SLOT_ROLE,
    STATE_ROLE,
    SUMMARY_ROLE,
    VERDICT_ROLE,
    Column,
    Index,
)
from studio.app.script.manuscript_layout import (
    INITIAL_SIDE,
    STATE_SIDE,
    ManuscriptLayouts,
    RowKind,
    RowLayout,
    row_kind,
)
from studio.app.script.row_words import SlotFit
from studio.app.script.style_list import StyleList
from studio.app.script.text_delegate import TextDelegate
from studio.app.script.text_field import TextField
from studio.app.script.text_painting import text_marks
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID
from studio.app.theme.voice_colors import voice_color, voice_initial
from studio.app.translation import with_label
from studio.app.voices.voice_items import VoiceNames
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import WaveformPeaks
from studio.app.widgets.waveform_painting import paint_bars
from studio.project.lines import Line, LineState
from studio.take_checks.records import Verdict
from studio.voices.voice import name_key

_ALIGN_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_ALIGN_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LOUD_STATES = (LineState.SPEAKING, LineState.FAILED)  # shown as text in place of the length of the take
_ARROW_LEFT = GRID - 2
_ARROW_SIDE = 12
_SUMMARY_WIDTH = 180
_WAVE_HEIGHT = 20
_VERDICT_SIDE = 18
_MIN_NAME_WIDTH = 24
_INITIAL_OPACITY = 0.18


@paints_safely
class ManuscriptDelegate(TextDelegate):
    """In the compact table, paints and edits the text cell only.

    ``outline_of`` returns the thumbnail of a take, or None until it is computed.
    """

    def __init__(self, styles: StyleList, voices: VoiceNames, parent: QObject | None = None) -> None:
        super().__init__(styles, parent)
        self.is_compact = False
        self.layouts = ManuscriptLayouts()
        self.outline_of: Callable[[str], WaveformPeaks | None] = lambda _: None
        self.is_folded: Callable[[str], bool] = lambda _: False
        self._voices = voices

    def row_layout(self, line: Line) -> RowLayout:
        return self.layouts.row(line, self._styles.label(line.style) if row_kind(line) is RowKind.SPOKEN else "")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        if self.is_compact:
            return super().sizeHint(option, index)
        return QSize(200, self.row_layout(index.data(LINE_ROLE)).height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if self.is_compact:
            super().paint(painter, option, index)
            return
        self.paint_background(painter, option, index)
        paint_selection_bar(painter, option)
        line: Line = index.data(LINE_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(option.rect.topLeft())
        row, kind, colors = self.row_layout(line), row_kind(line), theme_colors(option.palette)
        self._paint_text(painter, option, index, kind, row)
        if kind.is_heading:
            self._paint_heading(painter, option, index, line, row)
        elif kind is RowKind.SPOKEN:
            self._paint_voice(painter, option, line, row)
            self._paint_take(painter, option, index, line, row)
        if row.chip is not None:
            self._paint_chip(painter, row, line, colors)
        if row.note is not None:
            painter.setFont(self.layouts.meta_font)
            painter.setPen(QColor(colors.quiet))
            words = " ".join(line.note.split())
            shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(row.note.width()))
            painter.drawText(row.note, _ALIGN_LEFT, shown)
        painter.restore()

    def _paint_text(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, kind: RowKind, row: RowLayout
    ) -> None:
        line: Line = index.data(LINE_ROLE)
        matches, current = self.matches_of(line)
        looks = self.looks_of(index, option.palette)
        if matches or looks:
            is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
            marks = text_marks(line.text, matches, current, option.palette, is_selected=is_selected, looks=looks)
            layout = self.layouts.lay_out_text(line, kind, marks)
        else:
            layout = self.layouts.text(line)
        colors = theme_colors(option.palette)
        painter.setPen(QColor(colors.quiet if kind is RowKind.NOTE else colors.ink))
        layout.draw(painter, QPointF(self.layouts.text_left(kind), row.text_top))

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, line: Line, row: RowLayout
    ) -> None:
        colors, columns = theme_colors(option.palette), self.layouts.columns
        name = "fold-closed" if self.is_folded(line.id) else "fold-open"
        icon(name, colors.quiet).paint(painter, self.arrow_area(row))
        area = QRectF(columns.state_left - GRID - _SUMMARY_WIDTH, row.text_top, _SUMMARY_WIDTH, row.pitch)
        painter.setFont(self.layouts.meta_font)
        problems = index.data(ATTENTION_ROLE) if self.is_folded(line.id) else ""
        painter.setPen(QColor(colors.bad if problems else colors.quiet))
        painter.drawText(area, _ALIGN_RIGHT, problems or index.data(SUMMARY_ROLE))
        # A tick would seem to stand for all lines below.
        if line.is_spoken and index.data(STATE_ROLE) is not LineState.READY:
            self._paint_state(painter, index, row, colors)

    def arrow_area(self, row: RowLayout) -> QRect:
        """Return the rectangle of the fold arrow in the row of a heading."""
        return QRect(_ARROW_LEFT, row.text_top + round(row.pitch - _ARROW_SIDE) // 2, _ARROW_SIDE, _ARROW_SIDE)

    def _paint_voice(self, painter: QPainter, option: QStyleOptionViewItem, line: Line, row: RowLayout) -> None:
        """Paint the initial of the character or voice in a coloured circle, and the names if there is space."""
        colors, columns, name = theme_colors(option.palette), self.layouts.columns, line.character or line.voice or ""
        circle = self._initial_area(row)
        is_missing = not line.voice or self._voices.is_missing(line)
        painter.setPen(QPen(QColor(colors.warn), 1.4) if is_missing else Qt.PenStyle.NoPen)
        ground = voice_color(name, option.palette)
        ground.setAlphaF(_INITIAL_OPACITY)  # visible on selected rows as well
        painter.setBrush(Qt.BrushStyle.NoBrush if is_missing else ground)
        painter.drawEllipse(circle)
        painter.setPen(QColor(colors.warn) if is_missing else voice_color(name, option.palette))
        painter.setFont(self.layouts.initial_font)
        painter.drawText(circle, int(Qt.AlignmentFlag.AlignCenter), "!" if is_missing else voice_initial(name))
        if line.is_locked:
            badge = QRect(round(circle.right()) - 9, round(circle.bottom()) - 9, 13, 13)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.surface))
            painter.drawEllipse(badge)
            icon("lock", colors.quiet).paint(painter, badge.adjusted(1, 1, -1, -1))
        if columns.name_width:
            voice = line.voice or self.tr("No voice")
            colour = QColor(colors.warn) if is_missing else voice_color(name, option.palette)
            painter.setFont(self.layouts.meta_font)
            left, right = columns.name_left, columns.name_left + columns.name_width
            words = [(line.character or voice, colour)]
            if line.character and name_key(line.character) != name_key(voice):
                words.append((voice, QColor(colors.quiet)))
            for text, ink in words:
                painter.setPen(ink)
                shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, right - left)
                painter.drawText(QRectF(left, row.text_top, right - left, row.pitch), _ALIGN_LEFT, shown)
                left += painter.fontMetrics().horizontalAdvance(shown + " ")
                if right - left < _MIN_NAME_WIDTH:
                    break

    def _initial_area(self, row: RowLayout) -> QRectF:
        top = row.text_top + (row.pitch - INITIAL_SIDE) / 2
        return QRectF(self.layouts.columns.initial_left, top, INITIAL_SIDE, INITIAL_SIDE)

    def _paint_take(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index, line: Line, row: RowLayout
    ) -> None:
        """Paint the waveform and length of the chosen take, and the state of the line."""
        colors, columns = theme_colors(option.palette), self.layouts.columns
        state: LineState = index.data(STATE_ROLE)
        self._paint_state(painter, index, row, colors)
        painter.setFont(self.layouts.meta_font)
        words, colour = self._take_words(index, state, colors)
        right = columns.state_left - GRID // 2
        if state in _LOUD_STATES:
            left = columns.wave_left if columns.wave_width else columns.duration_left
            if columns.duration_width:
                painter.setPen(QColor(colour))
                shown = shorten(words, painter.fontMetrics(), right - left)
                painter.drawText(QRectF(left, row.text_top, right - left, row.pitch), _ALIGN_RIGHT, shown)
            return
        if columns.duration_width:
            painter.setPen(QColor(colour))
            area = QRectF(columns.duration_left, row.text_top, right - columns.duration_left, row.pitch)
            painter.drawText(area, _ALIGN_RIGHT, words)
        if columns.wave_width and line.chosen_take is not None:
            outline = self.outline_of(line.chosen_take)
            if outline is not None:
                is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
                top = row.text_top + (row.pitch - _WAVE_HEIGHT) / 2
                area = QRectF(columns.wave_left, top, columns.wave_width - GRID // 2, _WAVE_HEIGHT)
                paint_bars(painter, area, outline, colors.accent if is_selected else colors.faint)

    def _take_words(self, index: Index, state: LineState, colors: ThemeColors) -> tuple[str, str]:
        """Return the words at the right of a line, and their colour."""
        if state in _LOUD_STATES:
            return index.sibling(index.row(), Column.STATE).data(), state_colour(state, colors)
        slot: SlotFit | None = index.data(SLOT_ROLE)
        if slot is not None:
            return slot.words, colors.bad if slot.is_overrun else colors.quiet
        return index.sibling(index.row(), Column.DURATION).data(), colors.quiet

    def _paint_state(self, painter: QPainter, index: Index, row: RowLayout, colors: ThemeColors) -> None:
        """Paint the verdict on the take, or a small mark, which is filled if something is wrong."""
        state: LineState = index.data(STATE_ROLE)
        mark: VerdictMark | None = index.data(VERDICT_ROLE)
        if mark is not None and mark.verdict is not Verdict.NOT_CHECKED and state in (LineState.CHECK, LineState.READY):
            top = row.text_top + round(row.pitch - _VERDICT_SIDE) // 2
            left = self.layouts.columns.state_left + (STATE_SIDE - _VERDICT_SIDE) // 2
            icon(mark.icon, mark.colour(colors)).paint(painter, QRect(left, top, _VERDICT_SIDE, _VERDICT_SIDE))
            return
        centre = QPointF(self.layouts.columns.state_left + STATE_SIDE / 2, row.text_top + row.pitch / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if state in (LineState.FAILED, LineState.CHECK):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(state_colour(state, colors)))
            painter.drawEllipse(centre, 7, 7)
            painter.setPen(QPen(QColor(colors.surface), 1.8, c=Qt.PenCapStyle.RoundCap))
            painter.drawLine(centre + QPointF(0, -3.5), centre + QPointF(0, 0.8))
            painter.drawPoint(centre + QPointF(0, 3.6))
        elif state is LineState.OUTDATED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.warn))
            painter.drawEllipse(centre, 4, 4)
        elif state is LineState.SPEAKING:
            for number, height in enumerate((4, 9, 6)):
                bar = QRectF(centre.x() - 5 + 4 * number, centre.y() - height / 2, 2.4, height)
                painter.fillRect(bar, QColor(colors.busy))
        elif state is LineState.READY:
            painter.setPen(QPen(QColor(colors.good), 1.6))
            painter.drawPolyline([centre + QPointF(-4, 0), centre + QPointF(-1, 3), centre + QPointF(4, -4)])
        else:
            painter.setPen(QPen(QColor(colors.faint), 1.4))
            painter.drawEllipse(centre, 4, 4)
            if state is LineState.QUEUED:
                painter.drawPolyline([centre + QPointF(0, -2.5), centre, centre + QPointF(2, 0)])

    def _paint_chip(self, painter: QPainter, row: RowLayout, line: Line, colors: ThemeColors) -> None:
        assert row.chip is not None, "called only for rows with a chip"
        colour = QColor(colors.quiet if self._styles.supports(line.style) else colors.warn)
        ground = QColor(colour)
        ground.setAlphaF(0.12)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(row.chip, row.chip.height() / 2, row.chip.height() / 2)
        painter.setPen(colour)
        painter.setFont(self.layouts.meta_font)
        painter.drawText(row.chip, int(Qt.AlignmentFlag.AlignCenter), row.chip_words)

    # Tool tips.

    def helpEvent(  # noqa: N802
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        line: Line | None = index.data(LINE_ROLE)
        if self.is_compact or event.type() != QEvent.Type.ToolTip or line is None:
            return super().helpEvent(event, view, option, index)
        words = self._tool_tip(line, index, event.pos() - option.rect.topLeft())
        QToolTip.showText(event.globalPos(), words, view)  # hides the tool tip if there are no words
        return True

    def _tool_tip(self, line: Line, index: Index, place: QPoint) -> str:
        row, kind, columns = self.row_layout(line), row_kind(line), self.layouts.columns
        if kind is RowKind.SPOKEN and place.x() < columns.text_left:
            words = self._voices.missing_words(line) if self._voices.is_missing(line) else line.voice
            words = words or self.tr("No voice")
            words = with_label(line.character, words) if line.character else words
            return words + "\n" + self.tr("This line is locked.") if line.is_locked else words
        if kind is not RowKind.NOTE and line.is_spoken and place.x() >= columns.duration_left:
            state = index.sibling(index.row(), Column.STATE)
            reason = state.data(Qt.ItemDataRole.ToolTipRole)
            return with_label(state.data(), reason) if reason else str(state.data())
        if row.chip is not None and row.chip.contains(QPointF(place)):
            words = self._styles.label(line.style)
            return (
                words
                if self._styles.supports(line.style)
                else self.tr("{style}: not supported by this model").format(style=words)
            )
        return line.note if row.note is not None and row.note.contains(QPointF(place)) else ""

    # Editing.

    def make_field(self, parent: QWidget, index: Index) -> TextField:
        if self.is_compact:
            return super().make_field(parent, index)
        kind = row_kind(index.data(LINE_ROLE))
        field = TextField(self._styles, parent, pitch=self.layouts.pitch(kind))
        field.setFont(self.layouts.fonts[kind])
        field.mark_saved()  # setting the font counts as a change of the document
        return field

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: N802
        if self.is_compact:
            super().updateEditorGeometry(editor, option, index)
            return
        assert isinstance(editor, TextField)
        line: Line = index.data(LINE_ROLE)
        row, kind = self.row_layout(line), row_kind(line)
        cell: QRect = option.rect
        left, width = self.layouts.text_left(kind), self.layouts.text_width(kind)
        editor.fit(QRect(cell.left() + left, cell.top() + row.text_top, width, round(row.text_height)))


def shorten(words: str, metrics: QFontMetrics, width: int) -> str:
    """Return ``words``, or their last word if only that fits ``width`` pixels: the share of a line that is spoken."""
    if metrics.horizontalAdvance(words) <= width:
        return words
    return metrics.elidedText(words.rsplit(maxsplit=1)[-1], Qt.TextElideMode.ElideRight, width)
