"""Appearance of the application: light and dark colours, and the style rules that a palette cannot express.

A test checks that all text has the contrast of at least 4.5 that WCAG requires.

Decision: the Fusion style with our own palettes. Reason: on many desktops, Qt's colour schemes have no effect.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from studio import paths

_STYLE = """
QToolTip {{ color: {ink}; background: {raised}; border: 1px solid {border}; padding: 4px; }}
QMainWindow::separator {{ background: {ground}; width: 5px; height: 5px; }}
QDockWidget {{ font-weight: 600; }}
QDockWidget::title {{ background: {ground}; padding: 6px 8px; }}
QToolBar {{ border: 0; border-bottom: 1px solid {border}; spacing: 2px; padding: 3px 6px; }}
QStatusBar {{ border-top: 1px solid {border}; }}
QStatusBar::item {{ border: 0; }}
QHeaderView::section {{ background: {ground}; color: {quiet}; border: 0; border-bottom: 1px solid {border};
    padding: 5px 6px; }}
QTableView, QListView, QPlainTextEdit, QTreeView {{ border: 1px solid {border}; }}
QTabWidget::pane {{ border: 0; border-top: 1px solid {border}; }}
QLineEdit {{ border: 1px solid {border}; border-radius: 3px; padding: 3px 4px; }}
QLineEdit:focus {{ border-color: {accent}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: 0; padding: 0; }}
QCheckBox::indicator, QRadioButton::indicator {{ width: 14px; height: 14px; border: 1px solid {quiet};
    background: {surface}; }}
QCheckBox::indicator {{ border-radius: 3px; }}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{marks}/check-{shade}.svg"); }}
QRadioButton::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{marks}/dot-{shade}.svg"); }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ border: 2px solid {accent}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {border}; background: {ground}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QLabel[role="quiet"] {{ color: {quiet}; }}
QLabel[role="title"] {{ font-weight: 600; }}
QLabel[role="bad"] {{ color: {bad}; }}
QLabel[role="warn"] {{ color: {warn}; }}
QLabel[role="good"] {{ color: {good}; }}
"""


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


class Appearance(Enum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def apply_theme(application: QApplication, appearance: Appearance) -> None:
    """Apply ``appearance`` to all windows, also when it changes while they are open."""
    has_dark_system = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    is_dark = appearance is Appearance.DARK or (appearance is Appearance.SYSTEM and has_dark_system)
    colors = DARK if is_dark else LIGHT
    application.setStyle("Fusion")
    application.setPalette(palette_of(colors))
    marks = (paths.resources() / "icons" / "marks").as_posix()
    shade = "dark" if is_dark else "light"
    application.setStyleSheet(_STYLE.format(marks=marks, shade=shade, **asdict(colors)))
