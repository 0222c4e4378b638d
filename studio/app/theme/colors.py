"""Colours of the application, light and dark, by role.

A test checks that all text has the contrast of at least 4.5 that WCAG requires.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """Colours by role. Text in ``ink``, ``quiet`` and the four state colours is readable on every background."""

    ground: str  # background of windows
    surface: str  # background of lists and fields
    raised: str  # background of buttons and tool tips
    border: str
    ink: str  # text
    quiet: str  # secondary text
    faint: str  # disabled text, and waveforms
    accent: str  # the primary button, focus rings, links and what is playing
    on_accent: str  # text on ``accent``
    selection: str  # the background of selected rows; text keeps its colour on it
    marked: str  # the background of selected text
    good: str
    warn: str
    bad: str
    busy: str
    found: str  # the background of search matches


LIGHT = ThemeColors(
    ground="#f4f4f6",
    surface="#ffffff",
    raised="#fafafb",
    border="#dfe0e6",
    ink="#1b1c22",
    quiet="#5c6070",
    faint="#8a8f9e",
    accent="#4b53c4",
    on_accent="#ffffff",
    selection="#e6e7f7",  # 14 % of the accent on the surface
    marked="#c9cbed",
    good="#1a6b3a",
    warn="#855400",
    bad="#b3261e",
    busy="#4b53c4",
    found="#ffe39a",
)
DARK = ThemeColors(
    ground="#16171b",
    surface="#1d1e24",
    raised="#26282f",
    border="#363944",
    ink="#e8e9ee",
    quiet="#a6abba",
    faint="#767b8b",
    accent="#9aa5ff",
    on_accent="#14162b",
    selection="#34364b",  # 18 % of the accent on the surface
    marked="#4a5082",
    good="#6fd08f",
    warn="#f0b95a",
    bad="#ff8d84",
    busy="#9aa5ff",
    found="#5a4708",
)


def theme_colors(palette: QPalette) -> ThemeColors:
    """Return the colours that belong to ``palette``."""
    return DARK if is_dark(palette) else LIGHT


def is_dark(palette: QPalette) -> bool:
    return palette.color(QPalette.ColorRole.Base).lightness() < 128


def make_palette(colors: ThemeColors) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for where, colour in {
        role.Window: colors.ground,
        role.WindowText: colors.ink,
        role.Base: colors.surface,
        role.AlternateBase: colors.raised,
        role.Text: colors.ink,
        role.PlaceholderText: colors.quiet,
        role.Button: colors.raised,
        role.ButtonText: colors.ink,
        role.BrightText: colors.bad,
        role.Highlight: colors.selection,
        role.HighlightedText: colors.ink,
        role.Accent: colors.accent,
        role.Link: colors.accent,
        role.LinkVisited: colors.busy,
        role.ToolTipBase: colors.raised,
        role.ToolTipText: colors.ink,
        role.Light: colors.raised,
        role.Midlight: colors.raised,
        role.Mid: colors.border,
        role.Dark: colors.border,
        role.Shadow: colors.border,
    }.items():
        palette.setColor(where, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for where in (role.WindowText, role.Text, role.ButtonText, role.ToolTipText):
        palette.setColor(disabled, where, QColor(colors.faint))
    palette.setColor(disabled, role.Highlight, QColor(colors.border))
    palette.setColor(disabled, role.HighlightedText, QColor(colors.faint))
    return palette


def mixed(colour: str, ground: str, share: float) -> str:
    """Return ``colour`` painted on ``ground`` with the opacity ``share``, 0 to 1."""
    one, other = QColor(colour), QColor(ground)
    parts = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    return QColor(*(round(share * upper + (1 - share) * lower) for upper, lower in parts)).name()
