"""The colours of the program, once for light and once for dark; every pair of ink and ground reads well.

Decided: Fusion with palettes of our own, because Qt's own colour schemes do nothing on many desktops
(seen: only GNOME's platform theme follows them). Contrast is tested against WCAG's 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor, QPalette


@dataclass(frozen=True, slots=True)
class Tones:
    """``ink`` is written on ``ground`` and ``surface``; ``good``, ``warn``, ``bad``, ``busy`` are inks too.

    ``found`` is the ground of a place that was looked for, under ``ink``.
    """

    ground: str
    surface: str
    raised: str
    border: str
    ink: str
    quiet: str
    faint: str
    accent: str
    on_accent: str
    good: str
    warn: str
    bad: str
    busy: str
    found: str


LIGHT = Tones(
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
DARK = Tones(
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


def tones_of(palette: QPalette) -> Tones:
    """The set a widget is being painted with."""
    return DARK if is_dark(palette) else LIGHT


def is_dark(palette: QPalette) -> bool:
    return palette.color(QPalette.ColorRole.Base).lightness() < 128


def palette_of(tones: Tones) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for where, colour in {
        role.Window: tones.ground,
        role.WindowText: tones.ink,
        role.Base: tones.surface,
        role.AlternateBase: tones.raised,
        role.Text: tones.ink,
        role.PlaceholderText: tones.quiet,
        role.Button: tones.raised,
        role.ButtonText: tones.ink,
        role.BrightText: tones.bad,
        role.Highlight: tones.accent,
        role.HighlightedText: tones.on_accent,
        role.Accent: tones.accent,
        role.Link: tones.accent,
        role.LinkVisited: tones.busy,
        role.ToolTipBase: tones.raised,
        role.ToolTipText: tones.ink,
        role.Light: tones.raised,
        role.Midlight: tones.raised,
        role.Mid: tones.border,
        role.Dark: tones.border,
        role.Shadow: tones.border,
    }.items():
        palette.setColor(where, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for where in (role.WindowText, role.Text, role.ButtonText, role.ToolTipText):
        palette.setColor(disabled, where, QColor(tones.faint))
    palette.setColor(disabled, role.Highlight, QColor(tones.border))
    palette.setColor(disabled, role.HighlightedText, QColor(tones.faint))
    return palette
