"""Parts of a text, and their positions in its speech.

Decision: if no word times are known, a part is found in a recording by the number of its letters. Reason: no aligner is
needed. Alternative: forced alignment, which needs a speech recogniser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A tag, a character of a script without spaces, or a word.
_IDEOGRAPHS = r"\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff"  # including kana, without punctuation
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_UNITS = re.compile(rf"\[[^\]]*\]|[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+(?:['’-][^\W_]+)*")
_LETTERS_OF_SYLLABLE = 3  # a Chinese character takes as long as three Latin letters


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text consisting of whole words, and the shares of the speech at which it starts and ends."""

    start: int
    end: int
    start_share: float
    end_share: float


def part_of_text(text: str, start: int, end: int) -> TextPart | None:
    """Return the words that contain the characters from ``start`` to ``end``, or None if there are none."""
    units = [(match.start(), match.end(), _letters(match.group())) for match in _UNITS.finditer(text)]
    inside = [number for number, unit in enumerate(units) if unit[0] < end and unit[1] > start and unit[2]]
    if not inside:
        return None
    first, last = inside[0], inside[-1]
    total = sum(unit[2] for unit in units)
    before, through = (sum(unit[2] for unit in units[:count]) for count in (first, last + 1))
    after = units[last + 1][0] if last + 1 < len(units) else len(text)
    stop = units[last][1] + len(text[units[last][1] : after].rstrip())  # including the punctuation after it
    return TextPart(units[first][0], stop, before / total, through / total)


def part_at_shares(text: str, start_share: float, end_share: float) -> TextPart | None:
    """Return the words whose midpoints are between two shares of the speech, or None if there are none."""
    units = list(_UNITS.finditer(text))
    total, passed, inside = sum(_letters(unit.group()) for unit in units), 0.0, []
    for unit in units:
        letters = _letters(unit.group())
        if letters and start_share <= (passed + letters / 2) / total <= end_share:
            inside.append(unit)
        passed += letters
    return part_of_text(text, inside[0].start(), inside[-1].end()) if inside else None


def share_before(text: str, position: int) -> float:
    """Return the share of the speech before the word at ``position``, or before the next one."""
    units = list(_UNITS.finditer(text))
    total = sum(_letters(unit.group()) for unit in units)
    return sum(_letters(unit.group()) for unit in units if unit.end() <= position) / max(1, total)


def word_after_share(text: str, share: float) -> int:
    """Return the position of the word that begins closest to ``share`` of the speech."""
    units = [unit for unit in _UNITS.finditer(text) if _letters(unit.group())]
    starts = {unit.start(): share_before(text, unit.start()) for unit in units}
    return min(starts, key=lambda start: abs(starts[start] - share), default=0)


def _letters(unit: str) -> int:
    if unit.startswith("["):
        return 0
    return _LETTERS_OF_SYLLABLE if _IDEOGRAPH.match(unit) else len(unit)
