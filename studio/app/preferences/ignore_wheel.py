"""Controls that react to the wheel only while focused, so that a page can be scrolled over them."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

Control = TypeVar("Control", bound=QWidget)


def ignore_wheel(control: Control) -> Control:
    """Return ``control``, which now passes wheel events to the page unless it has the focus."""
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    control.installEventFilter(_WheelGuard(control))
    return control


class _WheelGuard(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        assert isinstance(watched, QWidget)
        if event.type() != QEvent.Type.Wheel or watched.hasFocus():
            return False
        event.ignore()  # Qt then passes it to the parent
        return True
