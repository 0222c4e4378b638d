"""The place in its text of each speech token of a line, from the times of the teacher's symbols."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import numpy.typing as npt

from training.corpus.lines import Line
from training.corpus.utterance import SAMPLES_PER_TOKEN
from training.teacher.network import SAMPLES_PER_FRAME

FloatArray = npt.NDArray[np.float64]

_WORDS = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")
_SPOKEN_WORDS = re.compile(r"[^\s.,!?;:—…\"“”()]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_TONE_MARKS = re.compile("[→↗↓↘]")
_TONES = "1234"
_VOWEL_OF_SYLLABLE = 0.6  # where the tone mark is, as a share of the syllable


def read_along(line: Line, num_tokens: int) -> FloatArray:
    """Return the position in ``line.spoken`` that each token speaks, (tokens,). It never decreases.

    Words, and syllables that have a tone, have exact times; everything else lies between them.
    """
    anchors = _anchors_of_syllables(line) if line.language == "zh" else _anchors_of_words(line)
    ends = np.cumsum(line.frames)
    first, last = float(ends[0]), float(ends[-2]) if len(ends) > 1 else float(ends[-1])
    anchors = [(first, 0.0), *anchors, (max(last, first), float(len(line.spoken)))]
    times = np.maximum.accumulate([time for time, _ in anchors])
    places = np.maximum.accumulate([place for _, place in anchors])
    frames = (np.arange(num_tokens) + 0.5) * (SAMPLES_PER_TOKEN / SAMPLES_PER_FRAME)
    found: FloatArray = np.interp(frames, times, places)
    return found


def _anchors_of_words(line: Line) -> list[tuple[float, float]]:
    """Return times in frames and positions of the starts and ends of words, or none if the words differ."""
    ends = np.cumsum(line.frames)
    words = list(_WORDS.finditer(line.spoken))
    spoken = list(_SPOKEN_WORDS.finditer(line.symbols))
    if len(words) != len(spoken):
        return []
    return [
        (float(ends[each.start() if is_start else each.end()]), float(word.start() if is_start else word.end()))
        for word, each in zip(words, spoken, strict=True)
        for is_start in (True, False)
    ]


def _anchors_of_syllables(line: Line) -> list[tuple[float, float]]:
    """Return times and positions of the tones, or none if there are others than in the text."""
    ends = np.cumsum(line.frames)
    characters = [match.start() for match in _HAN.finditer(line.spoken)]
    if len(characters) != len(line.syllables):
        return []
    toned = [place for place, syllable in zip(characters, line.syllables, strict=True) if syllable[-1] in _TONES]
    marks = [match.start() for match in _TONE_MARKS.finditer(line.symbols)]
    if len(toned) != len(marks):
        return []
    pairs = ((float(ends[mark]), place + _VOWEL_OF_SYLLABLE) for mark, place in zip(marks, toned, strict=True))
    return [max(each, key=lambda pair: pair[1]) for _, each in groupby(pairs, key=lambda pair: pair[0])]
