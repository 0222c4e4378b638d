"""Painting of the waveform view: ruler, waveform and selection."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from studio.app.widgets.clip_selection import ClipSelection, Handle
from studio.app.widgets.colours import Colours
from studio.app.widgets.peaks import Peaks
from studio.app.widgets.sound_painting import full_height, loudest_of, paint_curve, paint_outline
from studio.app.widgets.time_ruler import ruler_marks, time_text

GRIP_PIXELS = 8
_GRIP_HEIGHT_PIXELS = 24
_HANDLE_PIXELS = 3
_PIXELS_PER_MARK = 90


@dataclass(frozen=True, slots=True)
class Scale:
    """Mapping from time to pixels of the widget."""

    start_seconds: float
    end_seconds: float
    width: int

    def x_at(self, seconds: float) -> float:
        return (seconds - self.start_seconds) / (self.end_seconds - self.start_seconds) * self.width


def paint_ruler(painter: QPainter, area: QRectF, scale: Scale, colours: Colours) -> None:
    """Paint times above ``area``, and a faint line down from each."""
    for seconds, words in ruler_marks(scale.start_seconds, scale.end_seconds, scale.width // _PIXELS_PER_MARK):
        x = scale.x_at(seconds)
        painter.setPen(colours.line)
        painter.drawLine(QPointF(x, 0), QPointF(x, area.bottom()))
        if x + 4 + painter.fontMetrics().horizontalAdvance(words) <= area.right():  # a cut label would be misread
            painter.setPen(colours.faint_text)
            painter.drawText(QPointF(x + 4, area.top() - 4), words)
    painter.setPen(colours.line)
    painter.drawLine(area.topLeft(), area.topRight())


def paint_sound(
    painter: QPainter, area: QRectF, scale: Scale, *, peaks: Peaks, colour: QColor, num_columns: int
) -> None:
    """Paint the waveform; audio that has not arrived is left empty instead of drawn as silence."""
    start, end = scale.start_seconds, scale.end_seconds
    if (end - start) * peaks.sample_rate < num_columns:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_curve(painter, area, peaks, colour, start_seconds=start, end_seconds=end)
        return
    shown_columns = round(num_columns * (min(end, peaks.seconds) - start) / (end - start))
    if shown_columns > 0:
        share = shown_columns / num_columns
        outline = peaks.outline(start, start + (end - start) * share, shown_columns)
        shown_area = QRectF(area.left(), area.top(), area.width() * share, area.height())
        paint_outline(painter, shown_area, outline, colour, height=full_height(loudest_of(peaks)))


def paint_selection(
    painter: QPainter, area: QRectF, scale: Scale, *, selection: ClipSelection, active: Handle | None, colours: Colours
) -> None:
    """Paint the handles and the length of the selection, and dim everything outside it."""
    left, right = scale.x_at(selection.start_seconds), scale.x_at(selection.end_seconds)
    painter.fillRect(QRectF(0, area.top(), max(0.0, left), area.height()), colours.veil)
    painter.fillRect(QRectF(right, area.top(), max(0.0, scale.width - right), area.height()), colours.veil)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colours.handle)
    for handle, x in ((Handle.START, left), (Handle.END, right)):
        width = 2 * _HANDLE_PIXELS if handle is active else _HANDLE_PIXELS
        painter.drawRect(QRectF(x - width / 2, area.top(), width, area.height()))
        grip_top = area.center().y() - _GRIP_HEIGHT_PIXELS / 2
        painter.drawRoundedRect(QRectF(x - GRIP_PIXELS / 2, grip_top, GRIP_PIXELS, _GRIP_HEIGHT_PIXELS), 3, 3)
    painter.restore()
    painter.setPen(colours.text)
    painter.drawText(QPointF(left + GRIP_PIXELS, area.bottom() - 6), time_text(selection.seconds, 2))
