"""Bar chart of the seconds each stage takes per second of audio, with the current engine and with float32."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.engines.engine_text import figure, stage_title
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.widgets.painting_guard import paints_safely
from studio.engines.overview import EngineStatus
from studio.engines.stage import Stage

_BAR_PIXELS = 12.0
_PLAIN_PIXELS = 4.0
_ROW_PIXELS = 30
_MARGIN_PIXELS = 8
_HEADING_PIXELS = 22
_LEGEND_PIXELS = 22
_RADIUS = 2.0
# Without the stages that run once per voice.
_SHOWN = (Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER)


@dataclass(frozen=True, slots=True)
class StageTime:
    """Seconds per second of audio: ``seconds`` with the current engine, ``plain_seconds`` with float32, measured
    together. None if not measured."""

    stage: Stage
    seconds: float | None
    plain_seconds: float | None


@paints_safely
class StageChart(QWidget):
    """One bar per stage, a thin one below it for float32, and a dashed line at real time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._times: tuple[StageTime, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Time per stage"))

    @property
    def times(self) -> tuple[StageTime, ...]:
        return self._times

    def show_overview(self, overview: EngineStatus) -> None:
        times = []
        for view in overview.stages:
            timing = view.current.timing
            if view.stage in _SHOWN:
                times.append(
                    StageTime(
                        view.stage,
                        timing.seconds_per_audio_second if timing else None,
                        timing.reference_seconds_per_audio_second if timing else None,
                    )
                )
        if tuple(times) != self._times:
            self._times = tuple(times)
            self.setAccessibleDescription(self._words())
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(
            420, 2 * _MARGIN_PIXELS + _HEADING_PIXELS + _LEGEND_PIXELS + _ROW_PIXELS * max(1, len(self._times))
        )

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme_colors(self.palette())
        metrics = self.fontMetrics()
        names = [stage_title(time.stage) for time in self._times]
        left = _MARGIN_PIXELS + max((metrics.horizontalAdvance(name) for name in names), default=0) + 10
        right = self.width() - _MARGIN_PIXELS - metrics.horizontalAdvance("0.0000 s/s")
        scale = (right - left) / self._longest()
        self._draw_heading(painter, colors)
        self._draw_real_time(painter, colors, left + scale, right)
        for row, (name, time) in enumerate(zip(names, self._times, strict=True)):
            top = _MARGIN_PIXELS + _HEADING_PIXELS + row * _ROW_PIXELS
            painter.setPen(colors.ink)
            box = QRectF(_MARGIN_PIXELS, top, left - _MARGIN_PIXELS, _BAR_PIXELS + _PLAIN_PIXELS + 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
            self._draw_bars(painter, time, QPointF(left, top), scale)
        self._draw_legend(painter, colors, _MARGIN_PIXELS)

    def _draw_heading(self, painter: QPainter, colors: ThemeColors) -> None:
        painter.setPen(colors.quiet)
        box = QRectF(_MARGIN_PIXELS, 0, self.width() - 2 * _MARGIN_PIXELS, _HEADING_PIXELS)
        words = self.tr("Seconds per second of audio")
        shown = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)

    def _draw_bars(self, painter: QPainter, time: StageTime, corner: QPointF, scale: float) -> None:
        colors = theme_colors(self.palette())
        left, top = corner.x(), corner.y()
        if time.seconds is None:
            painter.setPen(colors.quiet)
            box = QRectF(left, top, self.width() - left, _BAR_PIXELS + _PLAIN_PIXELS + 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, self.tr("not measured yet"))
            return
        width = max(2.0, scale * time.seconds)
        _draw_bar(painter, colors.accent, QRectF(left, top, width, _BAR_PIXELS))
        if time.plain_seconds is not None:
            thin = QRectF(left, top + _BAR_PIXELS + 2, max(2.0, scale * time.plain_seconds), _PLAIN_PIXELS)
            _draw_bar(painter, colors.quiet, thin)
            width = max(width, thin.width())
        painter.setPen(colors.ink)
        box = QRectF(left + width + 6, top, self.width() - left - width - 6, _BAR_PIXELS + _PLAIN_PIXELS + 2)
        painter.drawText(
            box, Qt.AlignmentFlag.AlignVCenter, self.tr("{seconds} s").format(seconds=figure(time.seconds))
        )

    def _draw_real_time(self, painter: QPainter, colors: ThemeColors, x: float, right: float) -> None:
        """Draw the line at one second per second of audio; longer bars are slower than real time."""
        if x > right or not self._times:
            return
        painter.setPen(QPen(QColor(colors.border), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, _HEADING_PIXELS), QPointF(x, self.height() - _LEGEND_PIXELS))

    def _draw_legend(self, painter: QPainter, colors: ThemeColors, left: float) -> None:
        baseline = self.height() - _LEGEND_PIXELS
        for colour, thickness, words in (
            (colors.accent, _BAR_PIXELS, self.tr("now")),
            (colors.quiet, _PLAIN_PIXELS, self.tr("float32")),
        ):
            _draw_bar(painter, colour, QRectF(left, baseline + (_LEGEND_PIXELS - thickness) / 2, 16, thickness))
            painter.setPen(colors.quiet)
            width = self.fontMetrics().horizontalAdvance(words)
            box = QRectF(left + 22, baseline, width + 4, _LEGEND_PIXELS)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)
            left += 22 + width + 22
        painter.setPen(QPen(QColor(colors.quiet), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(left, baseline + 4), QPointF(left, baseline + _LEGEND_PIXELS - 4))
        painter.setPen(colors.quiet)
        words = self.tr("real time")
        box = QRectF(left + 8, baseline, self.width() - left - 8, _LEGEND_PIXELS)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)

    def _longest(self) -> float:
        figures = [value for time in self._times for value in (time.seconds, time.plain_seconds) if value]
        return max(figures, default=1.0)

    def _words(self) -> str:
        """Return the figures as text for screen readers."""
        rows = []
        for time in self._times:
            words = self.tr("not measured yet") if time.seconds is None else f"{figure(time.seconds)} s"
            rows.append(f"{stage_title(time.stage)}: {words}")
        return "; ".join(rows)


def _draw_bar(painter: QPainter, colour: str, box: QRectF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(box, _RADIUS, _RADIUS)
