"""Drawing of waveform outlines, shared by the waveform view and the thumbnails."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from studio.app.widgets.peaks import Peaks, WaveformPeaks

# Quiet audio is drawn larger, in steps, so that a growing waveform is rarely rescaled.
_HEIGHT_STEPS = (0.125, 0.25, 0.5, 1.0)
_LEAST_HEIGHT_PIXELS = 1.0


def full_height(loudest: float) -> float:
    """Return the sample value at the top edge."""
    return next((step for step in _HEIGHT_STEPS if loudest <= step), max(1.0, loudest))


def paint_outline(
    painter: QPainter, area: QRectF, outline: WaveformPeaks, colour: QColor, *, height: float | None = None
) -> None:
    """Draw ``outline`` across ``area``; ``height`` is the sample value at the top edge, by default fitted."""
    if not len(outline):
        return
    scale = area.height() / 2 / (full_height(outline.loudest) if height is None else height)
    middle, step = area.center().y(), area.width() / len(outline)
    lines = []
    for column, (low, high) in enumerate(zip(outline.lows.tolist(), outline.highs.tolist(), strict=True)):
        x = area.left() + (column + 0.5) * step
        top, bottom = middle - high * scale, middle - low * scale
        if bottom - top < _LEAST_HEIGHT_PIXELS:
            top, bottom = (top + bottom - _LEAST_HEIGHT_PIXELS) / 2, (top + bottom + _LEAST_HEIGHT_PIXELS) / 2
        lines.append(QLineF(x, top, x, bottom))
    pen = QPen(colour)
    pen.setWidthF(step)
    painter.setPen(pen)
    painter.drawLines(lines)


def paint_curve(
    painter: QPainter, area: QRectF, peaks: Peaks, colour: QColor, *, start_seconds: float, end_seconds: float
) -> None:
    """Draw the samples as a polyline, for views with fewer samples than pixels."""
    rate = peaks.sample_rate
    first = max(0, int(start_seconds * rate))
    samples = peaks.samples[first : int(end_seconds * rate) + 2]
    pixels_per_second = area.width() / (end_seconds - start_seconds)
    scale, middle = area.height() / 2 / full_height(loudest_of(peaks)), area.center().y()
    points = [
        QPointF(area.left() + ((first + offset) / rate - start_seconds) * pixels_per_second, middle - sample * scale)
        for offset, sample in enumerate(samples.tolist())
    ]
    painter.setPen(QPen(colour, 1.5))
    painter.drawPolyline(points)


def loudest_of(peaks: Peaks) -> float:
    return peaks.outline(0.0, peaks.seconds, 256).loudest if peaks.num_samples else 0.0
