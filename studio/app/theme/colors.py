"""Light and dark colours. A test checks that all text has the contrast of at least 4.5 that WCAG requires.

Decision: the Fusion style with our own palettes. Reason: on many desktops, Qt's colour schemes have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """Colours by role. Text in ``ink``, ``quiet`` and the four colours of states is readable on every background."""

    ground: str  # of windows
    surface: str  # of lists and fields
    raised: str  # of buttons and tool tips
    border: str
    ink: str  # text
    quiet: str  # secondary text
    faint: str  # disabled text
    accent: str  # the selection, links and waveforms
    on_accent: str  # text on ``accent``
    good: str
    warn: str
    bad: str
    busy: str
    found: str  # the background of search matches


LIGHT = ThemeColors(
    ground="#f2f3f5",
    surface="#ffffff",
    raised="#fafbfc",
    border="#c9ced6",
    ink="#1c2128",
    quiet="#57606c",
    faint="#8d96a3",
    accent="#2b5fb8",
    on_accent="#ffffff",
    good="#1f7a43",
    warn="#8f5b00",
    bad="#b3261e",
    busy="#6b3fb0",
    found="#ffe39a",
)
DARK = ThemeColors(
    ground="#1e2126",
    surface="#16181c",
    raised="#262a31",
    border="#3d434d",
    ink="#e6e9ee",
    quiet="#a4adba",
    faint="#737c89",
    accent="#7ab0ff",
    on_accent="#10213d",
    good="#6fd08f",
    warn="#f0b95a",
    bad="#ff8d84",
    busy="#c3a1ff",
    found="#5a4708",
)


def theme_colors(palette: QPalette) -> ThemeColors:
    """Return the colours that belong to ``palette``."""
    return DARK if is_dark(palette) else LIGHT


def is_dark(palette: QPalette) -> bool:
    return palette.color(QPalette.ColorRole.Base).lightness() < 128


def palette_of(colors: ThemeColors) -> QPalette:
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
        role.Highlight: colors.accent,
        role.HighlightedText: colors.on_accent,
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
