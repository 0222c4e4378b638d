"""Matching of the rows of a file with the rows that it had at its last import."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from operator import ne

from studio.project.lines import Slot
from studio.project.script import shared_ends

_MIN_LIKENESS = 0.5
_MIN_OVERLAP = 0.5  # share of the shorter of two slots
# In larger blocks of changed rows, only rows with nearly the same relative position are compared.
_MAX_COMPARISONS = 4096
_MAX_DISTANCE = 4


@dataclass(frozen=True, slots=True)
class Row:
    """What identifies a row: its key, or else its text and time."""

    key: str
    text: str
    character: str = ""
    slot: Slot | None = None

    @property
    def content(self) -> tuple[str, str]:
        return self.text, self.character


def match_rows(old: Sequence[Row], new: Sequence[Row]) -> dict[int, int]:
    """Return the places of old rows by the places of the new rows that correspond to them.

    Rows with the same key correspond. Rows without keys correspond if their texts are the same, in the same order as far
    as possible, or if they are similar and between the same rows.
    """
    pairs = _match_keys(old, new)
    matched = set(pairs.values())
    has_keys = bool(pairs)
    # A row with a key corresponds to no row with another key, unless all keys are new.
    rest_old = [at for at in range(len(old)) if at not in matched]
    rest_new = [at for at in range(len(new)) if at not in pairs and not (has_keys and new[at].key)]
    blocks = _align(old, new, rest_old, rest_new, pairs)
    if has_keys:
        blocks = [([at for at in olds if not old[at].key], news) for olds, news in blocks]
    _match_elsewhere(old, new, blocks, pairs)
    for olds, news in blocks:
        _match_similar(old, new, olds, news, pairs)
    return pairs


def _match_keys(old: Sequence[Row], new: Sequence[Row]) -> dict[int, int]:
    """Return the pairs of rows with the same key, which occurs once on both sides."""
    num_old, num_new = (Counter(row.key for row in rows if row.key) for rows in (old, new))
    places = {row.key: at for at, row in enumerate(old) if num_old[row.key] == 1}
    return {at: places[row.key] for at, row in enumerate(new) if num_new[row.key] == 1 and row.key in places}


def _align(
    old: Sequence[Row], new: Sequence[Row], rest_old: list[int], rest_new: list[int], pairs: dict[int, int]
) -> list[tuple[list[int], list[int]]]:
    """Add the pairs of rows with the same content in the same order. Return the blocks of other rows between them."""
    contents = [old[at].content for at in rest_old], [new[at].content for at in rest_new]
    head, tail = shared_ends(*contents, differs=ne)
    ends = len(rest_old) - tail, len(rest_new) - tail
    pairs.update(zip(rest_new[:head], rest_old[:head], strict=True))
    pairs.update(zip(rest_new[ends[1] :], rest_old[ends[0] :], strict=True))
    rest_old, rest_new = rest_old[head : ends[0]], rest_new[head : ends[1]]
    matcher = SequenceMatcher(None, contents[0][head : ends[0]], contents[1][head : ends[1]])
    blocks = []
    for kind, first_old, end_old, first_new, end_new in matcher.get_opcodes():
        if kind == "equal":
            pairs.update(zip(rest_new[first_new:end_new], rest_old[first_old:end_old], strict=True))
        else:
            blocks.append((rest_old[first_old:end_old], rest_new[first_new:end_new]))
    return blocks


def _match_elsewhere(
    old: Sequence[Row], new: Sequence[Row], blocks: Sequence[tuple[list[int], list[int]]], pairs: dict[int, int]
) -> None:
    """Add the pairs of rows with the same content in different blocks: they were moved."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at in (at for olds, _ in reversed(blocks) for at in reversed(olds)):
        places[old[at].content].append(at)
    for at in (at for _, news in blocks for at in news):
        if found := places[new[at].content]:
            pairs[at] = found.pop()


def _match_similar(
    old: Sequence[Row], new: Sequence[Row], olds: list[int], news: list[int], pairs: dict[int, int]
) -> None:
    """Add the pairs of the most similar rows of a block."""
    matched = set(pairs.values())
    olds, news = [at for at in olds if at not in matched], [at for at in news if at not in pairs]
    is_small = len(olds) * len(news) <= _MAX_COMPARISONS
    candidates = []
    for number, at in enumerate(news):
        middle = number * len(olds) // len(news)
        near = olds if is_small else olds[max(0, middle - _MAX_DISTANCE) : middle + _MAX_DISTANCE + 1]
        candidates += [(_likeness(old[other], new[at]), -abs(other - at), at, other) for other in near]
    for likeness, _, at, other in sorted(candidates, reverse=True):
        if likeness >= _MIN_LIKENESS and at not in pairs and other not in matched:
            pairs[at] = other
            matched.add(other)


def _likeness(old: Row, new: Row) -> float:
    """Return the likeness of two rows, 0..1. Rows that are shown at the same time in a video are alike."""
    if old.slot is not None and new.slot is not None:
        start = max(old.slot.start_seconds, new.slot.start_seconds)
        shared = min(old.slot.end_seconds, new.slot.end_seconds) - start
        if shared > _MIN_OVERLAP * min(old.slot.seconds, new.slot.seconds):
            return 1.0
    matcher = SequenceMatcher(None, old.text, new.text, autojunk=False)
    if matcher.real_quick_ratio() < _MIN_LIKENESS or matcher.quick_ratio() < _MIN_LIKENESS:
        return 0.0
    return matcher.ratio()
