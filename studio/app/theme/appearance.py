"""Appearance of the application: colours, fonts and style rules, chosen by the user or the system.

Decision: the Fusion style with our own palettes. Reason: on many desktops, Qt's colour schemes have no effect.
"""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from studio.app.theme.colors import DARK, LIGHT, make_palette
from studio.app.theme.fonts import interface_font
from studio.app.theme.style_sheet import style_sheet


class Appearance(Enum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def apply_theme(application: QApplication, appearance: Appearance) -> None:
    """Apply ``appearance`` to all windows, including open ones."""
    has_dark_system = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    is_dark = appearance is Appearance.DARK or (appearance is Appearance.SYSTEM and has_dark_system)
    colors = DARK if is_dark else LIGHT
    application.setStyle("Fusion")
    application.setFont(interface_font())
    application.setPalette(make_palette(colors))
    application.setStyleSheet(style_sheet(colors, is_dark=is_dark))
