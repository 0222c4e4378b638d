"""Check of the keyboard focus."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget


def holds_focus(widget: QWidget) -> bool:
    """Return whether ``widget`` or one of its children has the focus.

    Move the focus before such a widget is hidden. Otherwise, Qt moves it to the next control, and the next press of
    Space activates a button that the user did not choose.
    """
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))
