"""The words of a take of studio-mini, derived from its speech tokens, independently of all checks.

A speech token of studio-mini stands for two phones of 20 ms each. They are aligned with the phones of the text, which
gives the time of each word and shows words that are missing, wrong or repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import regex

from studio.text.respellings import Respellings
from training.synthesizers.letters import PHONE_OF_LETTER
from training.synthesizers.phones import LABELS, SILENCE
from training.synthesizers.tokens import labels_of, shipped_pairs

_HALF_SECONDS = 0.02
Heard = tuple[str, float, float]  # label, start and end in seconds
_LABELS_OF_PHONE = {
    "AH0": "ax", "AW": "a uh", "AY": "a ih", "EY": "e ih", "OW": "o uh", "OY": "ao ih", "HH": "hh", "DH": "dh",
    "NG": "ng", "JH": "jh", "CH": "ch", "TH": "th", "SH": "sh", "ZH": "zh",
}  # fmt: skip
# Sounds that may replace each other, depending on the accent.
_SIMILAR = [
    {"t", "d", "dx", "q"}, {"s", "z"}, {"r", "rr", "er", "ac", "ax"}, {"f", "v"},
    {"th", "dh"}, {"sh", "zh", "ch", "jh"}, {"n", "ng", "m"}, {"k", "g"}, {"p", "b"},
    {"w", "v"}, {"y", "iy"}, {"w", "uw", "uh"},
]  # fmt: skip
_VOWELS = frozenset(
    ["iy", "ih", "e", "eh", "ae", "a", "aa", "oo", "ao", "o", "uh", "uw", "ux", "ah", "ax", "ac", "er", "eu"]
)
_WORD = regex.compile(r"[\p{L}']+")
_SIMILAR_COST, _VOWEL_COST, _OTHER_COST = 0.15, 0.35, 1.0
_GAP_COST, _WEAK_GAP_COST = 0.8, 0.35
_WEAK = frozenset(["ax", "ih", "r", "rr", "er", "t", "d", "dx", "hh", "q", "uh", "ac"])


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of the text in the take. ``error`` is the share of its sounds that are wrong or missing."""

    text: str
    start: int  # in the spoken text
    end: int
    from_seconds: float
    to_seconds: float
    error: float


@dataclass(frozen=True, slots=True)
class Spoken:
    words: tuple[SpokenWord, ...]
    num_extra: int  # sounds that are not in the text
    longest_extra: int

    @property
    def says_its_text(self) -> bool:
        return max((word.error for word in self.words), default=1.0) < 0.5 and self.longest_extra < 3


def spoken_words(tokens: np.ndarray, spoken_text: str, respellings: Respellings) -> Spoken:
    """Align the sounds of ``tokens`` with ``spoken_text``. Times are from the first token on."""
    labels = labels_of(np.asarray(tokens), shipped_pairs())
    starts = np.flatnonzero(np.diff(labels.astype(np.int64), prepend=-1))
    ends = np.append(starts[1:], len(labels))
    heard = [
        (LABELS[labels[a]], a * _HALF_SECONDS, b * _HALF_SECONDS)
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        if labels[a] != SILENCE
    ]
    return aligned_words(heard, spoken_text, respellings, joins_equal_sounds=True)


def aligned_words(
    heard: list[Heard], spoken_text: str, respellings: Respellings, *, joins_equal_sounds: bool = False
) -> Spoken:
    """Align sounds with their times with ``spoken_text``.

    If ``joins_equal_sounds``, equal sounds in a row are one sound in ``heard``, such as the "n" of "in nineteen", and
    belong to the first word.
    """
    spans = [match.span() for match in _WORD.finditer(spoken_text)]
    wanted: list[tuple[str, int]] = []
    for number, (start, end) in enumerate(spans):
        for label in _labels(respellings.spelled(spoken_text[start:end])):
            if not (joins_equal_sounds and wanted and wanted[-1][0] == label):
                wanted.append((label, number))
    pairs = _aligned([label for label, _, _ in heard], [label for label, _ in wanted])
    return _read(pairs, heard, wanted, spans, spoken_text)


def _labels(spelled: str) -> list[str]:
    """Return the labels of a respelled word. Unknown words are read roughly by their letters."""
    labels: list[str] = []
    for letter in spelled:
        phone = PHONE_OF_LETTER.get(letter)
        if phone is None:
            labels += {"x": ["k", "s"], "c": ["k"], "e": ["eh"], "i": ["ih"], "a": ["ae"], "o": ["o"], "u": ["ah"],
                       "y": ["iy"], "j": ["jh"], "h": ["hh"], "q": ["k"], "'": []}.get(letter, [letter])  # fmt: skip
        else:
            labels += _LABELS_OF_PHONE.get(phone, phone.lower()).split()
    return labels


def _cost(first: str, second: str) -> float:
    if first == second:
        return 0.0
    if any(first in group and second in group for group in _SIMILAR):
        return _SIMILAR_COST
    return _VOWEL_COST if first in _VOWELS and second in _VOWELS else _OTHER_COST


def _gap(label: str) -> float:
    return _WEAK_GAP_COST if label in _WEAK else _GAP_COST


def _aligned(heard: list[str], wanted: list[str]) -> list[tuple[int, int]]:
    """Return pairs (heard, wanted) in order; -1 stands for nothing."""
    rows, columns = len(heard) + 1, len(wanted) + 1
    table = np.zeros((rows, columns))
    table[1:, 0] = np.cumsum([_gap(label) for label in heard])
    table[0, 1:] = np.cumsum([_gap(label) for label in wanted])
    for i in range(1, rows):
        for j in range(1, columns):
            table[i, j] = min(
                table[i - 1, j - 1] + _cost(heard[i - 1], wanted[j - 1]),
                table[i - 1, j] + _gap(heard[i - 1]),
                table[i, j - 1] + _gap(wanted[j - 1]),
            )
    i, j = rows - 1, columns - 1
    pairs: list[tuple[int, int]] = []
    while i or j:
        if i and j and np.isclose(table[i, j], table[i - 1, j - 1] + _cost(heard[i - 1], wanted[j - 1])):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif i and np.isclose(table[i, j], table[i - 1, j] + _gap(heard[i - 1])):
            i -= 1
            pairs.append((i, -1))
        else:
            j -= 1
            pairs.append((-1, j))
    return pairs[::-1]


def _read(
    pairs: list[tuple[int, int]],
    heard: list[Heard],
    wanted: list[tuple[str, int]],
    spans: list[tuple[int, int]],
    text: str,
) -> Spoken:
    costs = np.zeros(len(spans))
    weights = np.zeros(len(spans))
    times: list[list[float]] = [[] for _ in spans]
    num_extra = longest = run = 0
    for h, w in pairs:
        if w < 0:
            num_extra += 1
            run += heard[h][0] not in ("q", "ax", "ac")
            longest = max(longest, run)
            continue
        run = 0
        label, word = wanted[w]
        weights[word] += _gap(label)
        if h < 0:
            costs[word] += _gap(label)
        else:
            costs[word] += min(_cost(heard[h][0], label), _gap(label))
            times[word] += [heard[h][1], heard[h][2]]
    words = []
    last = 0.0
    for number, (start, end) in enumerate(spans):
        begin = min(times[number]) if times[number] else last
        stop = max(times[number]) if times[number] else last
        last = stop
        error = float(costs[number] / weights[number]) if weights[number] else 0.0
        words.append(SpokenWord(text[start:end], start, end, begin, stop, error))
    return Spoken(tuple(words), num_extra, longest)
