"""Comparison of what a recogniser heard with the text of a take: problems, word error rate and word times.

The weight of an error is the recogniser's confidence in it. Words whose spelling a recogniser cannot know, such as
names of the pronunciation dictionary, are accepted where they sound alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from studio.take_checks.findings import TextFindings
from studio.take_checks.recognizers.protocol import AlignedUnit, HeardUnit, Recognition
from studio.take_checks.records import Problem, ProblemKind, WordTime
from studio.take_checks.sounds import sound_alike
from studio.take_checks.units import UNKNOWN, SpokenUnit, is_character, spoken_units, written_spans

# A recording that stops this soon after its last sound was cut, if its last words are missing.
_CUT_SECONDS = 0.15
# The place of missing words is a point; it is shown with a part of the neighbouring words.
_SHOWN_SECONDS = 0.1
_MIN_SPEECH_SECONDS = 0.12
_MIN_CONFIDENCE = 0.05
_WORDS_LOST = (ProblemKind.MISSING_WORDS, ProblemKind.WRONG_WORDS)
_OPENERS = " \t\n\"'“‘«(["


@dataclass(frozen=True, slots=True)
class _Difference:
    """Expected units ``first`` to ``end``, in place of which ``heard`` was heard.

    ``kind`` is ``MISSING_WORDS``, ``WRONG_WORDS``, ``EXTRA_SPEECH`` or ``REPEATED_WORDS``.
    """

    kind: ProblemKind
    first: int
    end: int
    heard: tuple[HeardUnit, ...] = ()


def compare(
    text: str,
    units: Sequence[SpokenUnit],
    recognition: Recognition,
    *,
    seconds: float,
    recognizer: str,
    language: str,
    known_words: Collection[str] = (),
) -> TextFindings:
    """Compare ``recognition`` with the spoken ``units`` of ``text`` in a recording that lasts ``seconds``."""
    free = _freely_spelled(text, units, known_words, language)
    heard = _placed(recognition.heard, units, free)
    differences = list(_differences(heard, len(units)))
    problems, errors = [], 0.0
    for difference in differences:
        confidence = _confidence(difference, units, recognition.aligned, free, heard)
        if confidence < _MIN_CONFIDENCE:
            continue
        errors += confidence * max(difference.end - difference.first, len(difference.heard))
        problems.append(
            _problem(
                difference,
                confidence,
                text=text,
                units=units,
                heard=heard,
                aligned=recognition.aligned,
                seconds=seconds,
            )
        )
    return TextFindings(
        problems=tuple(problems),
        words=word_times(text, units, _times(units, heard, recognition.aligned)),
        word_error_rate=min(1.0, errors / max(1, len(units))),
        recognizer=recognizer,
    )


def word_times(
    text: str, units: Sequence[SpokenUnit], times: Sequence[tuple[float, float] | None]
) -> tuple[WordTime, ...]:
    """Return the times of the written words, in the order of the text.

    Words of which no unit has a time, and words that were heard out of order, are left out.
    """
    words = []
    for first, end in written_spans(tuple(units)):
        spans = [span for span in times[first:end] if span is not None]
        if spans:
            start, stop = units[first].start, units[first].end
            words.append(WordTime(text[start:stop], spans[0][0], spans[-1][1], start, stop))
    return _in_order(words)


def _in_order(words: Sequence[WordTime]) -> tuple[WordTime, ...]:
    """Return the longest series of words in which none begins before the previous one."""
    ends: list[int] = []  # for each length, the last word of the series that ends earliest
    previous = [-1] * len(words)
    for index, word in enumerate(words):
        length = bisect_right(ends, word.from_seconds, key=lambda each: words[each].from_seconds)
        previous[index] = ends[length - 1] if length else -1
        ends[length : length + 1] = [index]
    kept = []
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.append(words[index])
        index = previous[index]
    return tuple(reversed(kept))


def _placed(
    heard: Sequence[HeardUnit], expected: Sequence[SpokenUnit], freely_spelled: Collection[int] = ()
) -> tuple[HeardUnit, ...]:
    """Return ``heard`` with the index of the expected unit that each stands for, or -1.

    A recogniser that knows the text reports the indices itself.
    """

    def cost_of(unit: HeardUnit, column: int) -> float:
        return _substitution_cost(unit.text, expected[column].text, is_free=column in freely_spelled)

    if any(unit.expected_index >= 0 for unit in heard):
        return tuple(heard)
    width = len(expected) + 1
    costs = [float(column) for column in range(width)]
    table = [costs]
    for unit in heard:
        row = [costs[0] + 1.0]
        for column in range(1, width):
            row.append(
                min(
                    costs[column - 1] + cost_of(unit, column - 1),
                    costs[column] + 1.0,
                    row[column - 1] + 1.0,
                )
            )
        table.append(row)
        costs = row
    indices = [-1] * len(heard)
    row_number, column = len(heard), width - 1
    while row_number and column:
        cost = cost_of(heard[row_number - 1], column - 1)
        if table[row_number][column] == table[row_number - 1][column - 1] + cost:
            row_number, column = row_number - 1, column - 1
            if cost < 1.0:
                indices[row_number] = column
        elif table[row_number][column] == table[row_number - 1][column] + 1.0:
            row_number -= 1
        else:
            column -= 1
    return tuple(replace(unit, expected_index=index) for unit, index in zip(heard, indices, strict=True))


def _substitution_cost(heard: str, expected: str, *, is_free: bool) -> float:
    if expected in (heard, UNKNOWN):
        return 0.0
    alike = sound_alike(heard, expected)
    if alike and (is_free or is_character(expected)):
        return 0.5
    return 1.2 if alike else 1.4


def _freely_spelled(text: str, units: Sequence[SpokenUnit], known_words: Collection[str], language: str) -> set[int]:
    """Return the indices of names, whose spelling a recogniser cannot know: known words, and capitalised words."""
    known = {unit.text for word in known_words for unit in spoken_units(word, language)}
    return {
        index
        for index, unit in enumerate(units)
        if unit.text == UNKNOWN
        or unit.text in known
        # All German nouns are capitalised.
        or (language != "de" and text[unit.start].isupper() and text[: unit.start].rstrip(_OPENERS)[-1:].isalnum())
    }


def _differences(heard: Sequence[HeardUnit], num_units: int) -> Iterator[_Difference]:
    """Yield the differences in the order of the recording."""
    done = -1  # the last expected unit that was heard
    extra: list[HeardUnit] = []
    repeated: list[HeardUnit] = []
    for unit in heard:
        index = unit.expected_index
        if index < 0:
            extra.append(unit)
            continue
        if index <= done:
            repeated.append(unit)
            continue
        yield from _between(done + 1, index, extra, repeated)
        extra, repeated, done = [], [], index
    yield from _between(done + 1, num_units, extra, repeated)


def _between(first: int, end: int, extra: Sequence[HeardUnit], repeated: Sequence[HeardUnit]) -> Iterator[_Difference]:
    if repeated:
        indices = [unit.expected_index for unit in repeated]
        yield _Difference(ProblemKind.REPEATED_WORDS, min(indices), max(indices) + 1, tuple(repeated))
    if first < end:
        yield _Difference(ProblemKind.WRONG_WORDS if extra else ProblemKind.MISSING_WORDS, first, end, tuple(extra))
    elif extra:
        yield _Difference(ProblemKind.EXTRA_SPEECH, first, end, tuple(extra))


def _confidence(
    difference: _Difference,
    units: Sequence[SpokenUnit],
    aligned: Sequence[AlignedUnit | None],
    free: Collection[int],
    all_heard: Sequence[HeardUnit],
) -> float:
    if difference.kind is ProblemKind.REPEATED_WORDS:
        return max(_second_confidence(index, all_heard) for index in {unit.expected_index for unit in difference.heard})
    heard = max((unit.confidence for unit in difference.heard), default=0.0)
    if difference.kind is ProblemKind.EXTRA_SPEECH:
        length = sum(unit.to_seconds - unit.from_seconds for unit in difference.heard)
        return heard * min(1.0, length / _MIN_SPEECH_SECONDS)
    if difference.kind is ProblemKind.WRONG_WORDS and _is_accepted(difference, units, free):
        return 0.0
    missing = _missing_confidence(aligned[difference.first : difference.end])
    return min(missing, heard) if any(unit.text for unit in difference.heard) else missing


def _missing_confidence(aligned: Sequence[AlignedUnit | None]) -> float:
    """Return the confidence that one of the ``aligned`` units was not spoken; 1 if the recogniser does not align."""
    return 1.0 - min((unit.score if unit else 0.0 for unit in aligned), default=0.0)


def _second_confidence(index: int, heard: Sequence[HeardUnit]) -> float:
    """Return the second-highest confidence of a unit, or its only one."""
    return sorted(unit.confidence for unit in heard if unit.expected_index == index)[-2:][0]


def _is_accepted(difference: _Difference, units: Sequence[SpokenUnit], free: Collection[int]) -> bool:
    """Return whether names or characters were heard that sound like the expected ones.

    Names may also be heard as unrecognised speech.
    """
    expected = units[difference.first : difference.end]
    said = "".join(unit.text for unit in difference.heard)
    meant = "".join(unit.text for unit in expected)
    if all(index in free for index in range(difference.first, difference.end)):
        return sound_alike(said, meant) if said and meant else True
    return all(is_character(unit.text) for unit in expected) and sound_alike(said, meant)


def _problem(
    difference: _Difference,
    confidence: float,
    *,
    text: str,
    units: Sequence[SpokenUnit],
    heard: Sequence[HeardUnit],
    aligned: Sequence[AlignedUnit | None],
    seconds: float,
) -> Problem:
    expected = units[difference.first : difference.end]
    if difference.heard:
        start, end = difference.heard[0].from_seconds, difference.heard[-1].to_seconds
    else:
        start, end = _gap(difference, heard, aligned, seconds)
    text_start, text_end = (expected[0].start, expected[-1].end) if expected else (-1, -1)
    return Problem(
        _kind(difference, len(units), heard, seconds),
        max(0.0, start),
        min(seconds, end),
        text[text_start:text_end] if expected else "",
        round(confidence, 3),
        text_start,
        text_end,
    )


def _kind(difference: _Difference, num_units: int, heard: Sequence[HeardUnit], seconds: float) -> ProblemKind:
    """Return the kind of a difference. Words at one end of the text may have been cut off."""
    is_at_start, is_at_end = difference.first == 0, difference.end == num_units
    sounds = [unit for unit in heard if unit.confidence > 0.0]
    if difference.kind not in _WORDS_LOST or is_at_start is is_at_end or not sounds:
        return difference.kind
    if is_at_start:
        return ProblemKind.CUT_START if sounds[0].from_seconds < _CUT_SECONDS else difference.kind
    return ProblemKind.CUT_END if seconds - sounds[-1].to_seconds < _CUT_SECONDS else difference.kind


def _gap(
    difference: _Difference, heard: Sequence[HeardUnit], aligned: Sequence[AlignedUnit | None], seconds: float
) -> tuple[float, float]:
    """Return where the missing units should be: between the units before and after them."""
    before = max((unit.to_seconds for unit in heard if 0 <= unit.expected_index < difference.first), default=0.0)
    after = min((unit.from_seconds for unit in heard if unit.expected_index >= difference.end), default=seconds)
    if not heard:
        spans = [unit for unit in aligned[difference.first : difference.end] if unit]
        before, after = (spans[0].from_seconds, spans[-1].to_seconds) if spans else (0.0, seconds)
    middle = (before + after) / 2
    return min(before, middle - _SHOWN_SECONDS), max(after, middle + _SHOWN_SECONDS)


def _times(
    units: Sequence[SpokenUnit], heard: Sequence[HeardUnit], aligned: Sequence[AlignedUnit | None]
) -> list[tuple[float, float] | None]:
    """Return the time of each unit: where it was heard, otherwise where it was aligned with some probability."""
    times: list[tuple[float, float] | None] = [None] * len(units)
    for index, place in enumerate(aligned):
        if place is not None and place.score >= 0.5:
            times[index] = (place.from_seconds, place.to_seconds)
    for unit in heard:
        if unit.expected_index >= 0 and times[unit.expected_index] is None:
            times[unit.expected_index] = (unit.from_seconds, unit.to_seconds)
    return times
