"""Alignment of the speech tokens of a line with its text, by comparing the phones of the words with those of the
tokens.

The timings of the synthesizers refer to phones, not letters. The pronunciation in the dictionary is close to the
spoken one, so their edit distance path assigns each phone to a word and to a position in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.text.respellings import Respellings, words_of
from training.corpus.phones import SILENCE, VOWELS, of_radio
from training.corpus.tokens import labels_of, shipped_pairs
from training.corpus.utterance import IntArray
from training.shipping.respellings import PHONE_OF_LETTER

_OTHER_KIND = 1.6  # cost of a vowel for a consonant; a vowel for another vowel costs half as much
_SAME_KIND = 0.8
_LEFT_OUT = 1.0
_UNKNOWN = -1  # a phone of a word that is not in the dictionary; all phones have the same cost
_TO_UNKNOWN = 0.5
_IS_VOWEL = np.array([label in VOWELS for label in range(256)])


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """``words`` are starts and ends in the spoken text. Each speech token has the number of its word (tokens,) and its
    position in that word (tokens,), 0..1, where 1 is the silence after the word. A text without words has no reading.
    """

    words: tuple[tuple[int, int], ...]
    word_of: IntArray = field(repr=False)
    progress: npt.NDArray[np.float32] = field(repr=False)


def read_along(spoken: str, tokens: IntArray, respellings: Respellings) -> Reading:
    """Return the reading of ``tokens`` (tokens,), whose text is ``spoken``."""
    words = tuple(words_of(spoken))
    sounds, owners, parts = _sounds_of([spoken[begin:end] for begin, end in words], respellings)
    labels = labels_of(tokens, shipped_pairs()).astype(np.int64)
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    heard = starts[labels[starts] != SILENCE]
    if not len(sounds) or not len(heard):
        return Reading((), np.zeros(len(tokens), np.int32), np.zeros(len(tokens), np.float32))
    sound_of = _aligned(labels[heard], sounds)
    run_of = np.searchsorted(heard, np.arange(len(labels)), side="right") - 1
    is_silent = labels == SILENCE
    own = sound_of[run_of.clip(min=0)]
    word, part = owners[own].astype(np.int32), parts[own].astype(np.float32)
    part = np.where(is_silent & (run_of >= 0), 1.0, part)
    # A token counts as its last phone.
    return Reading(words, word[1::2], part[1::2].astype(np.float32))


def _sounds_of(
    words: list[str], respellings: Respellings
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the labels of all words in order, and the word and the position in it of each label."""
    sounds: list[int] = []
    owners: list[int] = []
    parts: list[float] = []
    for number, word in enumerate(words):
        letters = respellings.spelled(word)
        for place, letter in enumerate(letters):
            phone = PHONE_OF_LETTER.get(letter)
            labels = [label for label, _ in of_radio(_radio_name(phone))] if phone else [_UNKNOWN]
            sounds += labels
            owners += [number] * len(labels)
            parts += [(place + (step + 0.5) / len(labels)) / len(letters) for step in range(len(labels))]
    return np.array(sounds, np.int64), np.array(owners, np.int64), np.array(parts)


def _radio_name(phone: str) -> str:
    return "ax" if phone == "AH0" else phone.lower()


def _aligned(heard: npt.NDArray[np.int64], sounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the index in ``sounds`` of each heard label (heard,), along the path of minimum edit distance."""
    kind = np.where(_IS_VOWEL[heard][:, None] == _IS_VOWEL[sounds % 256][None], _SAME_KIND, _OTHER_KIND)
    change = np.where(heard[:, None] == sounds[None], 0.0, kind)
    change = np.where(sounds[None] == _UNKNOWN, _TO_UNKNOWN, change)
    skips = _LEFT_OUT * np.arange(len(sounds) + 1)
    costs = np.empty((len(heard) + 1, len(sounds) + 1))
    costs[0] = skips
    for row in range(len(heard)):
        above = costs[row]
        best = np.minimum(above + _LEFT_OUT, np.append(np.inf, above[:-1] + change[row]))
        costs[row + 1] = np.minimum.accumulate(best - skips) + skips  # skips phones that were not spoken
    path = np.zeros(len(heard), np.int64)
    row, column = len(heard), len(sounds)
    while row:
        here = costs[row, column]
        if column and np.isclose(here, costs[row - 1, column - 1] + change[row - 1, column - 1]):
            row, column = row - 1, column - 1
            path[row] = column
        elif np.isclose(here, costs[row - 1, column] + _LEFT_OUT):
            row -= 1
            path[row] = max(column - 1, 0)
        else:
            column -= 1
    return path
