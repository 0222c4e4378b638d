"""Small label shown at the mouse pointer while lines are dragged."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget

_WIDEST_PIXELS = 260
_MARGIN_PIXELS = 8


def drag_pixmap(words: str, widget: QWidget) -> QPixmap:
    """Draw one line of ``words`` in the font, colours and resolution of ``widget``."""
    metrics, palette = widget.fontMetrics(), widget.palette()
    shown = metrics.elidedText(" ".join(words.split()) or "…", Qt.TextElideMode.ElideRight, _WIDEST_PIXELS)
    width = metrics.horizontalAdvance(shown) + 2 * _MARGIN_PIXELS
    height = metrics.height() + _MARGIN_PIXELS
    ratio = widget.devicePixelRatioF()
    pixmap = QPixmap(round(width * ratio), round(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
    painter.setPen(Qt.PenStyle.NoPen)
    area = QRectF(0, 0, width, height)
    painter.drawRoundedRect(area, 4, 4)
    painter.setFont(widget.font())
    painter.setPen(palette.color(QPalette.ColorRole.HighlightedText))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown)
    painter.end()
    return pixmap
