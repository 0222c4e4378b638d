"""What hangs on the mouse while lines are dragged: a small label, so that the lines below stay in sight."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget

_WIDEST_PIXELS = 260
_MARGIN_PIXELS = 8


def drag_pixmap(words: str, widget: QWidget) -> QPixmap:
    """One line of ``words`` in the font and the colours of ``widget``, as sharp as its screen."""
    metrics, palette = widget.fontMetrics(), widget.palette()
    shown = metrics.elidedText(" ".join(words.split()) or "…", Qt.TextElideMode.ElideRight, _WIDEST_PIXELS)
    width = metrics.horizontalAdvance(shown) + 2 * _MARGIN_PIXELS
    height = metrics.height() + _MARGIN_PIXELS
    ratio = widget.devicePixelRatioF()
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
    painter.setPen(Qt.PenStyle.NoPen)
    area = QRectF(0, 0, width, height)
    painter.drawRoundedRect(area, 4, 4)
    painter.setFont(widget.font())
    painter.setPen(palette.color(QPalette.ColorRole.HighlightedText))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown)
    painter.end()
    return picture
