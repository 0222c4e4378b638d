"""Timeline of a script with slots: lanes of slots and takes on a time axis, sound cues and the guide track."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy, QWidget

from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.theme.sizes import SMALL_RADIUS
from studio.app.theme.voice_colors import voice_color
from studio.app.translation import join_clauses, join_names, join_phrases
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import Peaks
from studio.app.widgets.waveform_painting import Scale, paint_ruler, paint_waveform
from studio.project.dubbing import overrun_seconds, take_seconds
from studio.project.lines import Line, Slot
from studio.project.script import Script

_RULER, _GUIDE, _CUES, _SLOT, _TAKE, _GAP = 18, 36, 16, 22, 10, 4  # heights in pixels
_CUE_HEAD = 8  # width of the triangle of a marker
_LANE = _SLOT + _TAKE + 2 * _GAP
_MAX_LANES = 4
_EDGE_PIXELS = 5
_MIN_SECONDS_SHOWN = 10.0
_MIN_ZOOM, _MAX_ZOOM = 0.5, 800.0  # pixels per second
_ZOOM_STEP = 1.5
_MIN_SLOT_SECONDS = 0.05
_MIN_OVERLAP_SECONDS = 0.005  # rounded, it would be shown as 0.00
_SMALL_STEP_SECONDS, _LARGE_STEP_SECONDS = 0.01, 0.1


class DragMode(Enum):
    MOVE = "move"
    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class _Drag:
    line_id: str
    mode: DragMode
    pressed_seconds: float
    before: Slot
    slot: Slot


@paints_safely
class TimelineView(QAbstractScrollArea):
    """Draws the lines that have a slot. A click selects a line, a drag shifts its slot or one of its edges.

    Slots that overlap are in different lanes, where possible each character in its own. Lines that are not spoken, such
    as sound cues, are markers above them.

    Left and Right shift the slot of the current line by 10 ms, with Shift by 100 ms; Up and Down go to the next line.
    """

    line_chosen = Signal(str)  # id of the line
    slot_changed = Signal(str, object)  # id of the line, Slot
    time_chosen = Signal(float)  # a click on the ruler
    overlap_changed = Signal(str)  # sentence about the slots that overlap the current one, or empty

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._script = Script()
        self._lines: tuple[Line, ...] = ()  # lines with a slot, in order of time
        self._lanes: dict[str, int] = {}  # of spoken lines, by id
        self._current: str | None = None
        self._has_cues = False
        self._guide: Peaks | None = None
        self._drag: _Drag | None = None
        self._is_dragging = False
        self.playhead_seconds: float | None = None
        self.zoom = 40.0  # pixels per second
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Timeline"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.viewport().setMouseTracking(True)
        self.setToolTip(self.tr("Drag a slot or its edges. Left and Right shift it by 10 ms, with Shift by 100 ms."))

    # Contents.

    def show_script(self, script: Script) -> None:
        self._script = script
        slotted = [line for line in script.lines if line.slot is not None]
        self._lines = tuple(sorted(slotted, key=lambda line: line.slot.start_seconds if line.slot else 0.0))
        lanes = lanes_of(line for line in self._lines if line.is_spoken)
        if (has_cues := len(lanes) < len(self._lines)) != self._has_cues or _num_lanes(lanes) != _num_lanes(
            self._lanes
        ):
            self.updateGeometry()
        self._lanes, self._has_cues = lanes, has_cues
        self._update_range()
        self._describe()

    def show_line(self, line_id: str | None) -> None:
        """Highlight a line and scroll to its slot."""
        is_other, self._current = line_id != self._current, line_id
        slot = self._slot_of(line_id)
        if slot is not None and is_other and self._drag is None:
            self._reveal(slot)
        self._describe()

    def show_guide(self, peaks: Peaks | None) -> None:
        self._guide = peaks
        self.updateGeometry()
        self._update_range()

    def show_playhead(self, seconds: float | None) -> None:
        self.playhead_seconds = seconds
        if seconds is not None and not self._drag:
            bar, x = self.horizontalScrollBar(), round(seconds * self.zoom)
            if not bar.value() <= x <= bar.value() + self.viewport().width():
                bar.setValue(x - self.viewport().width() // 8)
        self.viewport().update()

    def zoom_by(self, steps: int, *, at_x: float | None = None) -> None:
        """Zoom in or out around ``at_x``, by default around the middle."""
        bar = self.horizontalScrollBar()
        x = self.viewport().width() / 2 if at_x is None else at_x
        seconds = (bar.value() + x) / self.zoom
        self.zoom = min(max(_MIN_ZOOM, self.zoom * _ZOOM_STEP**steps), _MAX_ZOOM)
        self._update_range()
        bar.setValue(round(seconds * self.zoom - x))

    def zoom_to_all(self) -> None:
        self.zoom = min(max(_MIN_ZOOM, self.viewport().width() / self._seconds), _MAX_ZOOM)
        self._update_range()

    def sizeHint(self) -> QSize:  # noqa: N802
        bar = self.horizontalScrollBar().sizeHint().height()
        lanes = _num_lanes(self._lanes) * _LANE + _GAP
        return QSize(300, round(self._lanes_top) + lanes + bar + 2 * self.frameWidth())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(80, self.sizeHint().height())

    @property
    def _seconds(self) -> float:
        """The length of the timeline, in seconds."""
        ends = [line.slot.end_seconds for line in self._lines if line.slot is not None]
        guide = self._guide.seconds if self._guide is not None else 0.0
        return max([*ends, guide, _MIN_SECONDS_SHOWN]) + 2.0

    def rect_of(self, line_id: str) -> QRectF | None:
        """Return the rectangle of a slot in the viewport."""
        slot = self._slot_of(line_id)
        if slot is None or line_id not in self._lanes:  # a cue
            return None if slot is None else self._bar(slot.start_seconds, slot.end_seconds, self._cues_top, _CUES)
        return self._bar(slot.start_seconds, slot.end_seconds, self._lanes_top + self._lanes[line_id] * _LANE)

    def _slot_of(self, line_id: str | None) -> Slot | None:
        if line_id is None or line_id not in self._script.index_of:
            return None
        if self._drag is not None and self._drag.line_id == line_id:
            return self._drag.slot
        return self._script.line(line_id).slot

    @property
    def _cues_top(self) -> float:
        return _RULER + (_GUIDE + _GAP if self._guide is not None else 0) + _GAP

    @property
    def _lanes_top(self) -> float:
        return self._cues_top + (_CUES + _GAP if self._has_cues else 0)

    def _bar(self, start: float, end: float, top: float, height: float = _SLOT) -> QRectF:
        left = start * self.zoom - self.horizontalScrollBar().value()
        return QRectF(left, top, max(2.0, (end - start) * self.zoom), height)

    def _update_range(self) -> None:
        bar, width = self.horizontalScrollBar(), self.viewport().width()
        bar.setRange(0, max(0, round(self._seconds * self.zoom) - width))
        bar.setPageStep(width)
        bar.setSingleStep(max(1, round(self.zoom)))
        self.viewport().update()

    def _reveal(self, slot: Slot) -> None:
        bar, width = self.horizontalScrollBar(), self.viewport().width()
        left, right = slot.start_seconds * self.zoom, slot.end_seconds * self.zoom
        if left < bar.value() or right > bar.value() + width:
            bar.setValue(round(left - width / 4))

    def _describe(self) -> None:
        """Describe the current line for screen readers."""
        slot, parts = self._slot_of(self._current), list[str]()
        if slot is not None and self._current is not None:
            line = self._script.line(self._current)
            words = self.tr("Line {number}: slot {start:.2f} to {end:.2f} s")
            number = self._script.index_of[line.id] + 1
            parts.append(words.format(number=number, start=slot.start_seconds, end=slot.end_seconds))
            seconds = take_seconds(self._script, line)
            if seconds is not None:
                parts.append(self.tr("take {seconds:.2f} s").format(seconds=seconds))
            if overrun := overrun_seconds(slot, seconds, self._script.speech_slots):
                parts.append(self.tr("{seconds:.2f} s too long").format(seconds=overrun))
        overlap = self._overlap_words()
        self.overlap_changed.emit(overlap)
        self.setAccessibleDescription(join_clauses(filter(None, (join_phrases(parts), overlap))))
        self.viewport().update()

    def _overlaps(self) -> list[tuple[Line, Slot]]:
        """Return the spoken lines whose slots overlap that of the current one, and the common times."""
        own = self._slot_of(self._current)
        if own is None or self._current not in self._lanes:
            return []
        found = []
        for line in self._lines:
            if line.id != self._current and line.is_spoken and line.slot is not None:
                start = max(own.start_seconds, line.slot.start_seconds)
                end = min(own.end_seconds, line.slot.end_seconds)
                if end - start >= _MIN_OVERLAP_SECONDS:
                    found.append((line, Slot(start, end)))
        return found

    def _overlap_words(self) -> str:
        from studio.export.checks import number_ranges  # noqa: PLC0415 - after the first paint

        overlaps = self._overlaps()
        if not overlaps:
            return ""
        words = (
            self.tr("Overlaps line {numbers} by {seconds:.2f} s")
            if len(overlaps) == 1
            else self.tr("Overlaps lines {numbers}, by up to {seconds:.2f} s")
        )
        numbers = sorted(self._script.index_of[line.id] + 1 for line, _ in overlaps)
        longest = max(common.seconds for _, common in overlaps)
        return words.format(numbers=join_names(number_ranges(numbers)), seconds=longest)

    # Painting.

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802
        colors, width = theme_colors(self.palette()), self.viewport().width()
        painter = QPainter(self.viewport())
        start = self.horizontalScrollBar().value() / self.zoom
        scale = Scale(start, start + width / self.zoom, width)
        area = QRectF(0, _RULER, width, self.viewport().height() - _RULER)
        paint_ruler(painter, area, scale, colors)
        if self._guide is not None:
            guide = QRectF(0, _RULER + _GAP, width, _GUIDE - _GAP)
            paint_waveform(painter, guide, scale, peaks=self._guide, colour=colors.faint, num_columns=width)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in self._lines:
            slot = self._slot_of(line.id)
            if slot is None or slot.start_seconds >= scale.end_seconds:
                continue
            if line.is_spoken:
                self._paint_line(painter, colors, line, slot)
        self._paint_cues(painter, colors)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.warn))
        for _line, common in self._overlaps():
            bar = self.rect_of(self._current or "")
            top = bar.bottom() - 3 if bar is not None else 0.0
            painter.drawRect(self._bar(common.start_seconds, common.end_seconds, top, 3))
        if self.playhead_seconds is not None:
            painter.setPen(QPen(QColor(colors.accent), 2))
            x = scale.x_at(self.playhead_seconds)
            painter.drawLine(QPointF(x, 0), QPointF(x, self.viewport().height()))
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))

    def _paint_line(self, painter: QPainter, colors: ThemeColors, line: Line, slot: Slot) -> None:
        bar = self.rect_of(line.id)
        assert bar is not None
        seconds = take_seconds(self._script, line)
        length = max(slot.seconds, seconds or 0.0)
        if bar.left() + length * self.zoom < 0:
            return
        is_current = line.id == self._current
        painter.setPen(QPen(QColor(colors.accent if is_current else colors.quiet), 2 if is_current else 1))
        painter.setBrush(QColor(colors.selection if is_current else colors.raised))
        painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), SMALL_RADIUS, SMALL_RADIUS)
        if bar.width() > 24:
            name = line.character or ""
            number = str(self._script.index_of[line.id] + 1)
            painter.setPen(voice_color(name, self.palette()) if name else QColor(colors.ink))
            head = _draw_elided(painter, bar.adjusted(5, 0, -4, 0), f"{number}  {name}")
            painter.setPen(QColor(colors.ink))
            _draw_elided(painter, bar.adjusted(head + 11, 0, -4, 0), line.text)
        if seconds is None:
            return
        top = bar.bottom() + _GAP
        overrun = overrun_seconds(slot, seconds, self._script.speech_slots)
        fitting = self._bar(slot.start_seconds, slot.start_seconds + seconds - overrun, top, _TAKE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.accent if is_current else colors.faint))
        painter.drawRoundedRect(fitting, SMALL_RADIUS, SMALL_RADIUS)
        if overrun:
            painter.setBrush(QColor(colors.bad))
            painter.drawRoundedRect(
                self._bar(slot.end_seconds, slot.start_seconds + seconds, top, _TAKE), SMALL_RADIUS, SMALL_RADIUS
            )

    def _paint_cues(self, painter: QPainter, colors: ThemeColors) -> None:
        cues = [line for line in self._lines if not line.is_spoken]
        places = [(bar, line.text) for line in cues if (bar := self.rect_of(line.id)) is not None]
        current = self.rect_of(self._current or "") if any(line.id == self._current for line in cues) else None
        for bar, text in label_cues(places):
            left, middle = bar.left(), bar.center().y()
            is_current = current is not None and abs(current.left() - left) < _CUE_HEAD
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.accent if is_current else colors.quiet))
            painter.drawPolygon([QPointF(left, middle - 5), QPointF(left + 5, middle), QPointF(left, middle + 5)])
            painter.setPen(QColor(colors.quiet))
            _draw_elided(painter, bar.adjusted(_CUE_HEAD, 0, 0, 0), text)

    # Mouse and keyboard.

    def _hit(self, x: float, y: float) -> tuple[str, DragMode] | None:
        """Return the line at this position, and what a drag from there changes. The current line takes precedence."""
        if y < self._cues_top:
            return None
        in_order = sorted(self._lines, key=lambda line: line.id != self._current)
        for line in in_order:
            bar = self.rect_of(line.id)
            seconds = take_seconds(self._script, line) or 0.0
            if bar is None or not bar.left() - _EDGE_PIXELS <= x <= max(bar.right(), bar.left() + seconds * self.zoom):
                continue
            if not bar.top() <= y < bar.top() + (_LANE if line.is_spoken else bar.height()):
                continue
            if y > bar.bottom():
                return line.id, DragMode.MOVE
            if x <= bar.right() + _EDGE_PIXELS:
                edge = min(_EDGE_PIXELS, bar.width() / 4)
                if x > bar.right() - edge:
                    return line.id, DragMode.END
                return line.id, DragMode.START if x < bar.left() + edge else DragMode.MOVE
        return None

    def _seconds_at(self, x: float) -> float:
        return max(0.0, (x + self.horizontalScrollBar().value()) / self.zoom)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        place = event.position()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        hit = self._hit(place.x(), place.y())
        if hit is None:
            if place.y() < self._cues_top:
                self.time_chosen.emit(self._seconds_at(place.x()))
            return
        line_id, mode = hit
        slot = self._slot_of(line_id)
        if slot is not None:
            self._drag = _Drag(line_id, mode, self._seconds_at(place.x()), slot, slot)
        self.line_chosen.emit(line_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        place, drag = event.position(), self._drag
        if drag is None:
            hit = self._hit(place.x(), place.y())
            is_edge = hit is not None and hit[1] is not DragMode.MOVE
            self.viewport().setCursor(Qt.CursorShape.SizeHorCursor if is_edge else Qt.CursorShape.ArrowCursor)
            return
        shift = self._seconds_at(place.x()) - drag.pressed_seconds
        if abs(shift) * self.zoom >= 3:
            self._is_dragging = True
        if self._is_dragging:
            slot = shifted(drag.before, drag.mode, shift)
            self._drag = _Drag(drag.line_id, drag.mode, drag.pressed_seconds, drag.before, slot)
            self._describe()

    def mouseReleaseEvent(self, _: QMouseEvent) -> None:  # noqa: N802
        drag, self._drag = self._drag, None
        is_dragging, self._is_dragging = self._is_dragging, False
        if drag is not None and is_dragging and drag.slot != drag.before:
            self.slot_changed.emit(drag.line_id, drag.slot)
        self._describe()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        steps = event.angleDelta().y() or event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(1 if steps > 0 else -1, at_x=event.position().x())
        else:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - steps)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape and self._drag is not None:
            self._drag, self._is_dragging = None, False
            self._describe()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            is_large = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            step = _LARGE_STEP_SECONDS if is_large else _SMALL_STEP_SECONDS
            self._shift_current(step if event.key() == Qt.Key.Key_Right else -step)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._go(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1)
        elif event.key() == Qt.Key.Key_Minus:
            self.zoom_by(-1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._update_range()

    def _shift_current(self, seconds: float) -> None:
        slot = self._slot_of(self._current)
        if slot is not None and self._current is not None:
            after = shifted(slot, DragMode.MOVE, seconds)
            if after != slot:
                self.slot_changed.emit(self._current, after)

    def _go(self, step: int) -> None:
        ids = [line.id for line in self._lines]
        if not ids:
            return
        position = ids.index(self._current) + step if self._current in ids else 0
        self.line_chosen.emit(ids[min(max(0, position), len(ids) - 1)])


def lanes_of(lines: Iterable[Line]) -> dict[str, int]:
    """Return the lane of each of ``lines``, by id. The lines have slots, and are in order of time.

    A character stays in its lane while that is free. With more than four simultaneous lines, the others share the last.
    """
    lanes: dict[str, int] = {}
    lane_of_name: dict[str, int] = {}
    ends: list[float] = []  # of the last slot in each lane
    for line in lines:
        assert line.slot is not None
        free = [lane for lane, end in enumerate(ends) if end <= line.slot.start_seconds]
        name = line.character or line.voice or ""
        lane = lane_of_name.get(name, 0)
        if lane not in free:
            lane = free[0] if free else min(len(ends), _MAX_LANES - 1)
        if lane == len(ends):
            ends.append(0.0)
        ends[lane] = max(ends[lane], line.slot.end_seconds)
        lanes[line.id] = lane_of_name[name] = lane
    return lanes


def _num_lanes(lanes: dict[str, int]) -> int:
    return max(lanes.values(), default=0) + 1


def label_cues(cues: Iterable[tuple[QRectF, str]]) -> list[tuple[QRectF, str]]:
    """Return a rectangle and a text for each marker. Cues that start together share one; each ends before the next."""
    labels: list[tuple[QRectF, str]] = []
    for bar, text in sorted(cues, key=lambda cue: cue[0].left()):
        if labels and bar.left() - labels[-1][0].left() < _CUE_HEAD:
            before, words = labels[-1]
            labels[-1] = before.united(bar), f"{words} {text}"
            continue
        if labels and labels[-1][0].right() > bar.left():
            labels[-1][0].setRight(bar.left())
        labels.append((QRectF(bar), text))
    return labels


def _draw_elided(painter: QPainter, area: QRectF, words: str) -> float:
    """Draw as much of ``words`` as fits, and return its width."""
    if area.width() <= 0:
        return 0.0
    shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(area.width()))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, shown)
    return float(painter.fontMetrics().horizontalAdvance(shown))


def shifted(slot: Slot, mode: DragMode, seconds: float) -> Slot:
    """Return ``slot`` with one or both ends shifted, in milliseconds; never before 0 and never empty."""
    start, end = slot.start_seconds, slot.end_seconds
    if mode is DragMode.MOVE:
        start = max(0.0, start + seconds)
        return Slot(round(start, 3), round(start + slot.seconds, 3))
    if mode is DragMode.START:
        return Slot(round(min(max(0.0, start + seconds), max(0.0, end - _MIN_SLOT_SECONDS)), 3), end)
    return Slot(start, round(max(end + seconds, start + _MIN_SLOT_SECONDS), 3))
