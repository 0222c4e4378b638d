"""Colours of custom-painted widgets, from the current palette, for light and dark themes."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette

from studio.app.theme.colors import theme_colors


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours by role. ``good``, ``fair`` and ``poor`` are readable on ``ground``, and never the only indication."""

    ground: QColor
    text: QColor
    faint_text: QColor
    line: QColor
    sound: QColor
    cursor: QColor
    handle: QColor
    veil: QColor
    good: QColor
    fair: QColor
    poor: QColor

    @classmethod
    def of(cls, palette: QPalette) -> Colours:
        ground, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
        colors = theme_colors(palette)
        veil = QColor(palette.color(QPalette.ColorRole.Window))
        veil.setAlphaF(0.72)
        return cls(
            ground=ground,
            text=text,
            faint_text=QColor(colors.quiet),
            line=QColor(colors.border),
            sound=palette.color(QPalette.ColorRole.Highlight),
            cursor=text,
            handle=text,
            veil=veil,
            good=QColor(colors.good),
            fair=QColor(colors.warn),
            poor=QColor(colors.bad),
        )
