"""Controls that many dialogs and panels contain: labels and icon buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from studio.app.theme.icons import icon


def text_label(words: str = "", role: str = "", *, wraps: bool = True, is_selectable: bool = False) -> QLabel:
    """Return a label in the style of ``role``, see ``style_sheet.py``."""
    label = QLabel(words, wordWrap=wraps)
    if role:
        label.setProperty("role", role)
    if is_selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


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
