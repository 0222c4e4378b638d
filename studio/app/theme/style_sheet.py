"""Style rules that a palette cannot express: buttons, fields, tabs, menus and scroll bars.

Decision: style sheets on Fusion. Reason: a style class in Python would be called for every element that is painted.
"""

from __future__ import annotations

from dataclasses import asdict

from PySide6.QtGui import QFontInfo

from studio import paths
from studio.app.theme.colors import ThemeColors, mixed
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.sizes import RADIUS, SELECTION_BAR, SMALL_RADIUS

# Without a focus ring, a field has a border of one pixel and one more pixel of padding, so that nothing moves when it
# gets the focus.
_STYLE = """
QToolTip {{ color: {ink}; background: {raised}; border: 1px solid {border}; padding: 4px; }}
QMainWindow::separator {{ background: {ground}; width: 5px; height: 5px; }}
QMainWindow::separator:hover {{ background: {border}; }}
QDockWidget {{ font-weight: 600; }}
QDockWidget::title {{ background: {ground}; padding: 6px 8px; }}
QToolBar {{ border: 0; border-bottom: 1px solid {border}; spacing: 4px; padding: 2px 8px; }}
QToolBar::separator {{ background: {border}; width: 1px; margin: 6px 4px; }}
QStatusBar {{ background: {raised}; border-top: 1px solid {border}; }}
QWidget[role="bar"] {{ background: {raised}; border-bottom: 1px solid {border}; }}
QStatusBar::item {{ border: 0; }}
QMenuBar {{ background: {ground}; padding: 2px 4px; }}
QMenuBar::item {{ padding: 4px 8px; border-radius: {radius}px; background: transparent; }}
QMenuBar::item:selected, QMenuBar::item:pressed {{ background: {pressed}; }}
QMenu {{ background: {raised}; border: 1px solid {border}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 8px; border-radius: {small_radius}px; }}
QMenu::item:selected {{ background: {selection}; color: {ink}; }}
QMenu::item:disabled {{ color: {faint}; background: transparent; }}
QMenu::icon {{ padding-left: 8px; }}
QMenu::separator {{ height: 1px; background: {border}; margin: 4px 8px; }}
QMenu::indicator {{ width: 14px; height: 14px; left: 8px; }}
QMenu::indicator:checked {{ image: url("{marks}/check-{other_shade}.svg"); }}
QMenu::right-arrow {{ image: url("{marks}/right-{shade}.svg"); width: 12px; height: 12px; right: 4px; }}

QHeaderView::section {{ background: {ground}; color: {quiet}; border: 0; border-bottom: 1px solid {border};
    padding: 5px 6px; }}
QHeaderView::section:hover {{ color: {ink}; }}
QTableView, QListView, QTreeView, QPlainTextEdit, QTextEdit {{ border: 1px solid {border}; margin: 1px;
    background: {surface}; }}
QTableView:focus, QListView:focus, QTreeView:focus, QPlainTextEdit:focus, QTextEdit:focus {{
    border: 2px solid {accent}; margin: 0; }}
QAbstractItemView {{ outline: 0; }}
QDialog QListView::item, QDialog QTreeView::item, QDialog QTableView::item {{
    border-left: {selection_bar}px solid transparent; }}
QDialog QTreeView::item {{ padding: 3px 0; }}
QDialog QListView::item:hover, QDialog QTreeView::item:hover {{ background: {hover}; }}
QDialog QListView::item:selected, QDialog QTreeView::item:selected, QDialog QTableView::item:selected {{
    background: {selection}; color: {ink}; }}
QDialog QListView::item:selected, QDialog QTreeView::item:selected:first, QDialog QTreeView::item:selected:only-one,
QDialog QTableView::item:selected:first, QDialog QTableView::item:selected:only-one {{
    border-left: {selection_bar}px solid {accent}; }}
QAbstractItemView[role="page"], QAbstractItemView[role="page"]:focus {{ border: 0; margin: 0; }}
QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox {{ selection-background-color: {marked};
    selection-color: {ink}; }}

QTabWidget::pane {{ border: 0; border-top: 1px solid {border}; }}
QTabBar {{ qproperty-drawBase: 0; }}
QTabBar::tab {{ color: {quiet}; padding: 4px 12px; border: 2px solid transparent; border-radius: 0; }}
QTabBar::tab:hover {{ color: {ink}; }}
QTabBar::tab:selected {{ color: {ink}; border-bottom-color: {accent}; }}
QTabBar::tab:selected:focus {{ border: 2px solid {accent}; border-radius: {small_radius}px; }}
QTabBar::tab:disabled {{ color: {faint}; }}

QPushButton {{ background: {raised}; color: {ink}; border: 1px solid {border}; border-radius: {radius}px;
    padding: 5px 12px; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {pressed}; }}
QPushButton:default {{ border-color: {faint}; }}
QPushButton:focus {{ border: 2px solid {accent}; padding: 4px 11px; }}
QPushButton:disabled {{ color: {faint}; background: {ground}; border-color: {border}; }}
QPushButton:flat {{ background: transparent; border-color: transparent; }}
QPushButton:flat:hover {{ background: {hover}; }}
QPushButton:flat:focus {{ border-color: {accent}; }}
QPushButton::menu-indicator {{ image: url("{marks}/down-{shade}.svg"); width: 12px; height: 12px; right: 4px;
    subcontrol-origin: padding; subcontrol-position: center right; }}
QPushButton[role="primary"], QToolButton[role="primary"] {{ background: {accent}; color: {on_accent};
    border: 2px solid {accent}; border-radius: {radius}px; padding: 5px 16px; font-weight: 600; }}
QToolButton[role="primary"] {{ padding: 5px 36px 5px 16px; }}
QToolButton[role="primary"]::menu-button {{ border: 0; border-left: 1px solid {accent_pressed}; width: 20px; }}
QToolButton[role="primary"]::menu-button:hover {{ background: {accent_hover}; }}
QToolButton[role="primary"]::menu-arrow {{ image: url("{marks}/on-accent-{shade}.svg"); width: 12px; height: 12px; }}
QMessageBox QPushButton:default {{ background: {accent}; color: {on_accent}; border-color: {accent}; font-weight: 600; }}
QMessageBox QPushButton:default:hover {{ background: {accent_hover}; }}
QMessageBox QPushButton:default:focus {{ border-color: {ink}; }}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover {{ background: {accent_hover};
    border-color: {accent_hover}; }}
QPushButton[role="primary"]:pressed, QToolButton[role="primary"]:pressed {{ background: {accent_pressed};
    border-color: {accent_pressed}; }}
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus {{ border-color: {ink}; }}
QPushButton[role="primary"]:disabled, QToolButton[role="primary"]:disabled {{ background: {border}; color: {faint};
    border-color: {border}; }}

QToolButton {{ border: 2px solid transparent; border-radius: {radius}px; padding: 2px; color: {ink}; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:pressed, QToolButton:open {{ background: {pressed}; }}
QToolButton:checked {{ background: {selection}; }}
QToolButton:focus {{ border-color: {accent}; }}
QToolButton:disabled {{ color: {faint}; background: transparent; }}
QToolButton::menu-indicator {{ image: url("{marks}/down-{shade}.svg"); width: 10px; height: 10px;
    subcontrol-origin: padding; subcontrol-position: bottom right; }}

QLineEdit, QAbstractSpinBox, QComboBox {{ background: {surface}; color: {ink}; border: 1px solid {border};
    border-radius: {radius}px; padding: 4px 7px; }}
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover {{ border-color: {faint}; }}
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on {{ border: 2px solid {accent};
    padding: 3px 6px; }}
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled {{ color: {faint}; background: {ground};
    border-color: {border}; }}
QLineEdit:read-only {{ background: {ground}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit, QAbstractItemView QLineEdit {{ border: 0; border-radius: 0;
    padding: 0; background: transparent; }}
QAbstractItemView QLineEdit {{ background: {surface}; }}
QComboBox {{ padding-right: 20px; }}
QComboBox:focus, QComboBox:on {{ padding-right: 19px; }}
QComboBox:pressed:!editable {{ background: {pressed}; }}
QComboBox::drop-down, QDateEdit::drop-down {{ border: 0; width: 22px; subcontrol-origin: border; subcontrol-position: center right; }}
QComboBox::down-arrow, QDateEdit::down-arrow {{ image: url("{marks}/down-{shade}.svg"); width: 12px; height: 12px; }}
/* WORKAROUND for Qt: the list over the box keeps its scroll arrows, which cover the last entry, although all fit. */
QComboBox {{ combobox-popup: 0; qproperty-maxVisibleItems: 20; }}
QComboBox QAbstractItemView, QComboBox QAbstractItemView:focus {{ background: {raised}; border: 1px solid {border};
    padding: 4px; margin: 0; }}
QComboBox QAbstractItemView::item {{ min-height: 20px; padding: 2px 6px; border-radius: {small_radius}px; }}
QComboBox QAbstractItemView::item:selected {{ background: {selection}; color: {ink}; }}
QAbstractSpinBox {{ padding-right: 20px; qproperty-alignment: AlignCenter; }}
QAbstractSpinBox:focus {{ padding-right: 19px; }}
QAbstractSpinBox[buttonSymbols="2"] {{ padding-right: 7px; }}
QAbstractSpinBox::up-button {{ border: 0; width: 18px; subcontrol-origin: border; subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ border: 0; width: 18px; subcontrol-origin: border;
    subcontrol-position: bottom right; }}
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover {{ background: {hover}; }}
QAbstractSpinBox::up-arrow {{ image: url("{marks}/up-{shade}.svg"); width: 10px; height: 10px; }}
QAbstractSpinBox::down-arrow {{ image: url("{marks}/down-{shade}.svg"); width: 10px; height: 10px; }}

QCheckBox, QRadioButton {{ spacing: 6px; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator {{ width: 14px; height: 14px;
    border: 1px solid {quiet}; background: {surface}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{ border-radius: 3px; }}
QRadioButton::indicator {{ border-radius: 8px; }}
QCheckBox::indicator:hover, QRadioButton::indicator:hover, QAbstractItemView::indicator:hover {{
    border-color: {accent}; }}
QCheckBox::indicator:pressed, QRadioButton::indicator:pressed, QAbstractItemView::indicator:pressed {{
    background: {pressed}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{marks}/check-{shade}.svg"); }}
QAbstractItemView::indicator:indeterminate {{ background: {accent}; border-color: {accent};
    image: url("{marks}/partial-{shade}.svg"); }}
QRadioButton::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{marks}/dot-{shade}.svg"); }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ width: 12px; height: 12px;
    border: 2px solid {focus_mark}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {border}; background: {ground}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {faint}; }}

QProgressBar {{ background: {border}; border: 0; border-radius: 3px; color: {ink}; text-align: center; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}
QProgressBar[textVisible="true"]::chunk {{ background: {marked}; }}
QSlider::groove:horizontal {{ height: 4px; background: {border}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {accent}; border-radius: 2px; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -6px 0; border-radius: 8px; background: {raised};
    border: 1px solid {quiet}; }}
QSlider::handle:horizontal:hover {{ border-color: {accent}; }}
QSlider::handle:horizontal:pressed {{ background: {pressed}; border-color: {accent}; }}
QSlider::handle:horizontal:focus {{ border: 2px solid {accent}; width: 12px; height: 12px; }}

QScrollBar {{ background: transparent; border: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: {border}; border: 2px solid transparent; border-radius: 5px; }}
QScrollBar::handle:vertical {{ min-height: 28px; margin: 1px 2px; }}
QScrollBar::handle:horizontal {{ min-width: 28px; margin: 2px 1px; }}
QScrollBar::handle:hover, QScrollBar::handle:pressed {{ background: {faint}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QFrame[role="card"] {{ border: 1px solid {border}; border-radius: {radius}px; }}
QGroupBox {{ border: 1px solid {border}; border-radius: {radius}px; margin-top: 10px; padding-top: 6px; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 8px; padding: 0 4px; color: {quiet}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QLabel[role="quiet"], ElidedLabel[role="quiet"] {{ color: {quiet}; }}
QLabel[role="meta"] {{ color: {quiet}; font-size: {meta}px; }}
QLabel[role="title"] {{ font-weight: 600; }}
QLabel[role="heading"] {{ font-weight: 600; font-size: {heading}px; }}
QLabel[role="bad"] {{ color: {bad}; }}
QLabel[role="warn"], ElidedLabel[role="warn"] {{ color: {warn}; }}
QLabel[role="good"] {{ color: {good}; }}
"""


def style_sheet(colors: ThemeColors, *, is_dark: bool) -> str:
    """Return the style sheet of the application. Set the application's font first, which determines the text sizes."""
    shade, other_shade = ("dark", "light") if is_dark else ("light", "dark")
    return _STYLE.format(
        **asdict(colors),
        marks=(paths.resources() / "icons" / "marks").as_posix(),
        shade=shade,
        other_shade=other_shade,
        radius=RADIUS,
        small_radius=SMALL_RADIUS,
        selection_bar=SELECTION_BAR,
        hover=mixed(colors.ink, colors.raised, 0.05),
        pressed=mixed(colors.ink, colors.raised, 0.11),
        accent_hover=mixed(colors.ink, colors.accent, 0.12),
        accent_pressed=mixed(colors.ink, colors.accent, 0.24),
        focus_mark=colors.ink,
        meta=_pixels(TextSize.META),
        heading=_pixels(TextSize.HEADING),
    )


def _pixels(size: TextSize) -> int:
    return QFontInfo(text_font(size)).pixelSize()
