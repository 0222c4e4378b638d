"""Conversion of places from a take's text to its line's text, which may differ after edits or by a dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from studio.project.lines import Line
from studio.project.takes import Take


@dataclass(frozen=True, slots=True)
class TextRange:
    start: int
    end: int


class TextPlaces:
    """Converts places in ``take_text`` to places in ``line_text``."""

    def __init__(self, take_text: str, line_text: str) -> None:
        self._offset = line_text.find(take_text)
        self._blocks: list[tuple[int, int, int]] = []
        if self._offset < 0:
            matcher = SequenceMatcher(None, take_text, line_text, autojunk=False)
            self._blocks = [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]

    def range_of(self, start: int, end: int) -> TextRange | None:
        """Return the place of the same letters, or None if most of them are not in the line."""
        if not 0 <= start < end:
            return None
        if self._offset >= 0:
            return TextRange(start + self._offset, end + self._offset)
        found = [
            place for own, other, size in self._blocks for place in _overlap(own, other, size, start=start, end=end)
        ]
        if 2 * len(found) < end - start:
            return None
        return TextRange(min(found), max(found) + 1)


def problem_ranges(take: Take, line: Line) -> tuple[TextRange, ...]:
    """Return the places in the line's text of the problems that the user is to review."""
    if take.check is None or not take.needs_review:
        return ()
    places = TextPlaces(take.parameters.text, line.text)
    found = (places.range_of(problem.text_start, problem.text_end) for problem in take.check.problems)
    return merged(each for each in found if each is not None)


def merged(ranges: Iterable[TextRange]) -> tuple[TextRange, ...]:
    """Return ``ranges`` in order, with those that overlap joined."""
    joined: list[TextRange] = []
    for each in sorted(ranges, key=lambda place: (place.start, place.end)):
        if joined and each.start <= joined[-1].end:
            joined[-1] = TextRange(joined[-1].start, max(joined[-1].end, each.end))
        else:
            joined.append(each)
    return tuple(joined)


def _overlap(own: int, other: int, size: int, *, start: int, end: int) -> range:
    first, last = max(own, start), min(own + size, end)
    return range(other + first - own, other + max(first, last) - own)
