"""Sounds and tones of a recorded line, from the teacher's symbols and their times.

Decision: English and Mandarin share the labels of sounds that are alike, such as English B and pinyin b. Reason: the
tokens, which are made of these labels, then have room for pitch, and a timbre that read one language can read the
other. Alternative: separate labels for each language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from training.corpus.lines import Line
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME, FloatArray, LabelArray
from training.teacher.network import SAMPLES_PER_FRAME

_CONSONANTS = "p b t d k ɡ f v θ ð s z ʃ ʒ ʧ ʤ h m n ŋ l ɹ w j T x ʨ ʨʰ ɕ ꭧ ꭧʰ ʂ ɻ ʦ ʦʰ ɥ".split()
_VOWELS = "i ɪ e ɛ æ a ɑ ɒ ɔ o ʊ u ʌ ə ɜ y ɤ ɨ ɚ".split()
LABELS: tuple[str, ...] = ("sil", *_CONSONANTS, *_VOWELS)
NUMBER_OF_LABEL = {label: number for number, label in enumerate(LABELS)}
SILENCE = NUMBER_OF_LABEL["sil"]
VOWELS = frozenset(NUMBER_OF_LABEL[label] for label in _VOWELS)
VOICED = VOWELS | {NUMBER_OF_LABEL[label] for label in "b d ɡ v ð z ʒ ʤ m n ŋ l ɹ w j T ɻ ɥ".split()}

NO_TONE, NEUTRAL_TONE = 0, 5
NUM_TONES = 6

# Diphthongs are their first and last vowel; weak vowels are the vowel that they are closest to.
_LABELS_OF_SYMBOL = {
    "A": "e ɪ", "I": "a ɪ", "O": "o ʊ", "Q": "ə ʊ", "W": "a ʊ", "Y": "ɔ ɪ", "ᵊ": "ə", "ᵻ": "ɪ", "ɐ": "ə",
    "ʣ": "ʦ", "ʥ": "ʨ", "r": "ɻ",
}  # fmt: skip
# Stops that are the same symbol in both languages, where Mandarin has the mark ʰ in those like English ones.
_MANDARIN_STOPS = {"p": "b", "t": "d", "k": "ɡ"}
_ASPIRATED_STOPS = {"p", "t", "k"}
_TONES = {"→": 1, "↗": 2, "↓": 3, "↘": 4}
_BEFORE_PHONE, _AFTER_PHONE = "ˈˌ", "ʰː→↗↓↘"
_ONLY_ENGLISH = re.compile(r"[ˈˌAIOQWYæɑɒʌɔɪθðʃʒʤʧTvzbdɡhᵊᵻɐː]")
_GLIDES_AND_VOWELS = frozenset("wjɥiɛeaoʊuəyɤɨɚ")
_FIRST_SHARE = 0.55  # of a diphthong
_SILENT_BELOW_DB = -40.0
_PAUSE_HALVES = 5  # a longer silence is a pause, a shorter one is part of a stop


@dataclass(frozen=True, slots=True)
class Phone:
    """A sound from ``start`` to ``end`` in frames of 25 ms. ``tone`` is 0 for consonants and for English."""

    label: str
    tone: int
    start: float
    end: float


def phones_of(line: Line) -> list[Phone]:
    """Return the sounds of ``line``, with gaps where the teacher's symbols are spaces and punctuation."""
    ends = np.cumsum(line.frames)
    phones: list[Phone] = []
    for match in re.finditer(r"[^\s.,!?;:—…\"“”()]+", line.symbols):
        starts = ends[match.start() : match.end()].tolist()
        word_end = int(ends[match.end()])
        is_mandarin = line.language == "zh" and not _ONLY_ENGLISH.search(match.group())
        phones += _word_phones(match.group(), [*starts, word_end], is_mandarin=is_mandarin)
    return phones


def _word_phones(word: str, bounds: list[int], *, is_mandarin: bool) -> list[Phone]:
    """Return the sounds of a word, whose symbol ``k`` lasts from ``bounds[k]`` to ``bounds[k + 1]``."""
    # Marks belong to a sound and last as long as the teacher gave them.
    groups: list[tuple[str, str, int, int]] = []  # symbol, marks after it, start, end
    start: int | None = None
    for number, symbol in enumerate(word):
        begin, end = bounds[number], bounds[number + 1]
        if symbol in _BEFORE_PHONE:
            start = begin if start is None else start
        elif symbol in _AFTER_PHONE and groups:
            last = groups[-1]
            groups[-1] = (last[0], last[1] + symbol, last[2], end)
        else:
            groups.append((symbol, "", begin if start is None else start, end))
            start = None
    tones = _tones(groups) if is_mandarin else [NO_TONE] * len(groups)
    phones: list[Phone] = []
    for (symbol, marks, begin, end), tone in zip(groups, tones, strict=True):
        labels = _labels(symbol, marks, is_mandarin=is_mandarin).split()
        middle = begin + _FIRST_SHARE * (end - begin)
        spans = [(begin, end)] if len(labels) == 1 else [(begin, middle), (middle, end)]
        phones += [Phone(label, tone, *span) for label, span in zip(labels, spans, strict=True)]
    return phones


