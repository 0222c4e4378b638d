"""Callback after the first paint of a window, for slow work at the start."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

# A window that starts minimised or behind a locked screen is not painted.
_LATEST_MILLISECONDS = 3_000


def after_first_paint(window: QWidget, call: Callable[[], object]) -> None:
    """Call ``call`` once from the event loop after the first paint. Use it before the window is shown."""
    _FirstPaint(window, call)


class _FirstPaint(QObject):
    def __init__(self, window: QWidget, call: Callable[[], object]) -> None:
        super().__init__(window)
        self._call: Callable[[], object] | None = call
        window.installEventFilter(self)
        # A zero timer after ``show`` would fire before the screen is updated.
        QTimer.singleShot(_LATEST_MILLISECONDS, self, self._begin)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._begin)
        return False

    def _begin(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()
            self.deleteLater()
