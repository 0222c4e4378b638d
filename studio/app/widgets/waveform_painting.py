"""Painting of waveforms, time ruler and selection, for the waveform view and for thumbnails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from studio.app.theme.colors import ThemeColors
from studio.app.theme.sizes import SMALL_RADIUS
from studio.app.widgets.peaks import Peaks, WaveformPeaks
from studio.app.widgets.time_ranges import ClipSelection, Handle

GRIP_PIXELS = 8
_GRIP_HEIGHT_PIXELS = 24
_HANDLE_PIXELS = 3
_OUTSIDE_OPACITY = 0.72
_PIXELS_PER_MARK = 90
_MARK_STEPS_SECONDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
)  # fmt: skip
_THUMBNAIL_HEIGHT = 0.5
# Quiet audio is drawn larger, in steps, so that a growing waveform is rarely rescaled.
_FULL_HEIGHTS = (0.125, 0.25, 0.5, 1.0)
_MIN_HEIGHT_PIXELS = 1.0
_BAR_PIXELS = 2.0
_BAR_STEP_PIXELS = 3
_LEVEL_LINES_DBFS = (-6, -12)


@dataclass(frozen=True, slots=True)
class Scale:
    """Mapping from time to pixels of the widget."""

    start_seconds: float
    end_seconds: float
    width: int

    def x_at(self, seconds: float) -> float:
        return (seconds - self.start_seconds) / (self.end_seconds - self.start_seconds) * self.width


def paint_ruler(painter: QPainter, area: QRectF, scale: Scale, colors: ThemeColors) -> None:
    """Paint times above ``area``, and a faint line down from each."""
    for seconds, words in ruler_marks(scale.start_seconds, scale.end_seconds, scale.width // _PIXELS_PER_MARK):
        x = scale.x_at(seconds)
        painter.setPen(colors.border)
        painter.drawLine(QPointF(x, 0), QPointF(x, area.bottom()))
        if x + 4 + painter.fontMetrics().horizontalAdvance(words) <= area.right():  # a clipped label would be misread
            painter.setPen(colors.quiet)
            painter.drawText(QPointF(x + 4, area.top() - 4), words)
    painter.setPen(colors.border)
    painter.drawLine(area.topLeft(), area.topRight())


def paint_waveform(
    painter: QPainter,
    area: QRectF,
    scale: Scale,
    *,
    peaks: Peaks,
    colour: QColor | str,
    num_columns: int,
    height: float | None = None,
) -> None:
    """Paint the waveform. The space of audio that has not arrived yet stays empty.

    ``height`` is the sample value at the top edge, by default chosen for the loudest sample.
    """
    start, end = scale.start_seconds, scale.end_seconds
    if height is None:
        height = _full_height(peaks.outline(0.0, peaks.seconds, 256).loudest if peaks.num_samples else 0.0)
    if (end - start) * peaks.sample_rate < num_columns:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint_curve(painter, area, scale, peaks=peaks, colour=colour, height=height)
        return
    shown_columns = round(num_columns * (min(end, peaks.seconds) - start) / (end - start))
    if shown_columns > 0:
        share = shown_columns / num_columns
        outline = peaks.outline(start, start + (end - start) * share, shown_columns)
        shown_area = QRectF(area.left(), area.top(), area.width() * share, area.height())
        paint_outline(painter, shown_area, outline, colour, height=height)


def paint_outline(
    painter: QPainter, area: QRectF, outline: WaveformPeaks, colour: QColor | str, *, height: float | None = None
) -> None:
    """Draw ``outline`` across ``area``. ``height`` is the sample value at the top edge.

    By default it is the same for all thumbnails, so that quiet and loud audio can be told apart.
    """
    if not len(outline):
        return
    full = _THUMBNAIL_HEIGHT if height is None else height
    scale = area.height() / 2 / full
    middle, step = area.center().y(), area.width() / len(outline)
    lines = []
    for column, (low, high) in enumerate(zip(outline.lows.tolist(), outline.highs.tolist(), strict=True)):
        x = area.left() + (column + 0.5) * step
        top, bottom = middle - min(high, full) * scale, middle - max(low, -full) * scale
        if bottom - top < _MIN_HEIGHT_PIXELS:
            top, bottom = (top + bottom - _MIN_HEIGHT_PIXELS) / 2, (top + bottom + _MIN_HEIGHT_PIXELS) / 2
        lines.append(QLineF(x, top, x, bottom))
    painter.setPen(QPen(QColor(colour), step))
    painter.drawLines(lines)


def paint_bars(
    painter: QPainter, area: QRectF, outline: WaveformPeaks, colour: QColor | str, *, height: float = _THUMBNAIL_HEIGHT
) -> None:
    """Draw ``outline`` as separate bars with round ends. ``height`` is the sample value at the top edge."""
    num_bars = int(area.width() // _BAR_STEP_PIXELS)
    if not len(outline) or num_bars < 1:
        return
    peaks = np.maximum(np.abs(outline.lows), np.abs(outline.highs))
    starts = np.linspace(0, len(peaks), num_bars, endpoint=False).astype(int)
    heights = np.minimum(1.0, np.maximum.reduceat(peaks, starts) / height) * area.height()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    for number, high in enumerate(np.maximum(_BAR_PIXELS, heights).tolist()):
        left = area.left() + number * _BAR_STEP_PIXELS
        painter.drawRoundedRect(QRectF(left, area.center().y() - high / 2, _BAR_PIXELS, high), 1, 1)
    painter.restore()


def paint_waveform_bars(
    painter: QPainter, area: QRectF, scale: Scale, *, peaks: Peaks, colour: QColor | str, height: float
) -> None:
    """Paint the visible part of the waveform as bars. The space of audio that has not arrived yet stays empty."""
    seconds = min(scale.end_seconds, peaks.seconds) - scale.start_seconds
    width = area.width() * seconds / max(1e-9, scale.end_seconds - scale.start_seconds)
    num_bars = math.ceil(width / _BAR_STEP_PIXELS - 1e-6)
    if num_bars < 1:
        return
    seconds_per_bar = (scale.end_seconds - scale.start_seconds) * _BAR_STEP_PIXELS / area.width()
    outline = peaks.outline(scale.start_seconds, scale.start_seconds + num_bars * seconds_per_bar, num_bars)
    shown = QRectF(area.left(), area.top(), num_bars * _BAR_STEP_PIXELS, area.height())
    paint_bars(painter, shown, outline, colour, height=height)


def paint_level_lines(painter: QPainter, area: QRectF, *, height: float, colors: ThemeColors) -> None:
    """Paint faint lines at levels in dBFS, with labels at the right edge where there is space."""
    metrics = painter.fontMetrics()
    for dbfs in _LEVEL_LINES_DBFS:
        offset = 10 ** (dbfs / 20) / height * area.height() / 2
        if offset < metrics.height() / 2:
            break
        painter.setPen(QPen(QColor(colors.border), 1))
        for y in (area.center().y() - offset, area.center().y() + offset):
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(colors.quiet))
        words = f"{dbfs} dB"
        label = QRectF(metrics.boundingRect(words).adjusted(-2, 0, 2, 0))
        label.moveCenter(QPointF(area.right() - label.width() / 2, area.center().y() - offset))
        painter.fillRect(label, QColor(colors.raised))
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, words)


def _paint_curve(
    painter: QPainter, area: QRectF, scale: Scale, *, peaks: Peaks, colour: QColor | str, height: float
) -> None:
    """Draw the samples as a polyline, for views with fewer samples than pixels."""
    rate = peaks.sample_rate
    first = max(0, int(scale.start_seconds * rate))
    samples = peaks.samples[first : int(scale.end_seconds * rate) + 2]
    pixels, middle = area.height() / 2 / height, area.center().y()
    points = [
        QPointF(area.left() + scale.x_at((first + offset) / rate), middle - sample * pixels)
        for offset, sample in enumerate(samples.tolist())
    ]
    painter.setPen(QPen(QColor(colour), 1.5))
    painter.drawPolyline(points)


def _full_height(loudest: float) -> float:
    """Return the sample value at the top edge for audio whose largest magnitude is ``loudest``."""
    return next((step for step in _FULL_HEIGHTS if loudest <= step), max(1.0, loudest))


def paint_selection(
    painter: QPainter,
    area: QRectF,
    scale: Scale,
    *,
    selection: ClipSelection,
    active: Handle | None,
    colors: ThemeColors,
) -> None:
    """Paint the handles and the length of the selection, and dim everything outside it."""
    left, right = scale.x_at(selection.start_seconds), scale.x_at(selection.end_seconds)
    veil = QColor(colors.ground)
    veil.setAlphaF(_OUTSIDE_OPACITY)
    painter.fillRect(QRectF(0, area.top(), max(0.0, left), area.height()), veil)
    painter.fillRect(QRectF(right, area.top(), max(0.0, scale.width - right), area.height()), veil)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colors.ink))
    for handle, x in ((Handle.START, left), (Handle.END, right)):
        width = 2 * _HANDLE_PIXELS if handle is active else _HANDLE_PIXELS
        painter.drawRect(QRectF(x - width / 2, area.top(), width, area.height()))
        grip_top = area.center().y() - _GRIP_HEIGHT_PIXELS / 2
        painter.drawRoundedRect(
            QRectF(x - GRIP_PIXELS / 2, grip_top, GRIP_PIXELS, _GRIP_HEIGHT_PIXELS), SMALL_RADIUS, SMALL_RADIUS
        )
    painter.restore()
    painter.setPen(colors.ink)
    painter.drawText(QPointF(left + GRIP_PIXELS, area.bottom() - 6), time_text(selection.seconds, 2))


def ruler_marks(start_seconds: float, end_seconds: float, most_marks: int) -> list[tuple[float, str]]:
    """Return at most ``most_marks`` + 1 round times with their labels."""
    span = end_seconds - start_seconds
    step = next((step for step in _MARK_STEPS_SECONDS if span / step <= max(1, most_marks)), _MARK_STEPS_SECONDS[-1])
    first, last = math.ceil(start_seconds / step - 1e-6), math.floor(end_seconds / step + 1e-6)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [(number * step, time_text(number * step, decimals)) for number in range(first, last + 1)]


def time_text(seconds: float, decimals: int = 1) -> str:
    """Format a time as ``0:07.5``, ``12:07.5`` or ``1:12:07.5``."""
    units = 10**decimals
    whole, part = divmod(round(seconds * units), units)
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{part:0{decimals}d}" if decimals else ""
    return f"{hours}:{minutes:02d}:{whole:02d}{fraction}" if hours else f"{minutes}:{whole:02d}{fraction}"
