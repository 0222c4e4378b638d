"""Layout of rows in the manuscript: the places of text, initial, style, waveform and state, and the row height."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout

from studio.app.script.text_painting import lay_out, spread_lines
from studio.app.theme.fonts import TextSize, text_font
from studio.app.theme.sizes import GRID
from studio.project.lines import Heading, Line

LINE_HEIGHT = 1.28  # relative to the height of the font
INITIAL_SIDE = 26
CHIP_HEIGHT = 20
STATE_SIDE = 16
_MAX_LETTERS = 80
_TEXT_LEFT = 56
_NAME_WIDTH = 104
_DURATION_WIDTH = 52
_SLOT_WIDTH = 92
_WAVE_WIDTHS = (84, 640)
# In rows narrower than these widths, the waveform and then the duration are left out.
_WAVE_FROM = 600
_DURATION_FROM = 420
_CHIP_PADDING = 8
_MAX_CHIP = 150
_LAYOUTS_KEPT = 256
_HEIGHTS_KEPT = 50_000
_PARAGRAPH_GAP = 20  # above the first line of a paragraph


class RowKind(Enum):
    CHAPTER = "chapter"
    SCENE = "scene"
    SPOKEN = "spoken"
    NOTE = "note"  # a note or stage direction, which is not spoken

    @property
    def is_heading(self) -> bool:
        return self in (RowKind.CHAPTER, RowKind.SCENE)


def row_kind(line: Line) -> RowKind:
    if line.heading is Heading.CHAPTER:
        return RowKind.CHAPTER
    if line.heading is Heading.SCENE:
        return RowKind.SCENE
    return RowKind.SPOKEN if line.is_spoken else RowKind.NOTE


@dataclass(frozen=True, slots=True)
class Columns:
    """Horizontal positions in a row, in pixels from its left edge. A part with width 0 is not shown."""

    initial_left: int
    name_left: int
    name_width: int
    text_left: int
    text_width: int
    wave_left: int
    wave_width: int
    duration_left: int
    duration_width: int
    state_left: int


def columns_of(width: int, letter_width: float, *, has_names: bool, has_slots: bool) -> Columns:
    """Return the positions in rows of ``width`` pixels; ``letter_width`` is the average width of a letter."""
    name_width = _NAME_WIDTH if has_names else 0
    initial_left = 2 * GRID + (GRID if has_names else 3)
    text_left = _TEXT_LEFT + (name_width + GRID if has_names else 0)
    state_left = width - GRID - STATE_SIDE
    wanted = _SLOT_WIDTH if has_slots else _DURATION_WIDTH
    duration_width = wanted if width >= _DURATION_FROM else 0
    duration_left = state_left - GRID // 2 - duration_width
    least_wave = _WAVE_WIDTHS[0] if width >= _WAVE_FROM else 0
    room = duration_left - text_left - 2 * GRID - least_wave
    text_width = max(80, min(room, round(_MAX_LETTERS * letter_width)))
    wave_width = min(_WAVE_WIDTHS[1], duration_left - text_left - text_width - 2 * GRID) if least_wave else 0
    return Columns(
        initial_left=initial_left,
        name_left=initial_left + INITIAL_SIDE + GRID,
        name_width=name_width,
        text_left=text_left,
        text_width=text_width,
        wave_left=duration_left - wave_width,
        wave_width=wave_width,
        duration_left=duration_left,
        duration_width=duration_width,
        state_left=state_left,
    )


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Vertical positions in a row, from its top, and the chip of its style, if any."""

    height: int
    text_top: int
    text_height: float
    pitch: float  # height of a line of text
    chip: QRectF | None
    chip_words: str
    note: QRectF | None


