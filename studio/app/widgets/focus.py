"""Check of the keyboard focus."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


def holds_focus(widget: QWidget) -> bool:
    """Return whether ``widget`` or one of its children has the focus.

    Move the focus before such a widget is hidden. Otherwise, Qt moves it to the next control, and the next press of
    Space activates a button that the user did not choose.
    """
    focus = QApplication.focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))


def place_in_tab_order(before: QWidget, added: QWidget) -> None:
    """Place the controls in ``added`` directly after ``before`` in the tab order.

    Qt places controls that are added to a window at the end.
    """
    group, following = [added], added.nextInFocusChain()
    while following is not None and added.isAncestorOf(following):
        group.append(following)
        following = following.nextInFocusChain()
    # ``setTabOrder`` ignores widgets that cannot have the focus.
    last: QWidget | None = before
    while last is not None and last is not added and last.focusPolicy() is Qt.FocusPolicy.NoFocus:
        last = last.previousInFocusChain()
    for control in group:
        if last is not None and control.focusPolicy() is not Qt.FocusPolicy.NoFocus:
            QWidget.setTabOrder(last, control)
            last = control
