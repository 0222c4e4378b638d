"""The application as Qt knows it, and the files that the system hands to it while it runs.

On macOS that is how a double-clicked file arrives, at the start as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Files that come before ``hand_files_to`` was called are kept until then."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._open: Callable[[Path], object] | None = None

    def hand_files_to(self, call: Callable[[Path], object]) -> None:
        self._open = call
        waiting, self._waiting = self._waiting, []
        for path in waiting:
            call(path)

    def event(self, event: QEvent) -> bool:
        """Not an event filter: that would see every event of every widget."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if event.file():  # else an address, and nobody said that we know any
            path = Path(event.file())
            if self._open is None:
                self._waiting.append(path)
            else:
                self._open(path)
        return True
