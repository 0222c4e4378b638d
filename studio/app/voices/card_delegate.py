"""Delegate that paints a voice as a card: name, number, waveform, language, quality and state of preparation."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QIcon, QPainter, QPalette, QPen
from PySide6.QtWidgets import QApplication, QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.voices.preload_queue import PreparationState
from studio.app.voices.voice_model import CARD_ROLE, VoiceCard, VoiceFilter, VoiceModel
from studio.app.voices.voice_text import GRADE_ICONS, grade_color, grade_name, language_name
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.waveform_painting import paint_outline
from studio.voices.voice import Grade

_MARGIN, _GAP, _ICON = 8, 6, 16
_LEAST_WIDTH = 120
_WAVE_HEIGHT = 22
_WAVE_SHARE = 0.5
_BAR_HEIGHT = 3
_STATE_ICONS = {
    PreparationState.WAITING: "state-queued",
    PreparationState.RUNNING: "engine",
    PreparationState.READY: "state-ready",
    PreparationState.FAILED: "warning",
    PreparationState.OTHER_MODEL: "warning",
}

_Index = QModelIndex | QPersistentModelIndex


@paints_safely
class CardDelegate(QStyledItemDelegate):
    """Delegate for views of a ``VoiceModel`` or a ``VoiceFilter``. Voices are renamed in place."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802, ARG002
        line = QFontMetrics(option.font).height()
        return QSize(_LEAST_WIDTH, 2 * _MARGIN + 2 * max(line, _ICON) + _WAVE_HEIGHT + 2 * _GAP)

    def setEditorData(self, editor: QWidget, index: _Index) -> None:  # noqa: N802
        """Fill the editor unless the user has typed in it: progress on the card must not overwrite the new name."""
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: N802, ARG002
        name = self._name_area(option.rect)
        editor.setGeometry(name.adjusted(-3, -3, 3, 3))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        card = index.data(CARD_ROLE)
        if not isinstance(card, VoiceCard):
            return
        style = option.widget.style() if option.widget else QApplication.style()
        self.initStyleOption(option, index)
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_card(painter, option, card, index)
        painter.restore()

    def _paint_card(self, painter: QPainter, option: QStyleOptionViewItem, card: VoiceCard, index: _Index) -> None:
        state: QStyle.StateFlag = option.state
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        colors = _CardColors.of(option.palette, is_selected=is_selected)
        rect: QRect = option.rect
        name_area = self._name_area(rect)
        font = QFont(option.font)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(colors.ink)
        metrics = QFontMetrics(font)
        painter.drawText(
            name_area, _LEFT, metrics.elidedText(card.voice.name, Qt.TextElideMode.ElideRight, name_area.width())
        )
        painter.setFont(option.font)
        if card.number is not None:
            self._paint_number(painter, rect, card.number, colors)
        middle = QRect(name_area.left(), name_area.bottom() + _GAP, rect.width() - 2 * _MARGIN, _WAVE_HEIGHT)
        self._paint_clip(painter, middle, card, colors)
        bottom = QRect(middle.left(), middle.bottom() + _GAP, middle.width(), max(_ICON, metrics.height()))
        self._paint_states(painter, bottom, card, colors, index)
        if not is_selected:
            painter.setPen(QPen(colors.border))
            painter.drawLine(rect.left() + _MARGIN, rect.bottom(), rect.right() - _MARGIN, rect.bottom())

    def _name_area(self, rect: QRect) -> QRect:
        height = max(_ICON, QFontMetrics(QApplication.font()).height())
        return QRect(rect.left() + _MARGIN, rect.top() + _MARGIN, rect.width() - 2 * _MARGIN - 24, height)

    def _paint_number(self, painter: QPainter, rect: QRect, number: int, colors: _CardColors) -> None:
        box = QRectF(rect.right() - _MARGIN - 17, rect.top() + _MARGIN, 18, 18)
        painter.setPen(QPen(colors.quiet))
        painter.drawRoundedRect(box, 4, 4)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number))

    def _paint_clip(self, painter: QPainter, area: QRect, card: VoiceCard, colors: _CardColors) -> None:
        wave = QRectF(area.left(), area.top(), area.width() * _WAVE_SHARE, area.height())
        if card.picture is not None:
            paint_outline(painter, wave, card.picture.outline, colors.accent)
        words = " · ".join(
            word
            for word in (
                language_name(card.voice.language),
                self.tr("{seconds:.1f} s").format(seconds=card.voice.clip_seconds),
            )
            if word
        )
        rest = QRect(round(wave.right()) + _GAP, area.top(), area.width() - round(wave.width()) - _GAP, area.height())
        painter.setPen(QPen(colors.quiet))
        painter.drawText(
            rest, _LEFT, painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, rest.width())
        )

    def _paint_states(
        self, painter: QPainter, area: QRect, card: VoiceCard, colors: _CardColors, index: _Index
    ) -> None:
        left = area.left()
        if card.quality is not None:
            badge = icon(GRADE_ICONS[card.quality], colors.of_grade(card.quality))
            left = self._paint_word(painter, area, badge, grade_name(card.quality), colors)
        words = _model_of(index).preparation_text(card.preparation)
        if words:
            picture = icon(_STATE_ICONS[card.preparation.state], colors.quiet)
            self._paint_word(painter, QRect(QPoint(left, area.top()), area.bottomRight()), picture, words, colors)
        if card.preparation.state is PreparationState.RUNNING:
            track = QRectF(area.left(), area.bottom() + 2, area.width(), _BAR_HEIGHT)
            painter.fillRect(track, colors.border)
            track.setWidth(track.width() * card.preparation.share)
            painter.fillRect(track, colors.accent)

    def _paint_word(self, painter: QPainter, area: QRect, picture: QIcon, words: str, colors: _CardColors) -> int:
        """Paint an icon and a text, and return the left edge of the next item."""
        place = QRect(area.left(), area.top() + (area.height() - _ICON) // 2, _ICON, _ICON)
        picture.paint(painter, place)
        words_area = QRect(place.right() + 4, area.top(), area.right() - place.right() - 4, area.height())
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, words_area.width())
        painter.setPen(QPen(colors.quiet))
        painter.drawText(words_area, _LEFT, shown)
        return words_area.left() + painter.fontMetrics().horizontalAdvance(shown) + 2 * _GAP


@dataclass(frozen=True, slots=True)
class _CardColors:
    """Colours of a card. All text on a selected card has the same colour."""

    ink: str
    quiet: str
    accent: str
    border: str
    palette: QPalette
    is_selected: bool

    @classmethod
    def of(cls, palette: QPalette, *, is_selected: bool) -> _CardColors:
        colors = theme_colors(palette)
        if is_selected:
            ink = palette.color(QPalette.ColorRole.HighlightedText).name()
            faint = palette.color(QPalette.ColorRole.Highlight).darker(130).name()
            return cls(ink, ink, ink, faint, palette, is_selected)
        return cls(colors.ink, colors.quiet, colors.accent, colors.border, palette, is_selected)

    def of_grade(self, grade: Grade) -> str:
        return self.ink if self.is_selected else grade_color(grade, self.palette)


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def _model_of(index: _Index) -> VoiceModel:
    model = index.model()
    if isinstance(model, VoiceFilter):
        model = model.sourceModel()
    assert isinstance(model, VoiceModel)
    return model
