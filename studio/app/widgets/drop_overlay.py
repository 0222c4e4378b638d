"""What lies over the window while files are held above it: it says what letting go would do, and takes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QWidget

_MARGIN_PIXELS = 24
_CORNER_PIXELS = 12

# In words, what dropping these files would do; None: they cannot be used.
Describe = Callable[[list[Path]], str | None]


def local_paths(mime: QMimeData) -> list[Path]:
    """The files and folders of this computer that are being dragged, if any."""
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]


class DropOverlay(QWidget):
    """Made for a window, it makes that window accept files; children that take them themselves come first."""

    paths_dropped = Signal(list)  # of Path, as the person dragged them

    def __init__(self, window: QWidget, describe: Describe) -> None:
        super().__init__(window)
        self._window = window
        self._describe = describe
        self._words = ""
        self.setAccessibleName(self.tr("Drop files here"))
        self.setAcceptDrops(True)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self._window:
            if event.type() is QEvent.Type.Resize and self.isVisible():
                self.setGeometry(self._window.rect())
            elif isinstance(event, QDragEnterEvent):
                return self._greet(event)
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._greet(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802, ARG002
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        self.hide()
        paths = local_paths(event.mimeData())
        event.acceptProposedAction()
        # The other program waits until this is over: a dialog opened from here would freeze it.
        QTimer.singleShot(0, self, lambda: self.paths_dropped.emit(paths))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(self.palette().color(QPalette.ColorRole.Window))
        ground.setAlphaF(0.88)
        painter.fillRect(self.rect(), ground)
        frame = QRectF(self.rect()).adjusted(_MARGIN_PIXELS, _MARGIN_PIXELS, -_MARGIN_PIXELS, -_MARGIN_PIXELS)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 3, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, _CORNER_PIXELS, _CORNER_PIXELS)
        font = self.font()
        font.setPointSizeF(1.5 * font.pointSizeF())
        painter.setFont(font)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._words)

    def _greet(self, event: QDragEnterEvent) -> bool:
        """Whether the files are welcome, and the overlay is up."""
        paths = local_paths(event.mimeData())
        words = self._describe(paths) if paths else None
        if words is None:
            return False
        self._words = words
        self.setAccessibleDescription(words)
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self.update()
        event.acceptProposedAction()
        return True
