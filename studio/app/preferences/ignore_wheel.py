"""Knobs that a page may be scrolled over: the wheel turns only the one that has the focus."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

Control = TypeVar("Control", bound=QWidget)


def ignore_wheel(control: Control) -> Control:
    """The same control; turned over without the focus, the wheel goes on to the page."""
    control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    control.installEventFilter(_WheelGuard(control))
    return control


class _WheelGuard(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        assert isinstance(watched, QWidget)
        if event.type() != QEvent.Type.Wheel or watched.hasFocus():
            return False
        event.ignore()  # so that Qt offers it to the page
        return True
