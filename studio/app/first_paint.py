"""The moment after a window was seen for the first time: what takes time begins then, and not before."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

# A window that begins minimised, or behind a locked screen, paints nothing, and works all the same.
_LATEST_MILLISECONDS = 3_000


def after_first_paint(window: QWidget, call: Callable[[], object]) -> None:
    """``call`` is called once, from the event loop. To be asked before the window is shown."""
    _FirstPaint(window, call)


class _FirstPaint(QObject):
    def __init__(self, window: QWidget, call: Callable[[], object]) -> None:
        super().__init__(window)
        self._call: Callable[[], object] | None = call
        window.installEventFilter(self)
        # Not a timer of no length after ``show``: a screen answers later than that.
        QTimer.singleShot(_LATEST_MILLISECONDS, self, self._begin)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._begin)
        return False

    def _begin(self) -> None:
        """What is painted in the same go is on the screen by now."""
        call, self._call = self._call, None
        if call is not None:
            call()
            self.deleteLater()
