"""Level meter that holds the peak for a moment and warns of clipping."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QElapsedTimer, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.fonts import TextSize, text_font
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import Samples

_FLOOR_DBFS = -60.0
_GOOD_ABOVE_DBFS = -30.0
_HOT_ABOVE_DBFS = -6.0
_TOO_LOUD_ABOVE_DBFS = -0.3
_FALL_DB_PER_SECOND = 30.0
_HOLD_SECONDS = 1.5
_TOO_LOUD_SECONDS = 3.0
_TICK_MILLISECONDS = 33
_MARKS_DBFS = (-48, -36, -24, -12, -6, 0)
_COMPACT_MARKS_DBFS = (-48, -24, -6)
_COMPACT_BAR_PIXELS = 8
_STEP_DB = 3.0


@paints_safely
class LevelMeter(QWidget):
    """Shows the level passed to ``on_samples`` or ``set_level``. Its timer stops during silence."""

    def __init__(self, parent: QWidget | None = None, *, is_compact: bool = False) -> None:
        """A compact meter is a thin bar with few marks."""
        super().__init__(parent)
        self._is_compact = is_compact
        self.level_dbfs = self._held_dbfs = _FLOOR_DBFS  # the levels that the bar and the peak mark show
        self._held_seconds = self._too_loud_seconds = 0.0
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, interval=_TICK_MILLISECONDS)
        self._timer.timeout.connect(self._fall)
        self.setAccessibleName(self.tr("Level"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._describe()

    def on_samples(self, samples: Samples) -> None:
        """Show the peak of ``samples``, (n,)."""
        if len(samples):
            peak = float(np.abs(samples).max())
            self.set_level(20.0 * math.log10(peak) if peak > 1e-6 else _FLOOR_DBFS)

    def set_level(self, peak_dbfs: float) -> None:
        """Show ``peak_dbfs``, the highest level since the last call."""
        self.level_dbfs = max(self.level_dbfs, min(peak_dbfs, 0.0), _FLOOR_DBFS)
        if peak_dbfs >= self._held_dbfs:
            self._held_dbfs, self._held_seconds = min(max(peak_dbfs, _FLOOR_DBFS), 0.0), _HOLD_SECONDS
        if peak_dbfs > _TOO_LOUD_ABOVE_DBFS:
            self._too_loud_seconds = _TOO_LOUD_SECONDS
        if not self._timer.isActive():
            self._clock.start()
            self._timer.start()
        self._describe()
        self.update()

    def reset(self) -> None:
        self.level_dbfs = self._held_dbfs = _FLOOR_DBFS
        self._too_loud_seconds = 0.0
        self._timer.stop()
        self._describe()
        self.update()

    @property
    def is_too_loud(self) -> bool:
        """Whether full scale was reached in the last few seconds."""
        return self._too_loud_seconds > 0

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(120 if self._is_compact else 200, self._bar_height + self._marks_height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(60, self.sizeHint().height())

    @property
    def _bar_height(self) -> int:
        return _COMPACT_BAR_PIXELS if self._is_compact else 14

    @property
    def _marks_height(self) -> int:
        return QFontMetrics(text_font(TextSize.META)).height()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        colors = theme_colors(self.palette())
        bar = QRectF(0, 0, self.width(), self.height() - self._marks_height).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(bar, colors.border if self._is_compact else colors.surface)
        self._paint_level(painter, bar, colors)
        if not self._is_compact:
            painter.setPen(colors.border)
            painter.drawRect(bar)
        if self._held_dbfs > _FLOOR_DBFS:
            painter.fillRect(QRectF(self._x_at(self._held_dbfs, bar) - 1, bar.top(), 2, bar.height()), colors.ink)
        painter.setFont(text_font(TextSize.META))
        self._paint_marks(painter, bar, colors)
        if self.is_too_loud:
            painter.setPen(colors.bad if self._is_compact else colors.ink)
            area = QRectF(self.rect()) if self._is_compact else bar.adjusted(4, 0, -4, 0)
            painter.drawText(area, self._words_alignment, self.tr("Too loud"))

    def _paint_level(self, painter: QPainter, bar: QRectF, colors: ThemeColors) -> None:
        zones = (
            (_FLOOR_DBFS, _GOOD_ABOVE_DBFS, colors.good if self._is_compact else colors.accent),
            (_GOOD_ABOVE_DBFS, _HOT_ABOVE_DBFS, colors.good),
            (_HOT_ABOVE_DBFS, 0.0, colors.warn if self._is_compact else colors.bad),
        )
        for low, high, colour in zones:
            if self.level_dbfs > low:
                left, right = self._x_at(low, bar), self._x_at(min(high, self.level_dbfs), bar)
                softened = QColor(colour)
                softened.setAlphaF(1.0 if self._is_compact else 0.75 if self.isEnabled() else 0.3)
                painter.fillRect(QRectF(left, bar.top(), right - left, bar.height()), softened)

    @property
    def _words_alignment(self) -> Qt.AlignmentFlag:
        if self._is_compact:  # shown instead of the marks
            return Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        return Qt.AlignmentFlag.AlignCenter

    def _paint_marks(self, painter: QPainter, bar: QRectF, colors: ThemeColors) -> None:
        if self._is_compact and self.is_too_loud:
            return
        painter.setPen(colors.quiet)
        widest = painter.fontMetrics().horizontalAdvance("-48") + 4
        for mark in _COMPACT_MARKS_DBFS if self._is_compact else _MARKS_DBFS:
            middle = min(max(self._x_at(mark, bar), widest / 2), self.width() - widest / 2)
            place = QRectF(middle - widest / 2, bar.bottom(), widest, self.height() - bar.bottom())
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(mark))

    def _x_at(self, dbfs: float, bar: QRectF) -> float:
        return bar.left() + bar.width() * (dbfs - _FLOOR_DBFS) / -_FLOOR_DBFS

    def _fall(self) -> None:
        seconds = self._clock.restart() / 1000
        self.level_dbfs = max(_FLOOR_DBFS, self.level_dbfs - _FALL_DB_PER_SECOND * seconds)
        self._held_seconds -= seconds
        if self._held_seconds <= 0:
            self._held_dbfs = max(self.level_dbfs, self._held_dbfs - _FALL_DB_PER_SECOND * seconds)
        self._too_loud_seconds = max(0.0, self._too_loud_seconds - seconds)
        if self.level_dbfs == self._held_dbfs == _FLOOR_DBFS and not self.is_too_loud:
            self._timer.stop()
        self._describe()
        self.update()

    def _describe(self) -> None:
        """Update the description in steps, so that a screen reader does not announce it 30 times a second."""
        if self.is_too_loud:
            words = self.tr("Too loud")
        elif self.level_dbfs <= _FLOOR_DBFS:
            words = self.tr("Silence")
        else:
            words = self.tr("{level:.0f} decibels").format(level=_STEP_DB * round(self.level_dbfs / _STEP_DB))
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
