"""Controls that many dialogs and panels contain: labels, icon buttons, rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QLayout, QToolButton, QVBoxLayout, QWidget

from studio.app.theme.icons import icon

STRETCH = 1  # empty space that takes what is left
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
Margins = int | tuple[int, int, int, int]


def in_column(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Arrange ``parts`` from top to bottom. In a pair, the number is the stretch factor of the part."""
    layout = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(layout, parts, margins, spacing)
    return layout


def in_row(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Arrange ``parts`` from left to right. In a pair, the number is the stretch factor of the part."""
    layout = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(layout, parts, margins, spacing)
    return layout


def _fill(layout: QBoxLayout, parts: Sequence[Part], margins: Margins | None, spacing: int | None) -> None:
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for each in parts:
        part, stretch = each if isinstance(each, tuple) else (each, 0)
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, QWidget):
            layout.addWidget(part, stretch)
        else:
            layout.addLayout(part, stretch)


def text_label(words: str = "", role: str = "", *, wraps: bool = True, is_selectable: bool = False) -> QLabel:
    """Return a label in the style of ``role``, see ``style_sheet.py``."""
    label = QLabel(words, wordWrap=wraps)
    if role:
        label.setProperty("role", role)
    if is_selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def set_role(label: QLabel, role: str) -> None:
    """Change the style of a label that may be visible already."""
    if label.property("role") != role:
        label.setProperty("role", role)
        label.style().unpolish(label)
        label.style().polish(label)


def icon_button(
    icon_name: str,
    tip: str,
    clicked: Callable[[], object] | SignalInstance | None = None,
    *,
    name: str = "",
    parent: QWidget | None = None,
) -> QToolButton:
    """Return a flat button without text. ``name`` is its accessible name, by default ``tip``."""
    button = QToolButton(parent, autoRaise=True)
    button.setIcon(icon(icon_name))
    button.setToolTip(tip)
    button.setAccessibleName(name or tip)
    if clicked is not None:
        button.clicked.connect(clicked)
    return button
