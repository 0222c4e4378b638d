"""Sizes of dialogs and pages on small screens.

A laptop screen of 1280 x 800 pixels has only 640 x 400 logical pixels at a scale of 200 %.
"""

from __future__ import annotations

from PySide6.QtCore import QMargins, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QScrollArea, QWidget

from studio.app.widgets.painting_guard import paints_safely

_FRAME_PIXELS = 40  # estimate of the title bar and borders, whose size is unknown before a window is shown
_MIN_SIZE = QSize(200, 120)
# Minimum height of lists and texts in a dock. Qt's default is so large that the window could not be made small.
MIN_LIST_PIXELS = 36


def available_size() -> QSize:
    """Return the largest size of a window's contents."""
    return QGuiApplication.primaryScreen().availableSize().shrunkBy(QMargins(0, _FRAME_PIXELS, 0, 0))


def fit_to_screen(width: int, height: int) -> QSize:
    """Return ``width`` and ``height``, reduced to fit the screen."""
    return QSize(width, height).boundedTo(available_size())


@paints_safely
class ScrolledPage(QScrollArea):
    """Scroll area that shows ``page`` in a window that may be too small for it."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the scroll area already scrolls to the focused control
        self.setWidget(page)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._page.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._page.minimumSizeHint().boundedTo(_MIN_SIZE)
