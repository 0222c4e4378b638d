"""Painting of voice cards: coloured initial, name, suitability, and a play button."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID, RADIUS
from studio.app.theme.voice_colors import voice_color, voice_ground, voice_initial
from studio.app.voices.preload_queue import PreparationState
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard
from studio.app.voices.voice_text import (
    GRADE_ICONS,
    good_for_text,
    grade_color,
    preparation_text,
    why_unusable,
)
from studio.app.widgets.painting_guard import paints_safely
from studio.voices.voice import Grade

_MIN_WIDTH = 120
_INITIAL_PIXELS = 32
_PLAY_PIXELS = 20
_STATE_PIXELS = 12
_BAR_HEIGHT = 3
_STATE_ICONS = {
    PreparationState.WAITING: "state-queued",
    PreparationState.RUNNING: "engine",
    PreparationState.READY: "state-ready",
    PreparationState.FAILED: "warning",
    PreparationState.OTHER_MODEL: "warning",
}
# These states are shown instead of the suitability.
_LOUD_STATES = (PreparationState.RUNNING, PreparationState.FAILED, PreparationState.OTHER_MODEL)

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

_Index = QModelIndex | QPersistentModelIndex


@paints_safely
class CardDelegate(QStyledItemDelegate):
    """Delegate for views of a ``VoiceModel`` or a ``VoiceFilter``. Voices are renamed in place.

    ``playing`` is the name of the voice whose clip is being played.
    """

    playing: str | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802, ARG002
        text = QFontMetrics(option.font).height() + QFontMetrics(text_font(TextSize.META)).height()
        return QSize(_MIN_WIDTH, GRID + 2 * GRID + max(text, _INITIAL_PIXELS))

    def setEditorData(self, editor: QWidget, index: _Index) -> None:  # noqa: N802
        """Fill the editor unless the user has typed in it: progress on the card must not overwrite the new name."""
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: N802, ARG002
        editor.setGeometry(_name_area(option.rect).adjusted(-4, -4, 4, 4))

    @staticmethod
    def play_area(rect: QRect) -> QRect:
        """Return the area of the play button of the card at ``rect``."""
        card = _card_area(rect)
        width = _PLAY_PIXELS + 2 * GRID
        return QRect(card.right() - width + 1, card.top(), width, card.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        card = index.data(CARD_ROLE)
        if not isinstance(card, VoiceCard):
            return
        colors, state = theme_colors(option.palette), option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        area = QRectF(_card_area(option.rect)).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(QColor(colors.accent if is_selected else colors.border)))
        painter.setBrush(QColor(colors.selection if is_selected else colors.raised))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        self._paint_initial(painter, option, card)
        self._paint_words(painter, option, card, colors)
        is_playable = card.voice.generation is None  # stored features have no recording
        if is_playable:
            button = QRect(0, 0, _PLAY_PIXELS, _PLAY_PIXELS)
            button.moveCenter(self.play_area(option.rect).center())
            is_playing = card.voice.name == self.playing
            is_near = bool(state & QStyle.StateFlag.State_MouseOver) or is_selected or is_playing
            colour = colors.accent if is_near else colors.quiet
            icon("stop" if is_playing else "play", colour).paint(painter, button)
        painter.restore()

    def _paint_initial(self, painter: QPainter, option: QStyleOptionViewItem, card: VoiceCard) -> None:
        name, place = card.voice.name, _initial_area(option.rect)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(voice_ground(name, option.palette))
        painter.drawEllipse(QRectF(place))
        painter.setPen(voice_color(name, option.palette))
        painter.setFont(text_font(weight=QFont.Weight.DemiBold))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, voice_initial(name))

    def _paint_words(
        self, painter: QPainter, option: QStyleOptionViewItem, card: VoiceCard, colors: ThemeColors
    ) -> None:
        name_area, bold = _name_area(option.rect), text_font(weight=QFont.Weight.DemiBold)
        painter.setFont(bold)
        is_usable = card.preparation.state is not PreparationState.OTHER_MODEL
        painter.setPen(QColor(colors.ink if is_usable else colors.faint))
        _draw_elided(painter, name_area, card.voice.name)
        meta = text_font(TextSize.META)
        painter.setFont(meta)
        painter.setPen(QColor(colors.quiet))
        row = QRect(name_area.left(), name_area.bottom() + 1, name_area.width(), QFontMetrics(meta).height())
        state = card.preparation.state
        grade = card.quality
        if state in _LOUD_STATES:
            _draw_elided(
                painter,
                self._after_icon(painter, row, _STATE_ICONS[state], colors.quiet),
                why_unusable(card.voice)
                if state is PreparationState.OTHER_MODEL
                else preparation_text(card.preparation),
            )
            if state is PreparationState.RUNNING:
                track = QRectF(row.left(), row.bottom() + 1, row.width(), _BAR_HEIGHT)
                painter.fillRect(track, QColor(colors.border))
                track.setWidth(track.width() * card.preparation.share)
                painter.fillRect(track, QColor(colors.accent))
            return
        if grade not in (None, Grade.GOOD):
            row = self._after_icon(painter, row, GRADE_ICONS[grade], grade_color(grade, colors))
        elif state in _STATE_ICONS:
            row = self._after_icon(painter, row, _STATE_ICONS[state], colors.faint)
        _draw_elided(painter, row, good_for_text(card.voice, grade))

    @staticmethod
    def _after_icon(painter: QPainter, row: QRect, name: str, colour: str) -> QRect:
        """Paint an icon at the start of ``row``, and return the rest."""
        top = row.top() + (row.height() - _STATE_PIXELS) // 2
        icon(name, colour).paint(painter, QRect(row.left(), top, _STATE_PIXELS, _STATE_PIXELS))
        return row.adjusted(_STATE_PIXELS + GRID // 2, 0, 0, 0)


def _card_area(rect: QRect) -> QRect:
    return rect.adjusted(GRID // 2, GRID // 2, -GRID // 2, -GRID // 2)


def _initial_area(rect: QRect) -> QRect:
    card = _card_area(rect)
    top = card.top() + (card.height() - _INITIAL_PIXELS) // 2
    return QRect(card.left() + GRID, top, _INITIAL_PIXELS, _INITIAL_PIXELS)


def _name_area(rect: QRect) -> QRect:
    card, left = _card_area(rect), _initial_area(rect).right() + 1 + GRID
    name = QFontMetrics(text_font(weight=QFont.Weight.DemiBold)).height()
    meta = QFontMetrics(text_font(TextSize.META)).height()
    right = CardDelegate.play_area(rect).left()
    return QRect(left, card.top() + (card.height() - name - meta) // 2, right - left, name)


def _draw_elided(painter: QPainter, area: QRect, words: str) -> None:
    shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, _LEFT, shown)
