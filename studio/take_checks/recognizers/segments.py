"""What was spoken, in order: words of the text, silence and other speech. Two such results are compared in regions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from studio.take_checks.recognizers.protocol import AlignedUnit, HeardUnit, Recognition
from studio.take_checks.units import UNKNOWN

SILENCE, SPEECH = -1, -2
_AGREEMENT_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class PathSegment:
    """A part of a decoded recording, in frames. ``index`` is the index of the expected word, ``SILENCE``, or ``SPEECH``
    that is not a word of the text. ``score`` is a natural logarithm, in total.
    """

    index: int
    start: int
    end: int  # exclusive
    score: float

    @property
    def frames(self) -> int:
        return self.end - self.start


class HeardPath:
    """What was probably spoken, in order."""

    def __init__(self, frame_seconds: float) -> None:
        self._frame_seconds = frame_seconds
        self._segments: list[tuple[PathSegment, float]] = []
        self._missing: dict[int, float] = {}

    def add(self, segments: Sequence[PathSegment], confidence: float = 1.0, missing: Iterable[int] = ()) -> None:
        """Add segments, and the ``missing`` words among them, that were heard with this ``confidence``."""
        self._segments += [(each, confidence) for each in segments]
        self._missing |= dict.fromkeys(missing, confidence)

    def recognition(self, expected: Sequence[str]) -> Recognition:
        heard: list[HeardUnit] = []
        aligned: list[AlignedUnit | None] = [None] * len(expected)
        was_free = False
        for each, confidence in self._segments:
            start, end = each.start * self._frame_seconds, each.end * self._frame_seconds
            if each.index >= 0:
                heard.append(HeardUnit(expected[each.index], start, end, confidence, each.index))
                aligned[each.index] = aligned[each.index] or AlignedUnit(start, end, 1.0)
            elif each.index == SPEECH and was_free:
                heard[-1] = replace(heard[-1], to_seconds=end)
            elif each.index == SPEECH:
                heard.append(HeardUnit(UNKNOWN, start, end, confidence))
            was_free = each.index == SPEECH
        before = 0.0
        for index, unit in enumerate(aligned):
            if unit is None:
                after = next((later.from_seconds for later in aligned[index:] if later), None)
                after = max(before, after if after is not None else self._end_seconds())
                aligned[index] = AlignedUnit(before, after, 1.0 - self._missing.get(index, 1.0))
            else:
                before = unit.to_seconds
        return Recognition(tuple(heard), tuple(aligned))

    def _end_seconds(self) -> float:
        return self._segments[-1][0].end * self._frame_seconds if self._segments else 0.0


def regions(
    strict: Sequence[PathSegment], free: Sequence[PathSegment], frame_seconds: float
) -> Iterator[tuple[Sequence[PathSegment], Sequence[PathSegment]]]:
    """Yield the parts of two results: words on which they agree, and the parts between these."""
    tolerance = round(_AGREEMENT_SECONDS / frame_seconds)
    strict_from = free_from = 0
    for index, each in enumerate(strict):
        same = next((other for other in range(free_from, len(free)) if _agree(each, free[other], tolerance)), None)
        if same is None:
            continue
        yield strict[strict_from:index], free[free_from:same]
        yield strict[index : index + 1], free[same : same + 1]
        strict_from, free_from = index + 1, same + 1
    yield strict[strict_from:], free[free_from:]


def fault_probability(ratio: float, middle: float, width: float) -> float:
    """Return the probability of a fault: 0.5 where the logarithmic likelihood ratio is ``middle``."""
    return 1.0 / (1.0 + math.exp(max(-50.0, min(50.0, (middle - ratio) / width))))


def words_in_order(segments: Sequence[PathSegment]) -> list[int]:
    """Return the indices of words and other speech."""
    return [each.index for each in segments if each.index != SILENCE]


def _agree(first: PathSegment, second: PathSegment, tolerance: int) -> bool:
    return (
        first.index == second.index >= 0
        and abs(first.start - second.start) <= tolerance
        and abs(first.end - second.end) <= tolerance
    )
