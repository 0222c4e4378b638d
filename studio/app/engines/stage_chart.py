"""Bar chart of the seconds each stage takes per second of audio, with the current engine and with float32."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.app.engines.engine_text import figure, stage_title
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.translation import join_phrases, with_label
from studio.app.widgets.painting_guard import paints_safely
from studio.engines.overview import EngineStatus
from studio.engines.stage import Stage
from studio.model.measurements import Timing

_BAR_PIXELS = 12.0
_PLAIN_PIXELS = 4.0
_ROW_PIXELS = 30
_MARGIN_PIXELS = 8
_HEADING_PIXELS = 22
_LEGEND_PIXELS = 22
_RADIUS = 2.0
# Without the stages that run once for each voice.
_SHOWN = (Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER)


@paints_safely
class StageChart(QWidget):
    """One bar per stage, a thin one below it for float32, and a dashed line at real time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._timings: tuple[tuple[Stage, Timing | None], ...] = ()  # current engines; None if not measured
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Time per stage"))

    def show_overview(self, overview: EngineStatus) -> None:
        timings = tuple((view.stage, view.current.timing) for view in overview.stages if view.stage in _SHOWN)
        if timings != self._timings:
            self._timings = timings
            self.setAccessibleDescription(self._description())
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(
            420, 2 * _MARGIN_PIXELS + _HEADING_PIXELS + _LEGEND_PIXELS + _ROW_PIXELS * max(1, len(self._timings))
        )

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(240, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme_colors(self.palette())
        metrics = self.fontMetrics()
        names = [stage_title(stage) for stage, _ in self._timings]
        left = _MARGIN_PIXELS + max((metrics.horizontalAdvance(name) for name in names), default=0) + 10
        right = self.width() - _MARGIN_PIXELS - metrics.horizontalAdvance("0.0000 s/s")
        scale = (right - left) / self._longest()
        self._draw_heading(painter, colors)
        self._draw_real_time(painter, colors, left + scale, right)
        for row, (name, (_, timing)) in enumerate(zip(names, self._timings, strict=True)):
            top = _MARGIN_PIXELS + _HEADING_PIXELS + row * _ROW_PIXELS
            painter.setPen(colors.ink)
            box = QRectF(_MARGIN_PIXELS, top, left - _MARGIN_PIXELS, _BAR_PIXELS + _PLAIN_PIXELS + 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
            self._draw_bars(painter, colors, timing, QPointF(left, top), scale)
        self._draw_legend(painter, colors, _MARGIN_PIXELS)

    def _draw_heading(self, painter: QPainter, colors: ThemeColors) -> None:
        painter.setPen(colors.quiet)
        box = QRectF(_MARGIN_PIXELS, 0, self.width() - 2 * _MARGIN_PIXELS, _HEADING_PIXELS)
        words = self.tr("Seconds per second of audio")
        shown = self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)

    def _draw_bars(
        self, painter: QPainter, colors: ThemeColors, timing: Timing | None, corner: QPointF, scale: float
    ) -> None:
        left, top = corner.x(), corner.y()
        if timing is None:
            painter.setPen(colors.quiet)
            box = QRectF(left, top, self.width() - left, _BAR_PIXELS + _PLAIN_PIXELS + 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, self.tr("not measured"))
            return
        seconds = timing.seconds_per_audio_second
        bar = QRectF(left, top, max(2.0, scale * seconds), _BAR_PIXELS)
        plain_width = max(2.0, scale * timing.reference_seconds_per_audio_second)
        plain_bar = QRectF(left, bar.bottom() + 2, plain_width, _PLAIN_PIXELS)
        _draw_bar(painter, colors.accent, bar)
        _draw_bar(painter, colors.quiet, plain_bar)
        width = max(bar.width(), plain_bar.width())
        painter.setPen(colors.ink)
        box = QRectF(left + width + 6, top, self.width() - left - width - 6, _BAR_PIXELS + _PLAIN_PIXELS + 2)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, self.tr("{seconds} s").format(seconds=figure(seconds)))

    def _draw_real_time(self, painter: QPainter, colors: ThemeColors, x: float, right: float) -> None:
        """Draw the line at one second per second of audio. A bar that crosses it means slower than real time."""
        if x > right or not self._timings:
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
        timings = [timing for _, timing in self._timings if timing is not None]
        return max(
            (max(each.seconds_per_audio_second, each.reference_seconds_per_audio_second) for each in timings),
            default=1.0,
        )

    def _description(self) -> str:
        """Return the figures as text for screen readers."""
        return join_phrases(
            with_label(
                stage_title(stage),
                self.tr("not measured") if timing is None else f"{figure(timing.seconds_per_audio_second)} s",
            )
            for stage, timing in self._timings
        )


def _draw_bar(painter: QPainter, colour: str, box: QRectF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(box, _RADIUS, _RADIUS)
