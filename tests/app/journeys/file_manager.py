"""A window from which a file can be dragged, in a process of its own: ``file_manager.py FILE``.

It prints the position of the file on the screen.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

_PLACE = (1560, 880)
_SIZE = (240, 80)


class _File(QLabel):
    def __init__(self, path: str) -> None:
        super().__init__(path.rpartition("/")[2], alignment=Qt.AlignmentFlag.AlignCenter)
        self._path = path
        self.setWindowTitle("Files")
        # It must not cover the program, nor take its focus.
        self.setWindowFlags(Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowDoesNotAcceptFocus)
        self.setGeometry(*_PLACE, *_SIZE)
        self._reported: tuple[int, int] | None = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        files = QMimeData()
        files.setUrls([QUrl.fromLocalFile(self._path)])
        drag = QDrag(self)
        drag.setMimeData(files)
        drag.exec(Qt.DropAction.CopyAction)

    def report(self) -> None:
        """Print the position whenever the window manager has changed it."""
        middle = self.mapToGlobal(self.rect().center())
        if self.isVisible() and (middle.x(), middle.y()) != self._reported:
            self._reported = (middle.x(), middle.y())
            print(middle.x(), middle.y(), flush=True)  # noqa: T201


if __name__ == "__main__":
    application = QApplication(sys.argv)
    file = _File(sys.argv[1])
    file.show()
    timer = QTimer(interval=200)
    timer.timeout.connect(file.report)
    timer.start()
    sys.exit(application.exec())
