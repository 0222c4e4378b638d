"""Overlay that covers the window while files are dragged over it and describes what dropping them does."""

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
    QPaintEvent,
    QPalette,
    QPen,
    QRegion,
)
from PySide6.QtWidgets import QWidget

from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.sizes import RADIUS
from studio.app.widgets.painting_guard import paints_safely

_MARGIN_PIXELS = 24
# Pressing Ctrl without moving the mouse sends no drag event, so the key is polled.
_KEY_POLL_MILLISECONDS = 100


@dataclass(frozen=True, slots=True)
class DraggedFiles:
    """Files and folders that are dragged over the window, at ``place`` in window coordinates."""

    paths: tuple[Path, ...]
    place: QPoint = QPoint()
    has_control: bool = False


@dataclass(frozen=True, slots=True)
class DropPrompt:
    """Description of the effect of a drop, and the part of the window that it applies to."""

    words: str
    area: QRect | None = None


# Returns None if the files cannot be used.
Describe = Callable[[DraggedFiles], DropPrompt | None]


def local_paths(mime: QMimeData) -> list[Path]:
    """Return the local files and folders among the dragged items."""
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]


@paints_safely
class DropOverlay(QWidget):
    """Makes ``window`` accept files. Children that accept drops themselves take precedence."""

    dropped = Signal(object)  # DraggedFiles

    def __init__(self, window: QWidget, describe: Describe) -> None:
        super().__init__(window)
        self._window = window
        self._describe = describe
        self._dragged = DraggedFiles(())
        self._prompt = DropPrompt("")
        self._had_control = False
        self._key_timer = QTimer(self, interval=_KEY_POLL_MILLISECONDS)
        self._key_timer.timeout.connect(self._poll_control_key)
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
                return self._on_drag_enter(event)
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self._on_drag_enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        self._show(self._dragged_at(event, self._dragged.paths))
        _accept(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802, ARG002
        self._leave()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        dragged = self._dragged_at(event, tuple(local_paths(event.mimeData())))
        self._leave()
        _accept(event)
        # The other program waits until this method returns, so a dialog opened here would freeze it.
        QTimer.singleShot(0, self, lambda: self.dropped.emit(dragged))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, area = self.palette(), self._prompt.area
        ground = QColor(palette.color(QPalette.ColorRole.Window))
        ground.setAlphaF(0.88)
        painter.setClipRegion(QRegion(self.rect()) - QRegion(area or QRect()))
        painter.fillRect(self.rect(), ground)
        painter.setClipping(False)
        frame = QRectF(self.rect()).adjusted(_MARGIN_PIXELS, _MARGIN_PIXELS, -_MARGIN_PIXELS, -_MARGIN_PIXELS)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 3, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, RADIUS, RADIUS)
        if area is not None:
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 2))
            painter.drawRect(QRectF(area))
        painter.setFont(text_font(TextSize.HEADING))
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(_text_area(frame, area), flags, self._prompt.words)

    def _on_drag_enter(self, event: QDragEnterEvent) -> bool:
        """Show the overlay, and return whether the files can be used."""
        paths = tuple(local_paths(event.mimeData()))
        if not paths or not self._show(self._dragged_at(event, paths)):
            return False
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self._had_control = _control_is_down(QGuiApplication.queryKeyboardModifiers())
        self._key_timer.start()
        _accept(event)
        return True

    def _dragged_at(self, event: QDropEvent, paths: tuple[Path, ...]) -> DraggedFiles:
        has_control = self._had_control or _control_is_down(event.modifiers())
        return DraggedFiles(paths, event.position().toPoint(), has_control)

    def _show(self, dragged: DraggedFiles) -> bool:
        prompt = self._describe(dragged)
        if prompt is None:
            return False
        self._dragged = dragged
        if prompt != self._prompt:
            self._prompt = prompt
            self.setAccessibleDescription(prompt.words)
            self.update()
        return True

    def _poll_control_key(self) -> None:
        has_control = _control_is_down(QGuiApplication.queryKeyboardModifiers())
        if has_control != self._had_control:
            self._had_control = has_control
            self._show(replace(self._dragged, has_control=has_control))

    def _leave(self) -> None:
        self._key_timer.stop()
        self._had_control = False
        self.hide()


def _control_is_down(modifiers: Qt.KeyboardModifier) -> bool:
    return bool(modifiers & Qt.KeyboardModifier.ControlModifier)


def _accept(event: QDropEvent) -> None:
    """Accept the files as copies, because the other program might delete a file that was moved."""
    if event.possibleActions() & Qt.DropAction.CopyAction:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.acceptProposedAction()


def _text_area(frame: QRectF, area: QRect | None) -> QRectF:
    """Return the larger part of ``frame`` above or below ``area``."""
    if area is None:
        return frame
    above, below = QRectF(frame), QRectF(frame)
    above.setBottom(area.top())
    below.setTop(area.bottom())
    return above if above.height() > below.height() else below