def _labels(symbol: str, marks: str, *, is_mandarin: bool) -> str:
    if is_mandarin and symbol in _MANDARIN_STOPS:
        return symbol if "ʰ" in marks else _MANDARIN_STOPS[symbol]
    if "ʰ" in marks:
        symbol += "ʰ"
    return _LABELS_OF_SYMBOL.get(symbol, symbol)


def _tones(groups: list[tuple[str, str, int, int]]) -> list[int]:
    """Return the tone of each sound of a Mandarin word. The final nasal of a syllable has the tone of its vowel."""
    tones = [NO_TONE] * len(groups)
    for number, (symbol, marks, _, _) in enumerate(groups):
        if NUMBER_OF_LABEL.get(symbol, SILENCE) in VOWELS:
            own = next((_TONES[mark] for mark in marks if mark in _TONES), None)
            following = groups[number + 1] if number + 1 < len(groups) else None
            if own is None and following and NUMBER_OF_LABEL.get(following[0], SILENCE) in VOWELS:
                # The first half of a diphthong, whose mark is after the second.
                own = next((_TONES[mark] for mark in following[1] if mark in _TONES), None)
            tones[number] = NEUTRAL_TONE if own is None else own
        elif symbol in "nŋ" and number and tones[number - 1]:
            following_symbol = groups[number + 1][0] if number + 1 < len(groups) else ""
            if symbol == "ŋ" or following_symbol not in _GLIDES_AND_VOWELS or not following_symbol:
                tones[number] = tones[number - 1]
    return tones


def labels_of_word(symbols: str, *, is_mandarin: bool = False) -> list[str]:
    """Return the labels of the teacher's ``symbols`` of one word."""
    return [phone.label for phone in _word_phones(symbols, list(range(len(symbols) + 1)), is_mandarin=is_mandarin)]


def timed_labels(line: Line, is_silent: npt.NDArray[np.bool_]) -> tuple[LabelArray, LabelArray]:
    """Return the label and the tone of each 20 ms. ``is_silent`` (20 ms,) is where nothing sounds.

    What the teacher counts as spaces and ends is silent only where nothing sounds; the rest belongs to its neighbours.
    A pause that the teacher counts to the sound before it is silence.
    """
    num_halves = len(is_silent)
    labels = np.full(num_halves, SILENCE, np.uint8)
    tones = np.zeros(num_halves, np.uint8)
    centres = (np.arange(num_halves) + 0.5) * (SAMPLES_PER_HALF_FRAME / SAMPLES_PER_FRAME)
    phones = phones_of(line)
    for number, phone in enumerate(phones):
        before = phones[number - 1].end if number else 0.0
        after = phones[number + 1].start if number + 1 < len(phones) else float(num_halves)
        # Half of a gap that sounds belongs to each neighbour.
        first, last = (before + phone.start) / 2 if number else 0.0, (phone.end + after) / 2
        own = (centres >= phone.start) & (centres < phone.end)
        own |= (centres >= first) & (centres < last) & ~is_silent
        labels[own], tones[own] = NUMBER_OF_LABEL[phone.label], phone.tone
    starts = np.flatnonzero(np.diff(is_silent.astype(np.int8), prepend=2))
    for start, end in zip(starts, np.append(starts[1:], num_halves), strict=True):
        if is_silent[start] and end - start >= _PAUSE_HALVES:
            labels[start:end], tones[start:end] = SILENCE, NO_TONE
    return labels, tones


def silent_halves(samples: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether each 20 ms of ``samples`` is silent."""
    frames = samples[: len(samples) // SAMPLES_PER_HALF_FRAME * SAMPLES_PER_HALF_FRAME].astype(np.float64)
    power = (frames.reshape(-1, SAMPLES_PER_HALF_FRAME) ** 2).mean(axis=1)
    silent: npt.NDArray[np.bool_] = power < power.max() * 10.0 ** (_SILENT_BELOW_DB / 10.0)
    return silent