class ManuscriptLayouts:
    """Computes the layout of rows for the current width and fonts, and caches it."""

    def __init__(self) -> None:
        self._width = 0
        self._options = (False, False)
        self._rows: dict[tuple[object, ...], RowLayout] = {}
        self._texts: OrderedDict[tuple[RowKind, str], QTextLayout] = OrderedDict()
        self.use_application_font()

    def use_application_font(self) -> None:
        """Follow the font of the application."""
        bold = QFont.Weight.Bold
        note = text_font(TextSize.MANUSCRIPT)
        note.setItalic(True)
        self.fonts = {
            RowKind.CHAPTER: text_font(TextSize.HEADING, bold),
            RowKind.SCENE: text_font(TextSize.MANUSCRIPT, bold),
            RowKind.SPOKEN: text_font(TextSize.MANUSCRIPT),
            RowKind.NOTE: note,
        }
        self.meta_font = text_font(TextSize.META)
        self.initial_font = text_font(TextSize.INTERFACE, bold)
        self._meta = QFontMetricsF(self.meta_font)
        self._pitches = {kind: round(LINE_HEIGHT * QFontMetricsF(font).height()) for kind, font in self.fonts.items()}
        self._letter_width = QFontMetricsF(self.fonts[RowKind.SPOKEN]).averageCharWidth()
        self._forget()

    def fit(self, width: int, *, has_names: bool, has_slots: bool) -> bool:
        """Use rows of ``width`` pixels; return whether anything changes."""
        options = (has_names, has_slots)
        if (width, options) == (self._width, self._options):
            return False
        self._width, self._options = width, options
        self._forget()
        return True

    def _forget(self) -> None:
        self._rows.clear()
        self._texts.clear()
        has_names, has_slots = self._options
        self.columns = columns_of(self._width, self._letter_width, has_names=has_names, has_slots=has_slots)

    def estimated_height(self, line: Line) -> int:
        """Return a height without laying out the text."""
        kind = row_kind(line)
        wide = 0 if line.text.isascii() else sum(letter > "\u2e80" for letter in line.text)
        letters = self.columns.text_width / max(1.0, self._letter_width)
        num_rows = math.ceil((len(line.text) + wide) / max(1.0, letters)) or 1
        return round(num_rows * self._pitches[kind]) + sum(_paddings(line))

    def row(self, line: Line, chip_words: str) -> RowLayout:
        kind = row_kind(line)
        key = (kind, line.text, chip_words, bool(line.note), line.begins_paragraph)
        found = self._rows.get(key)
        if found is None:
            if len(self._rows) > _HEIGHTS_KEPT:
                self._rows.clear()
            found = self._rows[key] = self._lay_out_row(line, kind, chip_words)
        return found

    def text(self, line: Line) -> QTextLayout:
        """Return the text of a line, wrapped and spread to the line height."""
        kind = row_kind(line)
        key = (kind, line.text)
        found = self._texts.get(key)
        if found is None:
            found = self._texts[key] = self.lay_out_text(line, kind)
            if len(self._texts) > _LAYOUTS_KEPT:
                self._texts.popitem(last=False)
        self._texts.move_to_end(key)
        return found

    def lay_out_text(
        self, line: Line, kind: RowKind, formats: list[QTextLayout.FormatRange] | None = None
    ) -> QTextLayout:
        layout = lay_out(line.text, self.fonts[kind], self.text_width(kind), formats or ())
        spread_lines(layout, self._pitches[kind])
        return layout

    def text_left(self, kind: RowKind) -> int:
        return 3 * GRID if kind.is_heading else self.columns.text_left

    def text_width(self, kind: RowKind) -> int:
        return self.columns.text_width + self.columns.text_left - self.text_left(kind)

    def pitch(self, kind: RowKind) -> int:
        return self._pitches[kind]

    def _lay_out_row(self, line: Line, kind: RowKind, chip_words: str) -> RowLayout:
        above, below = _paddings(line)
        layout, pitch = self.text(line), self._pitches[kind]
        text_height = spread_lines(layout, pitch)
        bottom = above + text_height
        chip = None
        if chip_words:
            chip_words = self._meta.elidedText(chip_words, Qt.TextElideMode.ElideRight, _MAX_CHIP)
            last = layout.lineAt(layout.lineCount() - 1)
            left = self.text_left(kind) + last.naturalTextWidth() + GRID + 2
            chip = QRectF(left, 0, self._meta.horizontalAdvance(chip_words) + 2 * _CHIP_PADDING, CHIP_HEIGHT)
            # Beside the first line of text, the chip may use the margin before the waveform; below it, the whole width.
            end = self.columns.wave_left if layout.lineCount() == 1 else self.columns.duration_left
            if chip.right() <= end - GRID // 2:
                chip.moveTop(bottom - pitch + (pitch - CHIP_HEIGHT) / 2)
            else:
                chip.moveTopLeft(chip.topLeft() * 0)
                chip.moveLeft(self.text_left(kind))
                chip.moveTop(bottom + 2)
                bottom += CHIP_HEIGHT + 4
        note = None
        if line.note:
            note = QRectF(self.text_left(kind), bottom, self.text_width(kind), round(self._meta.lineSpacing()) + 2)
            bottom = note.bottom()
        return RowLayout(
            height=math.ceil(bottom + below),
            text_top=above,
            text_height=text_height,
            pitch=pitch,
            chip=chip,
            chip_words=chip_words,
            note=note,
        )


def _paddings(line: Line) -> tuple[int, int]:
    """Return the space above and below the text."""
    if line.heading is Heading.CHAPTER:
        return 2 * GRID, GRID
    if line.heading is Heading.SCENE:
        return 12, 4
    return (_PARAGRAPH_GAP if line.begins_paragraph else GRID), GRID
