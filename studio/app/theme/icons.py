"""Icons from ``resources/icons``: SVG line drawings in the text colour.

Icons use the palette that is current when they are painted, so they follow a change between light and dark.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from studio import paths
from studio.app.widgets.painting_guard import paints_safely

# WORKAROUND: Qt owns the result of ``clone``, but PySide would delete it.
_engines: list[QIconEngine] = []


@cache
def icon(name: str, colour: str | None = None) -> QIcon:
    """Return the icon in the file ``name``, drawn in ``colour`` or, by default, in the text colour."""
    engine = _LineIcon(name, colour)
    _engines.append(engine)
    return QIcon(engine)


@paints_safely
class _LineIcon(QIconEngine):
    def __init__(self, name: str, colour: str | None) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def clone(self) -> QIconEngine:
        engine = _LineIcon(self._name, self._colour)
        _engines.append(engine)
        return engine

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        colour = self._colour if self._colour and mode != QIcon.Mode.Disabled else _ink(mode)
        side = min(rect.width(), rect.height())
        box = QRectF(0, 0, side, side)
        box.moveCenter(QRectF(rect).center())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _drawing(self._name, colour).render(painter, box)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap


@cache
def _drawing(name: str, colour: str) -> QSvgRenderer:
    svg = (paths.resources() / "icons" / f"{name}.svg").read_text("utf-8")
    return QSvgRenderer(QByteArray(svg.replace("currentColor", colour).encode()))


def _ink(mode: QIcon.Mode) -> str:
    palette = QGuiApplication.palette()
    if mode == QIcon.Mode.Disabled:
        return palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText).name()
    role = QPalette.ColorRole.HighlightedText if mode == QIcon.Mode.Selected else QPalette.ColorRole.ButtonText
    return palette.color(role).name()
