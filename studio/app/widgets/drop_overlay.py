"""What lies over the window while files are held above it: it says what letting go would do, and takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QWidget

from studio.app.widgets.painting_guard import paints_safely

_MARGIN_PIXELS = 24
_CORNER_PIXELS = 12
# Ctrl may go down while the mouse rests, of which no drag tells.
_LOOK_MILLISECONDS = 100


@dataclass(frozen=True, slots=True)
class DraggedFiles:
    """Files and folders over the window; ``place`` is a point of the window."""

    paths: tuple[Path, ...]
    place: QPoint = QPoint()
    has_control: bool = False


@dataclass(frozen=True, slots=True)
class DropPrompt:
    """In words, what letting go would do; ``area`` is the part of the window it would be done to."""

    words: str
    area: QRect | None = None


# None: they cannot be used.
Describe = Callable[[DraggedFiles], DropPrompt | None]


def local_paths(mime: QMimeData) -> list[Path]:
    """The files and folders of this computer that are being dragged, if any."""
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]


@paints_safely
class DropOverlay(QWidget):
    """Made for a window, it makes that window accept files; children that take them themselves come first."""

    dropped = Signal(object)  # Held

    def __init__(self, window: QWidget, describe: Describe) -> None:
        super().__init__(window)
        self._window = window
        self._describe = describe
        self._held = DraggedFiles(())
        self._offer = DropPrompt("")
        self._had_control = False
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_MILLISECONDS)
        self._look.timeout.connect(self._look_at_keys)
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
        self._show(self._seen(event, self._held.paths))
        _accept(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802, ARG002
        self._leave()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        held = self._seen(event, tuple(local_paths(event.mimeData())))
        self._leave()
        _accept(event)
        # The other program waits until this is over: a dialog opened from here would freeze it.
        QTimer.singleShot(0, self, lambda: self.dropped.emit(held))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, area = self.palette(), self._offer.area
        ground = QColor(palette.color(QPalette.ColorRole.Window))
        ground.setAlphaF(0.88)
        covered = QPainterPath()
        covered.addRect(QRectF(self.rect()))
        if area is not None:
            target = QPainterPath()
            target.addRect(QRectF(area))
            covered -= target
        painter.fillPath(covered, ground)
        frame = QRectF(self.rect()).adjusted(_MARGIN_PIXELS, _MARGIN_PIXELS, -_MARGIN_PIXELS, -_MARGIN_PIXELS)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 3, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, _CORNER_PIXELS, _CORNER_PIXELS)
        if area is not None:
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 2))
            painter.drawRect(QRectF(area))
        font = self.font()
        font.setPointSizeF(1.5 * font.pointSizeF())
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(_room_for_words(frame, area), flags, self._offer.words)

    # Inside.

    def _greet(self, event: QDragEnterEvent) -> bool:
        """Whether the files are welcome, and the overlay is up."""
        paths = tuple(local_paths(event.mimeData()))
        if not paths or not self._show(self._seen(event, paths)):
            return False
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self._had_control = _control_is_down(QGuiApplication.queryKeyboardModifiers())
        self._look.start()
        _accept(event)
        return True

    def _seen(self, event: QDropEvent, paths: tuple[Path, ...]) -> DraggedFiles:
        has_control = self._had_control or _control_is_down(event.modifiers())
        return DraggedFiles(paths, event.position().toPoint(), has_control)

    def _show(self, held: DraggedFiles) -> bool:
        offer = self._describe(held)
        if offer is None:
            return False
        self._held = held
        if offer != self._offer:
            self._offer = offer
            self.setAccessibleDescription(offer.words)
            self.update()
        return True

    def _look_at_keys(self) -> None:
        has_control = _control_is_down(QGuiApplication.queryKeyboardModifiers())
        if has_control != self._had_control:
            self._had_control = has_control
            self._show(replace(self._held, has_control=has_control))

    def _leave(self) -> None:
        self._look.stop()
        self._had_control = False
        self.hide()


def _control_is_down(modifiers: Qt.KeyboardModifier) -> bool:
    return bool(modifiers & Qt.KeyboardModifier.ControlModifier)


def _accept(event: QDropEvent) -> None:
    """As a copy, whatever was proposed: after a move, the other program might remove the file."""
    if event.possibleActions() & Qt.DropAction.CopyAction:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.acceptProposedAction()


def _room_for_words(frame: QRectF, area: QRect | None) -> QRectF:
    """The larger part of ``frame`` above or below ``area``."""
    if area is None:
        return frame
    above, below = QRectF(frame), QRectF(frame)
    above.setBottom(area.top())
    below.setTop(area.bottom())
    return above if above.height() > below.height() else below
