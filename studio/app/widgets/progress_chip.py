"""Button of the status bar that shows the progress of background work and opens its details."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from studio.app.theme.colors import theme_colors
from studio.app.widgets.painting_guard import paints_safely

_LINE_PIXELS = 2
_MAX_LETTERS = 40


@paints_safely
class ProgressChip(QToolButton):
    """Shows a text above a line of progress; hidden without a text."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """``name`` is the accessible name of the button."""
        super().__init__(parent)
        self._share: float | None = None
        self.setAutoRaise(True)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def show_progress(self, words: str, share: float | None, details: str = "") -> None:
        """Show ``words`` and the finished ``share``, 0..1 or None if unknown. ``details`` is the tool tip."""
        self._share = share
        width = _MAX_LETTERS * self.fontMetrics().averageCharWidth()
        self.setText(self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, width))
        self.setToolTip(details or words)
        self.setAccessibleDescription(words)
        self.setVisible(bool(words))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter, colors = QPainter(self), theme_colors(self.palette())
        track = QRectF(4, self.height() - _LINE_PIXELS, self.width() - 8, _LINE_PIXELS)
        painter.fillRect(track, colors.border)
        if self._share is not None:
            track.setWidth(track.width() * min(1.0, max(0.0, self._share)))
            painter.fillRect(track, colors.accent)
