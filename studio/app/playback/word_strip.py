"""Words of a take below its waveform: the spoken one is marked, and a click plays from a word."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from studio.app.theme.colors import theme_colors
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.sizes import SMALL_RADIUS
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.waveform_view import WaveformView
from studio.take_checks.records import WordTime

_GAP_PIXELS = 4.0
# A label may be moved by this share of its width if its place is taken or not visible.
_MAX_SHIFT = 0.5


@paints_safely
class WordStrip(QWidget):
    """Follows the zoom of ``waveform``. Words for which there is no space are left out; hidden without words."""

    seek_requested = Signal(float)  # seconds

    def __init__(self, waveform: WaveformView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waveform = waveform
        self._words: tuple[WordTime, ...] = ()
        self._starts: list[float] = []
        self._spoken: int | None = None
        self._places: list[tuple[QRectF, int]] = []  # of the words that are shown
        self.setAccessibleName(self.tr("Words of the take"))
        self.setFixedHeight(round(QFontMetricsF(text_font(TextSize.META)).height()) + 2)
        waveform.view_moved.connect(self.update)
        self.hide()

    def show_words(self, words: Sequence[WordTime]) -> None:
        """Show words with their times in the audio that is shown."""
        self._words = tuple(words)
        self._starts = [word.from_seconds for word in self._words]
        self._spoken = None
        self.setVisible(bool(self._words))
        self.setAccessibleDescription(" ".join(word.text for word in self._words))
        self.update()

    @property
    def words(self) -> tuple[WordTime, ...]:
        return self._words

    @property
    def spoken_word(self) -> WordTime | None:
        return None if self._spoken is None else self._words[self._spoken]

    def show_position(self, seconds: float | None) -> bool:
        """Mark the word at the playback position; return whether the marked word has changed."""
        before, self._spoken = self._spoken, None if seconds is None else self._index_at(seconds)
        if self._spoken != before:
            self.update()
        return self._spoken != before

    def _index_at(self, seconds: float) -> int | None:
        index = bisect_right(self._starts, seconds) - 1
        return index if index >= 0 and seconds < self._words[index].to_seconds else None

    def _lay_out(self) -> list[tuple[QRectF, int]]:
        metrics, scale = QFontMetricsF(text_font(TextSize.META)), self._waveform.scale()
        places: list[tuple[QRectF, int]] = []
        free = 0.0
        # The spoken word is always shown, so it comes first.
        order = sorted(range(len(self._words)), key=lambda index: (index != self._spoken, index))
        spoken: QRectF | None = None
        for index in order:
            word = self._words[index]
            word_end = scale.x_at(word.to_seconds)
            middle = (scale.x_at(word.from_seconds) + word_end) / 2
            width = metrics.horizontalAdvance(word.text)
            place = QRectF(middle - width / 2, 0, width, self.height())
            if index == self._spoken:
                spoken = place
                places.append((place, index))
                continue
            if place.right() < 0 or place.left() > self.width():
                continue
            moved = place.translated(max(0.0, free - place.left()), 0)
            if moved.right() > self.width() >= word_end:  # the word is visible, but not all of its label
                moved.moveRight(self.width())
            is_covered = spoken is not None and moved.adjusted(-_GAP_PIXELS, 0, _GAP_PIXELS, 0).intersects(spoken)
            if is_covered or moved.left() < free or abs(moved.left() - place.left()) > _MAX_SHIFT * width:
                continue
            free = moved.right() + _GAP_PIXELS
            places.append((moved, index))
        return places

    # Qt.

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter, colors = QPainter(self), theme_colors(self.palette())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(text_font(TextSize.META))
        self._places = self._lay_out()
        for place, index in self._places:
            if index == self._spoken:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(colors.accent))
                painter.drawRoundedRect(place.adjusted(-3, 0, 3, 0), SMALL_RADIUS, SMALL_RADIUS)
            painter.setPen(QColor(colors.on_accent if index == self._spoken else colors.quiet))
            painter.drawText(
                place, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip), self._words[index].text
            )

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        word = self._word_at(event.position().x())
        if event.button() is Qt.MouseButton.LeftButton and word is not None:
            self.seek_requested.emit(word.from_seconds)
        else:
            super().mousePressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            word = self._word_at(event.pos().x())
            QToolTip.showText(event.globalPos(), word.text if word else "", self)
            return True
        return super().event(event)

    def _word_at(self, x: float) -> WordTime | None:
        """Return the word that is shown at ``x``, or else the one that is spoken at the time of ``x``."""
        for place, index in self._places or self._lay_out():
            if place.left() - _GAP_PIXELS / 2 <= x <= place.right() + _GAP_PIXELS / 2:
                return self._words[index]
        scale = self._waveform.scale()
        return next(
            (word for word in self._words if scale.x_at(word.from_seconds) <= x < scale.x_at(word.to_seconds)), None
        )
