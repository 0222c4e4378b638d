"""Chart of a script: one dot per line for each measure, with the target range and the running median."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.app.theme.colors import ThemeColors, mixed, theme_colors
from studio.app.translation import join_names
from studio.app.widgets.painting_guard import paints_safely
from studio.project.consistency import MeasuredLine
from studio.take_checks.consistency import comparable, shown
from studio.take_checks.records import Measure

_STRIP, _MIN_STRIP, _GAP, _MARGIN = 64, 20, 4, 8  # heights and margins in pixels
_LIMIT = 2.0  # largest deviation shown, in tolerances; larger ones are drawn at the edge
_DOT, _MARK = 1.5, 4.0  # radius of a dot, and half the size of the mark of an outlier
_NEAR_PIXELS = 12
_MEDIAN_LINES = 15  # enough that a single line does not move the running median
_BAND_SHARE = 0.16


@paints_safely
class DotChart(QWidget):
    """Shows how far each line is from its target. A click or the arrow keys choose a line.

    Home and End go to the first and last line, and N to the next line outside its target.
    """

    line_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[MeasuredLine] = ()
        self._measures: tuple[Measure, ...] = ()
        self._current: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Chart of the measures"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_lines(self, lines: Sequence[MeasuredLine]) -> None:
        """Show ``lines``. The current line stays current if it is among them."""
        current = self.current
        self._lines = lines
        self._measures = tuple(each for each in Measure if any(each in line.deviations for line in lines))
        ids = [line.line.id for line in lines]
        self._current = ids.index(current.line.id) if current is not None and current.line.id in ids else None
        self.updateGeometry()
        self._describe()

    @property
    def current(self) -> MeasuredLine | None:
        return None if self._current is None else self._lines[self._current]

    def choose(self, line_id: str) -> None:
        """Mark a line without emitting ``line_chosen``."""
        self._current = next((at for at, each in enumerate(self._lines) if each.line.id == line_id), None)
        self._describe()

    def go_to_next_drift(self) -> bool:
        """Choose the next line outside its target, from the first again at the end. Return whether there is one."""
        start = -1 if self._current is None else self._current
        order = [*range(start + 1, len(self._lines)), *range(start + 1)]
        found = next((at for at in order if self._lines[at].drifts), None)
        if found is not None:
            self._go(found)
        return found is not None

    def name_of(self, measure: Measure) -> str:
        return {
            Measure.PACE: self.tr("Pace"),
            Measure.PITCH: self.tr("Pitch"),
            Measure.PITCH_RANGE: self.tr("Pitch range"),
            Measure.LEVEL: self.tr("Level"),
            Measure.SIMILARITY: self.tr("Similarity"),
            Measure.PAUSES: self.tr("Pauses"),
        }[measure]

    def words_of(self, line: MeasuredLine) -> str:
        """Describe a line: its measures, those outside their targets first."""
        order = sorted(line.deviations, key=lambda measure: measure not in line.drifts)
        values = [self._value_words(line, measure) for measure in order]
        words = self.tr("Line {number}, {voice}: {values}")
        return words.format(number=line.number, voice=line.role.voice, values=join_names(values))

    def _value_words(self, line: MeasuredLine, measure: Measure) -> str:
        value = comparable(line.measures, measure)
        assert value is not None, "a measure with a deviation has a value"
        amount = {
            Measure.PACE: self.tr("{value:.1f} syllables/s"),
            Measure.PITCH: self.tr("{value:.0f} Hz"),
            Measure.PITCH_RANGE: self.tr("{value:.1f} semitones"),
            Measure.LEVEL: self.tr("{value:.1f} dB"),
            Measure.SIMILARITY: "{value:.2f}",
            Measure.PAUSES: self.tr("{value:.2f} s"),
        }[measure].format(value=shown(value, measure))
        words = f"{self.name_of(measure)} {amount}"
        deviation = line.drifts.get(measure)
        if deviation is None:
            return words
        pattern = self.tr("{value} (too high)") if deviation > 0 else self.tr("{value} (too low)")
        return pattern.format(value=words)

    # Qt.

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(720, max(1, len(self._measures)) * (_STRIP + _GAP) + _MARGIN)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(360, max(1, len(self._measures)) * (_MIN_STRIP + _GAP) + _MARGIN)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802
        colors = theme_colors(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for measure in self._measures:
            self._paint_strip(painter, colors, measure)
        if self._current is not None and self._measures:
            painter.setPen(QPen(QColor(colors.accent), 1))
            x = self._x(self._current)
            painter.drawLine(QPointF(x, _MARGIN / 2), QPointF(x, self.height() - _MARGIN / 2))
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _paint_strip(self, painter: QPainter, colors: ThemeColors, measure: Measure) -> None:
        strip = self._strip(measure)
        painter.setPen(QColor(colors.ink))
        label = QRectF(_MARGIN, strip.top(), strip.left() - 2 * _MARGIN, strip.height())
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap, self.name_of(measure))
        painter.fillRect(strip, QColor(colors.surface))
        top, bottom = _y(strip, 1.0), _y(strip, -1.0)
        band = QColor(mixed(colors.good, colors.surface, _BAND_SHARE))
        painter.fillRect(QRectF(strip.left(), top, strip.width(), bottom - top), band)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.quiet))
        outliers = []
        for at, line in enumerate(self._lines):
            deviation = line.deviations.get(measure)
            if deviation is None:
                continue
            place = QPointF(self._x(at), _y(strip, deviation))
            if measure in line.drifts:
                outliers.append(place)
            else:
                painter.drawEllipse(place, _DOT, _DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colors.accent), 1.5))
        painter.drawPolyline(QPolygonF(self._running_median(strip, measure)))
        painter.setPen(QPen(QColor(colors.bad), 1.5))
        for place in outliers:  # diamonds can be told apart without colours
            left, right = place - QPointF(_MARK, 0), place + QPointF(_MARK, 0)
            above, below = place - QPointF(0, _MARK), place + QPointF(0, _MARK)
            painter.drawPolygon(QPolygonF([left, above, right, below]))

    def _running_median(self, strip: QRectF, measure: Measure) -> list[QPointF]:
        """Return the running median, which shows a slow drift."""
        known = [(at, line.deviations[measure]) for at, line in enumerate(self._lines) if measure in line.deviations]
        half = _MEDIAN_LINES // 2
        return [
            QPointF(
                self._x(at), _y(strip, median(value for _, value in known[max(0, place - half) : place + half + 1]))
            )
            for place, (at, _) in enumerate(known)
        ]

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        found = self._line_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and found is not None:
            self._go(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        last = len(self._lines) - 1
        at = self._current
        places = {
            Qt.Key.Key_Left: last if at is None else at - 1,
            Qt.Key.Key_Right: 0 if at is None else at + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if event.key() == Qt.Key.Key_N and not event.modifiers():
            self.go_to_next_drift()
        elif event.key() in places and self._lines:
            self._go(min(max(0, places[Qt.Key(event.key())]), last))
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            found = self._line_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if found is None else self.words_of(self._lines[found]), self)
            return True
        return super().event(event)

    def _go(self, at: int) -> None:
        self._current = at
        self._describe()
        self.line_chosen.emit(self._lines[at].line.id)

    def _describe(self) -> None:
        current = self.current
        self.setAccessibleDescription("" if current is None else self.words_of(current))
        self.update()

    # Places.

    def _label_width(self) -> int:
        widths = [self.fontMetrics().horizontalAdvance(self.name_of(measure)) for measure in Measure]
        return max(widths) + 2 * _MARGIN

    def _strip(self, measure: Measure) -> QRectF:
        height = (self.height() - _MARGIN) / max(1, len(self._measures))
        top = _MARGIN / 2 + self._measures.index(measure) * height + _GAP / 2
        left = self._label_width()
        return QRectF(left, top, self.width() - left - _MARGIN, height - _GAP)

    def _x(self, at: int) -> float:
        left = self._label_width() + _MARGIN
        return left + (self.width() - left - 2 * _MARGIN) * (at + 0.5) / max(1, len(self._lines))

    def _line_at(self, place: QPointF) -> int | None:
        """Return the line of the nearest dot, preferring those outside their targets."""
        measure = next((each for each in self._measures if self._strip(each).contains(place)), None)
        if measure is None:
            return None
        strip = self._strip(measure)

        def distance(at: int) -> float:
            dot = QPointF(self._x(at), _y(strip, self._lines[at].deviations[measure]))
            return (dot - place).manhattanLength() - (_MARK if measure in self._lines[at].drifts else 0.0)

        near = [
            at
            for at, line in enumerate(self._lines)
            if measure in line.deviations and abs(self._x(at) - place.x()) <= _NEAR_PIXELS
        ]
        return min(near, key=distance, default=None)


def _y(strip: QRectF, deviation: float) -> float:
    limited = min(max(deviation, -_LIMIT), _LIMIT)
    inner = strip.height() - 2 * _MARK
    return strip.center().y() - limited / _LIMIT * inner / 2
