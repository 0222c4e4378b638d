"""Waveform view with a playback cursor, zoom and an optional selection. Also shows audio that is still arriving.

Keys: + and - zoom, and 0 shows all. Left and Right move the cursor or, if there is a selection, its active handle.
Up and Down choose the handle, Shift makes larger steps, and Ctrl moves the whole selection.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QWidget

from studio.app.theme.colors import theme_colors
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.sizes import FOCUS_RING
from studio.app.translation import join_clauses
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import Peaks, Samples
from studio.app.widgets.time_ranges import ClipSelection, Handle, Viewport
from studio.app.widgets.waveform_painting import (
    GRIP_PIXELS,
    Scale,
    paint_level_lines,
    paint_ruler,
    paint_selection,
    paint_waveform,
    paint_waveform_bars,
)

_ZOOM_STEP = 1.5
_STEP_SECONDS, _LARGE_STEP_SECONDS = 0.01, 0.1
_SCROLL_SHARE = 0.1
_MIN_MARK_PIXELS, _MARK_LINE_PIXELS = 3.0, 2.0
_MARK_OPACITY = 0.18
_FULL_SCALE = 1.0  # sample value at the top edge of a compact view: 0 dBFS


@paints_safely
class WaveformView(QWidget):
    """Shows complete audio after ``show_samples``, and audio as it arrives between ``begin`` and ``finish``."""

    seek_requested = Signal(float)  # the time that was clicked, in seconds
    view_moved = Signal()  # the visible range, after zooming, scrolling or other audio
    selection_changed = Signal(float, float)  # start and end, in seconds; also while a handle is being dragged

    def __init__(self, parent: QWidget | None = None, *, empty_text: str = "", is_compact: bool = False) -> None:
        """``empty_text`` is shown while there is no audio.

        A compact view has no ruler. It paints bars on a fixed scale with marks in dB, and colours the part already
        played.
        """
        super().__init__(parent)
        self._is_compact = is_compact
        self.empty_text = empty_text or self.tr("No audio yet")
        self._peaks: Peaks | None = None
        self._view = Viewport()
        self.cursor_seconds: float | None = None
        self._selection: ClipSelection | None = None
        self._marks: tuple[tuple[float, float], ...] = ()
        self._active_handle = Handle.START
        self._is_dragging = False
        self._pixmap: QPixmap | None = None
        self._played_pixmap: QPixmap | None = None  # the bars of a compact view in the colour of what was played
        self._scroll_bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self._scroll_bar.setAccessibleName(self.tr("Visible part of the audio"))
        self._scroll_bar.hide()
        self._scroll_bar.valueChanged.connect(self._on_scrolled)
        self.setAccessibleName(self.tr("Waveform"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._describe()

    # Audio.

    def show_samples(self, samples: Samples, sample_rate: int) -> None:
        """Show ``samples``, (n,) float32, and clear the selection. They are not copied."""
        self.show_peaks(Peaks(sample_rate, samples))

    def show_peaks(self, peaks: Peaks) -> None:
        """Show audio by its peaks; for long audio, compute them on another thread."""
        self._set_peaks(peaks, is_growing=False)

    def begin(self, sample_rate: int) -> None:
        """Start showing audio that arrives in chunks through ``append``."""
        self._set_peaks(Peaks(sample_rate), is_growing=True)

    def append(self, samples: Samples) -> None:
        assert self._peaks is not None, "call begin before append"
        self._peaks.append(samples)
        self._view.total_seconds = self._peaks.seconds
        self._redraw()

    def finish(self) -> None:
        """Show the audio as complete."""
        self._view.is_growing = False
        self._redraw()

    def clear(self) -> None:
        self._set_peaks(None, is_growing=False)

    @property
    def seconds(self) -> float:
        return self._peaks.seconds if self._peaks is not None else 0.0

    # Cursor.

    def set_cursor(self, seconds: float | None) -> None:
        """Move the playback cursor, and scroll a zoomed view by pages. None hides the cursor."""
        before, self.cursor_seconds = self.cursor_seconds, seconds
        if seconds is not None and not self._is_dragging and self._view.reveal(seconds):
            self._view_moved()
            return
        places = [int(self._scale().x_at(moment)) for moment in (before, seconds) if moment is not None]
        if self._is_compact and places:  # the part already played changes its colour
            left = min(places) if len(places) == 2 else 0
            self.update(QRect(left - 4, 0, max(places) - left + 9, self.height()))
            return
        for x in places:
            self.update(QRect(x - 2, 0, 5, self.height()))

    # Marks.

    def set_marks(self, marks: Sequence[tuple[float, float]]) -> None:
        """Mark ranges, as start and end in seconds, such as problems. Other audio clears them."""
        self._marks = tuple(marks)
        self.update()

    @property
    def marks(self) -> tuple[tuple[float, float], ...]:
        return self._marks

    def scale(self) -> Scale:
        """Return the mapping from time to pixels."""
        return self._scale()

    # Selection.

    @property
    def selection(self) -> tuple[float, float] | None:
        return (self._selection.start_seconds, self._selection.end_seconds) if self._selection else None

    def select(
        self,
        start_seconds: float,
        end_seconds: float,
        *,
        shortest_seconds: float = 0.01,
        longest_seconds: float = float("inf"),
    ) -> None:
        """Show a selection with handles that the user can move within the limits."""
        self._selection = ClipSelection(start_seconds, end_seconds, self.seconds, shortest_seconds, longest_seconds)
        self._describe()
        self.update()

    # View.

    def zoom_in(self) -> None:
        self._zoom(_ZOOM_STEP)

    def zoom_out(self) -> None:
        self._zoom(1 / _ZOOM_STEP)

    def zoom_to_fit(self) -> None:
        self._view.fit()
        self._view_moved()

    def zoom_to_selection(self) -> None:
        if self._selection:
            margin = 0.05 * self._selection.seconds
            self._view.show(self._selection.start_seconds - margin, self._selection.end_seconds + margin)
            self._view_moved()

    @property
    def visible_range(self) -> tuple[float, float]:
        """Start and end of the visible range, in seconds."""
        return self._view.start_seconds, self._view.end_seconds

    # Events.

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(480, 120)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(120, 40)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.EnabledChange):
            self._pixmap = None
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        bar_height = self._scroll_bar.sizeHint().height()
        self._scroll_bar.setGeometry(0, self.height() - bar_height, self.width(), bar_height)
        self._pixmap = None
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002
        ratio = self.devicePixelRatioF()
        if self._pixmap is None or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = self._paint_pixmap(ratio)
        painter = QPainter(self)
        painter.drawPixmap(QPointF(0, 0), self._pixmap)
        colors = theme_colors(self.palette())
        if self._played_pixmap is not None and self.cursor_seconds is not None and self._peaks is not None:
            painter.save()
            painter.setClipRect(QRectF(0, 0, self._scale().x_at(self.cursor_seconds), self.height()))
            painter.drawPixmap(QPointF(0, 0), self._played_pixmap)
            painter.restore()
        for start, end in self._marks:
            self._paint_mark(painter, start, end, QColor(colors.bad))
        if self._selection:
            active = self._active_handle if self.hasFocus() else None
            area = self._waveform_area()
            paint_selection(painter, area, self._scale(), selection=self._selection, active=active, colors=colors)
        if self.cursor_seconds is not None and self._peaks is not None:
            painter.fillRect(QRectF(self._scale().x_at(self.cursor_seconds) - 0.75, 0, 1.5, self.height()), colors.ink)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), FOCUS_RING))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() is not Qt.MouseButton.LeftButton or self._peaks is None:
            super().mousePressEvent(event)
            return
        handle = self._handle_near(event.position().x())
        if handle is not None:
            self._active_handle, self._is_dragging = handle, True
        else:
            self.seek_requested.emit(self._moment_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        x = event.position().x()
        if self._is_dragging and self._selection:
            self._change_selection(self._selection.moved(self._active_handle, self._moment_at(x)))
        elif event.buttons() & Qt.MouseButton.LeftButton and self._peaks is not None:
            self.seek_requested.emit(self._moment_at(x))
        elif self._handle_near(x):
            self.setCursor(Qt.CursorShape.SplitHCursor)
        else:
            self.unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self._is_dragging and event.button() is Qt.MouseButton.LeftButton:
            self._is_dragging = False

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        turned = event.angleDelta()
        sideways = turned.x() or (turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and turned.y():
            self._zoom(_ZOOM_STEP ** (turned.y() / 120), around_seconds=self._moment_at(event.position().x()))
        elif sideways and not self._view.is_fitting:
            self._view.scroll_to(self._view.start_seconds - sideways / 120 * _SCROLL_SHARE * self._view.visible_seconds)
            self._view_moved()
        else:
            event.ignore()  # let the parent scroll

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if not self._handle_key(event):
            super().keyPressEvent(event)

    def _set_peaks(self, peaks: Peaks | None, *, is_growing: bool) -> None:
        self._peaks = peaks
        self._view = Viewport(self.seconds, is_growing)
        self._selection = None
        self._marks = ()
        self.cursor_seconds = None
        self._is_dragging = False
        self._view_moved()

    def _handle_key(self, event: QKeyEvent) -> bool:
        step = _LARGE_STEP_SECONDS if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else _STEP_SECONDS
        match event.key():
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom_in()
            case Qt.Key.Key_Minus:
                self.zoom_out()
            case Qt.Key.Key_0:
                self.zoom_to_fit()
            case Qt.Key.Key_Left:
                return self._nudge(-step, event)
            case Qt.Key.Key_Right:
                return self._nudge(step, event)
            case Qt.Key.Key_Up | Qt.Key.Key_Down as key if self._selection:
                self._active_handle = Handle.START if key == Qt.Key.Key_Up else Handle.END
                self.update()
            case _:
                return False
        return True

    def _nudge(self, seconds: float, event: QKeyEvent) -> bool:
        if self._peaks is None:
            return False
        if self._selection is None:
            moment = (self.cursor_seconds or 0.0) + seconds
            self.seek_requested.emit(min(max(0.0, moment), self.seconds))
            return True
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._change_selection(self._selection.shifted(seconds))
        else:
            moment = self._selection.at(self._active_handle) + seconds
            self._change_selection(self._selection.moved(self._active_handle, moment))
        if self._view.reveal(self._selection.at(self._active_handle)):
            self._view_moved()
        return True

    def _change_selection(self, selection: ClipSelection) -> None:
        self._selection = selection
        self._describe()
        self.update()
        self.selection_changed.emit(selection.start_seconds, selection.end_seconds)

    def _zoom(self, factor: float, around_seconds: float | None = None) -> None:
        if self._peaks is None:
            return
        if around_seconds is None:
            start, end = self.visible_range
            cursor = self.cursor_seconds
            around_seconds = cursor if cursor is not None and start <= cursor <= end else (start + end) / 2
        self._view.zoom(factor, around_seconds)
        self._view_moved()

    def _on_scrolled(self, milliseconds: int) -> None:
        self._view.scroll_to(milliseconds / 1000)
        self._view_moved()

    def _view_moved(self) -> None:
        bar, view = self._scroll_bar, self._view
        bar.blockSignals(True)
        bar.setRange(0, round(1000 * (view.room_seconds - view.visible_seconds)))
        bar.setPageStep(max(1, round(1000 * view.visible_seconds)))
        bar.setSingleStep(max(1, round(100 * view.visible_seconds)))
        bar.setValue(round(1000 * view.start_seconds))
        bar.blockSignals(False)
        bar.setVisible(not view.is_fitting)
        self._redraw()
        self.view_moved.emit()

    def _redraw(self) -> None:
        self._pixmap = None
        self._describe()
        self.update()

    def _describe(self) -> None:
        """Describe the waveform for screen readers."""
        if self._peaks is None:
            words = self.empty_text
        else:
            words = self.tr("{seconds:.1f} seconds of audio").format(seconds=self.seconds)
        if self._selection:
            selected = self.tr("Selected from {start:.2f} to {end:.2f} seconds")
            start, end = self._selection.start_seconds, self._selection.end_seconds
            words = join_clauses((words, selected.format(start=start, end=end)))
        self.setAccessibleDescription(words)

    # Geometry and painting.

    def _moment_at(self, x: float) -> float:
        moment = self._view.start_seconds + x / max(1, self.width()) * self._view.visible_seconds
        return min(max(0.0, moment), self.seconds)

    def _handle_near(self, x: float) -> Handle | None:
        if self._selection is None:
            return None
        distances = {handle: abs(self._scale().x_at(self._selection.at(handle)) - x) for handle in Handle}
        nearest = min(Handle, key=distances.__getitem__)
        return nearest if distances[nearest] <= GRIP_PIXELS else None

    def _waveform_area(self) -> QRectF:
        ruler = 0 if self._is_compact else self.fontMetrics().height() + 4
        bar = self._scroll_bar.height() if not self._view.is_fitting else 0
        return QRectF(0, ruler, self.width(), max(1, self.height() - ruler - bar))

    def _paint_mark(self, painter: QPainter, start: float, end: float, colour: QColor) -> None:
        """Tint a range, with a line along its top edge."""
        area, scale = self._waveform_area(), self._scale()
        left = scale.x_at(start)
        width = max(_MIN_MARK_PIXELS, scale.x_at(end) - left)
        tint = QColor(colour)
        tint.setAlphaF(_MARK_OPACITY)
        painter.fillRect(QRectF(left, area.top(), width, area.height()), tint)
        painter.fillRect(QRectF(left, area.top(), width, _MARK_LINE_PIXELS), colour)

    def _scale(self) -> Scale:
        return Scale(self._view.start_seconds, self._view.end_seconds, self.width())

    def _blank(self, ratio: float, colour: QColor | Qt.GlobalColor) -> QPixmap:
        pixmap = QPixmap(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(colour)
        return pixmap

    def _paint_bars(self, ratio: float, peaks: Peaks, colours: Sequence[str]) -> list[QPixmap]:
        """Return the bars on a transparent ground in each of ``colours``. They are drawn once."""
        bars = self._blank(ratio, Qt.GlobalColor.transparent)
        painter = QPainter(bars)
        paint_waveform_bars(
            painter, self._waveform_area(), self._scale(), peaks=peaks, colour=colours[0], height=_FULL_SCALE
        )
        painter.end()
        pictures = [bars]
        for colour in colours[1:]:
            picture = bars.copy()
            painter = QPainter(picture)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
            painter.fillRect(self.rect(), QColor(colour))
            painter.end()
            pictures.append(picture)
        return pictures

    def _paint_pixmap(self, ratio: float) -> QPixmap:
        """Return a picture of the parts that do not change during playback."""
        colors, palette = theme_colors(self.palette()), self.palette()
        role = QPalette.ColorRole.AlternateBase if self._is_compact else QPalette.ColorRole.Base
        pixmap = self._blank(ratio, palette.color(role))
        painter = QPainter(pixmap)
        painter.setFont(self.font())
        area, scale = self._waveform_area(), self._scale()
        if self._peaks is None:
            painter.setPen(colors.quiet)
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, self.empty_text)
        elif self._is_compact:
            painter.setFont(text_font(TextSize.META))
            paint_level_lines(painter, area, height=_FULL_SCALE, colors=colors)
            self._played_pixmap, unplayed = self._paint_bars(ratio, self._peaks, (colors.accent, colors.faint))
            painter.drawPixmap(QPointF(0, 0), unplayed)
        else:
            paint_ruler(painter, area, scale, colors)
            num_columns = round(self.width() * ratio)
            paint_waveform(painter, area, scale, peaks=self._peaks, colour=colors.accent, num_columns=num_columns)
        painter.end()
        return pixmap
