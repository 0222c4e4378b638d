"""Painting of a line's text: in the table with highlighted matches, and as a label during a drag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPalette,
    QPixmap,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from studio.app.script.edits import Match
from studio.app.theme.colors import theme_colors
from studio.app.theme.sizes import SMALL_RADIUS
from studio.project.text_places import TextRange

Look = tuple[Match | TextRange, QTextCharFormat]
_ELLIPSIS = "…"
_LINE_SEPARATOR = "\u2028"  # line break in QTextLayout


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The visible part of a text: ``text`` without ellipses is ``whole[start:end]``."""

    text: str
    start: int
    end: int

    def range_of(self, match: Match | TextRange) -> tuple[int, int]:
        """Return the start and length of the visible part of ``match`` in UTF-16 units; length 0 if hidden."""
        first, last = max(match.start, self.start), min(match.end, self.end)
        before = self.start - len(_ELLIPSIS) if self.start else 0
        start = num_units(self.text[: first - before])
        return start, num_units(self.text[first - before : max(first, last) - before])


def make_excerpt(text: str, font: QFont, width: float, num_lines: int, match: Match | None) -> Excerpt:
    """Return the part of ``text`` that fits into ``num_lines`` of ``width``: its start, or the part around ``match``."""
    starts = [0]
    if match is not None:
        whole = lay_out(text, font, width)
        row = whole.lineForTextPosition(num_units(text[: match.start])).lineNumber()
        # Include one row before the match if the match still fits.
        starts += [_start_of_row(whole, text, each) for each in (row - 1, row) if each > 0]
    found = None
    for start in starts:
        found = _cut(text, start, font, width, num_lines)
        if match is None or match.end <= found.end:
            break
    assert found is not None, "starts is not empty"
    return found


