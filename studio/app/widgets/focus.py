"""Where the keyboard is when something goes from the screen."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget


def holds_focus(widget: QWidget) -> bool:
    """Whether keys go to ``widget`` or to something in it.

    Whoever hides that says where they are to go: Qt hands them to the next control, and the next Space
    presses a button that nobody has chosen.
    """
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))
