"""Room on the screen: dialogs that are no larger than it, and pages that scroll where they find too little.

A laptop's 1280 by 800 at 200 % leaves 640 by 400 of Qt's points.
"""

from __future__ import annotations

from PySide6.QtCore import QMargins, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QScrollArea, QWidget

from studio.app.widgets.painting_guard import paints_safely

_FRAME_PIXELS = 40  # title bar and borders, which nobody knows before a window is shown
_LEAST_SIZE = QSize(200, 120)
# Lists and texts in a dock, which would otherwise hold the window open by their own least size.
LEAST_LIST_PIXELS = 36


def available_size() -> QSize:
    """For the inside of a window."""
    return QGuiApplication.primaryScreen().availableSize().shrunkBy(QMargins(0, _FRAME_PIXELS, 0, 0))


def fit_to_screen(width: int, height: int) -> QSize:
    """That size, or as much of it as the screen has room for."""
    return QSize(width, height).boundedTo(available_size())


@paints_safely
class ScrolledPage(QScrollArea):
    """``page`` as it wants to be where there is room, else behind scroll bars."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it follows the control that has it
        self.setWidget(page)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._page.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._page.minimumSizeHint().boundedTo(_LEAST_SIZE)