def paint_highlighted(
    painter: QPainter,
    area: QRectF,
    text: str,
    matches: Sequence[Match],
    current: Match | None,
    *,
    font: QFont,
    palette: QPalette,
    is_selected: bool,
    looks: Sequence[Look] = (),
) -> None:
    """Paint ``text`` elided so that ``current`` is visible, with highlighted ``matches`` and ``looks``."""
    num_lines = max(1, int(area.height() // QFontMetricsF(font).lineSpacing()))
    excerpt = make_excerpt(text, font, area.width(), num_lines, current)
    looks = [*looks, *_match_looks(matches, current, palette, is_selected=is_selected)]
    layout = lay_out(excerpt.text, font, area.width(), _formats(excerpt, looks), num_lines)
    ink = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text
    height = sum(layout.lineAt(row).height() for row in range(layout.lineCount()))
    painter.save()
    painter.setPen(palette.color(ink))
    layout.draw(painter, QPointF(area.left(), area.center().y() - height / 2))
    painter.restore()


def match_format(palette: QPalette, *, is_current: bool, is_selected: bool) -> QTextCharFormat:
    """Fill the current match; underline the others, so that highlighting does not depend on colour alone."""
    colors, role = theme_colors(palette), QPalette.ColorRole
    look = QTextCharFormat()
    if is_current:
        ground = palette.color(role.HighlightedText) if is_selected else QColor(colors.warn)
        look.setForeground(palette.color(role.Highlight) if is_selected else QColor(colors.surface))
        look.setBackground(ground)
        return look
    look.setFontUnderline(True)
    if not is_selected:
        look.setForeground(QColor(colors.ink))
        look.setBackground(QColor(colors.found))
    return look


def _cut(text: str, start: int, font: QFont, width: float, num_lines: int) -> Excerpt:
    shown = (_ELLIPSIS if start else "") + text[start:]
    layout = lay_out(shown, font, width)
    if layout.lineCount() <= num_lines:
        return Excerpt(shown, start, len(text))
    last = _start_of_row(layout, shown, num_lines - 1)
    rest = shown[last:].replace("\n", " ")
    rest = QFontMetricsF(font).elidedText(rest, Qt.TextElideMode.ElideRight, width).removesuffix(_ELLIPSIS)
    kept = shown[:last] + rest
    return Excerpt(kept + _ELLIPSIS, start, start + len(kept) - (len(_ELLIPSIS) if start else 0))


def num_units(text: str) -> int:
    """Return the length in UTF-16 units, as Qt counts; characters beyond the BMP, such as emoji, take two."""
    return len(text) + sum(letter > "\uffff" for letter in text)


def _start_of_row(layout: QTextLayout, text: str, row: int) -> int:
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * layout.lineAt(row).textStart()]
    return len(before.decode("utf-16-le", "surrogatepass"))


def lay_out(
    text: str,
    font: QFont,
    width: float,
    formats: Sequence[QTextLayout.FormatRange] = (),
    num_lines: int | None = None,
) -> QTextLayout:
    layout = QTextLayout(text.replace("\n", _LINE_SEPARATOR), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats(list(formats))
    layout.beginLayout()
    top = 0.0
    while num_lines is None or layout.lineCount() < num_lines:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout


def spread_lines(layout: QTextLayout, pitch: float) -> float:
    """Give each line of a text at least the height ``pitch``; return the total height."""
    top = 0.0
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        height = max(pitch, line.height())
        line.setPosition(QPointF(line.x(), top + (height - line.height()) / 2))
        top += height
    return top


def text_marks(
    text: str,
    matches: Sequence[Match],
    current: Match | None,
    palette: QPalette,
    *,
    is_selected: bool,
    looks: Sequence[Look] = (),
) -> list[QTextLayout.FormatRange]:
    """Return the formats of ``matches`` and ``looks`` in a whole text."""
    looks = [*looks, *_match_looks(matches, current, palette, is_selected=is_selected)]
    return _formats(Excerpt(text, 0, len(text)), looks)


def problem_look(place: TextRange, palette: QPalette) -> Look:
    """Underline a problem with a wave."""
    look = QTextCharFormat()
    look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    look.setUnderlineColor(QColor(theme_colors(palette).bad))
    return place, look


def spoken_look(place: TextRange, palette: QPalette) -> Look:
    """Fill the background of the word that is being played."""
    colors, look = theme_colors(palette), QTextCharFormat()
    look.setBackground(QColor(colors.accent))
    look.setForeground(QColor(colors.on_accent))
    return place, look


def _match_looks(
    matches: Sequence[Match], current: Match | None, palette: QPalette, *, is_selected: bool
) -> list[Look]:
    return [(match, match_format(palette, is_current=match == current, is_selected=is_selected)) for match in matches]


def _formats(excerpt: Excerpt, looks: Sequence[Look]) -> list[QTextLayout.FormatRange]:
    formats = []
    for place, look in looks:
        start, length = excerpt.range_of(place)
        if length:
            mark = QTextLayout.FormatRange()
            mark.start, mark.length, mark.format = start, length, look
            formats.append(mark)
    return formats


_MAX_PIXELS = 260
_MARGIN_PIXELS = 8


def drag_pixmap(words: str, widget: QWidget) -> QPixmap:
    """Draw one line of ``words`` as a label for the mouse pointer, in the font, colours and resolution of ``widget``."""
    metrics, palette = widget.fontMetrics(), widget.palette()
    shown = metrics.elidedText(" ".join(words.split()) or "…", Qt.TextElideMode.ElideRight, _MAX_PIXELS)
    width = metrics.horizontalAdvance(shown) + 2 * _MARGIN_PIXELS
    height = metrics.height() + _MARGIN_PIXELS
    ratio = widget.devicePixelRatioF()
    pixmap = QPixmap(round(width * ratio), round(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
    painter.setPen(Qt.PenStyle.NoPen)
    area = QRectF(0, 0, width, height)
    painter.drawRoundedRect(area, SMALL_RADIUS, SMALL_RADIUS)
    painter.setFont(widget.font())
    painter.setPen(palette.color(QPalette.ColorRole.HighlightedText))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, shown)
    painter.end()
    return pixmap
