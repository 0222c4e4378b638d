"""QApplication that receives files opened by the system while the program runs.

On macOS double-clicked files arrive this way, also at startup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Files that arrive before ``hand_files_to`` is called are kept until then."""

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
        """Handle file open events. An event filter would receive every event of every widget."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if event.file():  # otherwise a URL
            path = Path(event.file())
            if self._open is None:
                self._waiting.append(path)
            else:
                self._open(path)
        return True
