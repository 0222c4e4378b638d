"""Thumbnail of a waveform, for voice cards and lists of takes. Delegates use ``paint_outline``."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.app.widgets.colours import Colours
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import Samples, WaveformPeaks, outline_of
from studio.app.widgets.sound_painting import paint_outline

MINI_COLUMNS = 96


@paints_safely
class MiniWaveform(QWidget):
    """Shows a whole waveform, without a time axis."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._outline: WaveformPeaks | None = None
        self.setAccessibleName(self.tr("Small waveform"))

    def show_sound(self, samples: Samples) -> None:
        """Show ``samples`` (n,) float32; they are not kept."""
        self.show_outline(outline_of(samples, MINI_COLUMNS))

    def show_outline(self, outline: WaveformPeaks | None) -> None:
        self._outline = outline
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(96, 24)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        if self._outline is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_outline(painter, QRectF(self.rect()), self._outline, Colours.of(self.palette()).sound)
