"""Fonts: the application's font with Chinese fallbacks, and a scale of four sizes relative to it."""

from __future__ import annotations

import sys
from enum import Enum

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication

_INTERFACE_PIXELS = 13
# Fonts with Chinese glyphs, in order of preference. Qt finds others, but may mix several designs.
_CHINESE_FAMILIES = {
    "win32": ("Microsoft YaHei UI", "Microsoft YaHei"),
    "darwin": ("PingFang SC",),
}
_OTHER_CHINESE_FAMILIES = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei")


class TextSize(Enum):
    """Size of a text. The value is the size in pixels for an application font of 13 pixels."""

    META = 12  # figures, hints, chips
    INTERFACE = 13
    MANUSCRIPT = 16
    HEADING = 20


def interface_font() -> QFont:
    """Return the system's font with Chinese fallbacks, enlarged to 13 pixels if it is smaller."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    fallbacks = _CHINESE_FAMILIES.get(sys.platform, _OTHER_CHINESE_FAMILIES)
    # First resolve an alias such as "Sans Serif": Qt would prefer an installed fallback to an alias, and Chinese fonts
    # have wide quotation marks.
    families = font.families() if sys.platform == "darwin" else [QFontInfo(font).family()]
    font.setFamilies(list(dict.fromkeys((*families, *fallbacks))))
    pixels = QFontInfo(font).pixelSize()
    return _scaled(font, _INTERFACE_PIXELS / pixels) if 0 < pixels < _INTERFACE_PIXELS else font


def text_font(size: TextSize = TextSize.INTERFACE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the application's font in ``size`` and ``weight``."""
    font = _scaled(QGuiApplication.font(), size.value / _INTERFACE_PIXELS)
    font.setWeight(weight)
    return font


def _scaled(font: QFont, factor: float) -> QFont:
    scaled = QFont(font)
    if font.pointSizeF() > 0:
        scaled.setPointSizeF(font.pointSizeF() * factor)
    else:  # the font has a size in pixels
        scaled.setPixelSize(max(1, round(font.pixelSize() * factor)))
    return scaled
