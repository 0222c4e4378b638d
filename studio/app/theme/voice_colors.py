"""Colours of voices. A name has the same colour in the script, on its card and in lists."""

from __future__ import annotations

import zlib

from PySide6.QtGui import QColor, QGuiApplication, QPalette

from studio.app.theme.colors import is_dark, mixed, theme_colors
from studio.voices.voice import name_key

# Colours at the same index have the same hue. All are readable on every background of their theme.
LIGHT_VOICES = (
    "#a3480f", "#176a5c", "#7a3fb0", "#2560b0", "#9a2f6b", "#526217", "#7d5200", "#a82734", "#0d647f", "#6a4a3a",
)  # fmt: skip
DARK_VOICES = (
    "#f0a06a", "#66d0bb", "#c69bf5", "#84b8ff", "#f08bc2", "#bcd06a", "#e6c15c", "#ff9d97", "#6cc8e6", "#d0b09a",
)  # fmt: skip
_GROUND_SHARES = (0.14, 0.18)  # light and dark


def voice_color(name: str, palette: QPalette | None = None) -> QColor:
    """Return the colour of the voice ``name``, for text and marks. Names that differ only in case have the same colour.

    ``palette`` is the widget's palette, by default the application's.
    """
    colours = DARK_VOICES if is_dark(_or_default(palette)) else LIGHT_VOICES
    return QColor(colours[zlib.crc32(name_key(name).encode()) % len(colours)])


def voice_ground(name: str, palette: QPalette | None = None) -> QColor:
    """Return the background for the voice's initial in ``voice_color``."""
    palette = _or_default(palette)
    share = _GROUND_SHARES[is_dark(palette)]
    return QColor(mixed(voice_color(name, palette).name(), theme_colors(palette).surface, share))


def voice_initial(name: str) -> str:
    """Return the first letter of ``name`` in upper case; empty without a name."""
    return name.strip()[:1].upper()


def _or_default(palette: QPalette | None) -> QPalette:
    return QGuiApplication.palette() if palette is None else palette
