"""Style of the application: Fusion, the chosen palette, and rules that a palette cannot express."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from studio import paths
from studio.app.theme.colors import DARK, LIGHT, palette_of

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
