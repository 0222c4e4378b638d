"""Alignment of the speech tokens of a line with its text, by comparing the phones of the words with those of the
tokens.

The timings of the synthesizers refer to phones, not letters. The pronunciation in the dictionary is close to the
spoken one, so their edit distance path assigns each phone to a word and to a position in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.text.respellings import Respellings, find_words
from training.corpus.phones import NUMBER_OF_LABEL, SILENCE, VOWELS, of_radio
from training.corpus.tokens import labels_of, shipped_pairs
from training.corpus.utterance import IntArray, LabelArray
from training.shipping.respellings import PHONE_OF_LETTER

_OTHER_KIND = 1.6  # cost of a vowel for a consonant; a vowel for another vowel costs half as much
_SAME_KIND = 0.8
_LEFT_OUT = 1.0
_UNKNOWN = -1  # a phone of a word that is not in the dictionary; all phones have the same cost
_TO_UNKNOWN = 0.5
_IS_VOWEL = np.array([label in VOWELS for label in range(256)])
UNKNOWN_PHONE = -100  # torch ignores such targets
_NUMBER_OF_LETTER = {letter: number for number, letter in enumerate(PHONE_OF_LETTER, 1)}
# Share of wrong or missing sounds from which a word counts as misread.
_MISREAD, _MISSING = 0.3, 0.4
# Consonants that may replace each other, depending on the accent; a vowel may replace any other.
_ALIKE = (
    "t d dx q th",
    "s z",
    "r rr er ac ax eu",
    "f v",
    "th dh d",
    "sh zh ch jh",
    "n ng m",
    "w uw uh",
    "y iy ih",
    "l ax",
)
_SOUNDS_LIKE = np.eye(256, dtype=np.bool_)
for _group in _ALIKE:
    _numbers = [NUMBER_OF_LABEL[name] for name in _group.split()]
    _SOUNDS_LIKE[np.ix_(_numbers, _numbers)] = True


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
    words = tuple(find_words(spoken))
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


def phones_along(spoken: str, labels: LabelArray, respellings: Respellings) -> npt.NDArray[np.int64]:
    """Return for each of ``labels`` (half-frames,) the phone of the dictionary that is spoken: its place in
    ``LETTER_OF_PHONE`` + 1, 0 for silence, or ``UNKNOWN_PHONE``.

    Phones are unknown in words that are missing in the dictionary, or that are spoken as other words.
    """
    words = [spoken[begin:end] for begin, end in find_words(spoken)]
    sounds, owners, _ = _sounds_of(words, respellings)
    letters = np.concatenate([np.zeros(0, np.int64), *(_letters_of(word, respellings) for word in words)])
    starts = np.flatnonzero(np.diff(labels.astype(np.int64), prepend=-1))
    heard = starts[labels[starts] != SILENCE]
    if not len(sounds) or not len(heard):
        return np.where(labels == SILENCE, 0, UNKNOWN_PHONE)
    sound_of = _aligned(labels[heard].astype(np.int64), sounds)
    spoken_label, wanted = labels[heard], sounds[sound_of]
    is_vowel, wants_vowel = _IS_VOWEL[spoken_label], _IS_VOWEL[wanted % 256]
    is_other = ~_SOUNDS_LIKE[spoken_label, wanted % 256] & ~(is_vowel & wants_vowel)
    lengths = np.diff(np.append(heard, len(labels)))
    owner = owners[sound_of]
    wrong = np.bincount(owner, is_other, len(words)) / np.maximum(1, np.bincount(owner, minlength=len(words)))
    # A word with missing sounds is misread or misaligned.
    missing = np.bincount(owners, minlength=len(words)) - np.bincount(owners[np.unique(sound_of)], minlength=len(words))
    is_misread = (wrong > _MISREAD) | (missing > _MISSING * np.bincount(owners, minlength=len(words)))
    phone = np.where(is_other | is_misread[owner] | (wanted == _UNKNOWN), UNKNOWN_PHONE, letters[sound_of])
    phones = np.full(len(labels), UNKNOWN_PHONE, np.int64)
    phones[heard[0] :] = np.repeat(phone, lengths)
    phones[labels == SILENCE] = 0
    return phones


def _letters_of(word: str, respellings: Respellings) -> npt.NDArray[np.int64]:
    """Return for each of the word's labels (as in ``_sounds_of``) the number of its phone."""
    numbers: list[int] = []
    for letter in respellings.spelled(word):
        phone = PHONE_OF_LETTER.get(letter)
        numbers += [_NUMBER_OF_LETTER[letter]] * len(of_radio(_radio_name(phone))) if phone else [UNKNOWN_PHONE]
    return np.array(numbers, np.int64)


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
