"""The plan of the corpus: an endless list of jobs, of which every prefix has all voices, styles and both languages.

It depends only on the seed and the texts. More hours continue it and change nothing before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from training.corpus.styles import DELIVERY_OF_STYLE
from training.corpus.texts import Source, split_of
from training.corpus.voices import Split, VoiceRecipe

T = TypeVar("T")

SHARD_SECONDS = 120.0
_SHARE_OF_LANGUAGE = {"en": 0.56, "zh": 0.44}
_SHARE_OF_SPLIT = {Split.TRAIN: 0.88, Split.VALIDATION: 0.09, Split.STRANGER: 0.03}
_VALIDATION_TEXT_SHARE = 0.04  # of the training voices
# The program speaks several short sentences at once, so the model must hear them together.
_NUM_JOINED, _SHARES_JOINED = (1, 2, 3), (0.66, 0.24, 0.1)
_NEVER_JOINED = ("words",)
_MAX_CHARACTERS = {"en": 230, "zh": 64}
_SECONDS_OF_CHARACTER = {"en": 0.064, "zh": 0.21}
_SECONDS_AROUND = 0.45


@dataclass(frozen=True, slots=True)
class Job:
    """A line to read. ``split`` is that of its text."""

    text: str
    language: str
    kind: str
    voice: str
    style: str
    split: str

    @property
    def expected_seconds(self) -> float:
        rate = DELIVERY_OF_STYLE[self.style].prosody.rate
        return (_SECONDS_AROUND + _SECONDS_OF_CHARACTER[self.language] * len(self.text)) / rate


def planned_shards(
    voices: Sequence[VoiceRecipe], sources: Mapping[str, Sequence[Source]], *, seed: int
) -> Iterator[list[Job]]:
    """Yield the jobs of one shard of about two minutes after the other, without end."""
    jobs = _planned(voices, sources, np.random.default_rng(seed))
    while True:
        shard: list[Job] = []
        while sum(job.expected_seconds for job in shard) < SHARD_SECONDS:
            shard.append(next(jobs))
        yield shard


def _planned(
    voices: Sequence[VoiceRecipe], sources: Mapping[str, Sequence[Source]], random: np.random.Generator
) -> Iterator[Job]:
    waiting = {(language, source.kind): _Texts(source, random) for language, each in sources.items() for source in each}
    turns = {
        split: _shuffled_for_ever(
            [each.name for each in voices if each.split is split for _ in range(each.weight)], random
        )
        for split in Split
    }
    planned = dict.fromkeys(_SHARE_OF_LANGUAGE, 0.0)
    while True:
        language = min(planned, key=lambda each: planned[each] / _SHARE_OF_LANGUAGE[each])
        source = _drawn(list(sources[language]), [source.weight for source in sources[language]], random)
        split = _drawn(list(Split), [_SHARE_OF_SPLIT[each] for each in Split], random)
        style = _drawn(list(DELIVERY_OF_STYLE), [each.weight for each in DELIVERY_OF_STYLE.values()], random)
        if split is Split.TRAIN:
            text_split = "validation" if random.random() < _VALIDATION_TEXT_SHARE else "train"
        else:
            text_split = _drawn(["validation", "test"], [1.0, 1.0], random)
        count = 1 if source.kind in _NEVER_JOINED else _drawn(list(_NUM_JOINED), list(_SHARES_JOINED), random)
        texts = waiting[language, source.kind].next(text_split, count)
        text = _joined(texts, " " if language == "en" else "", _MAX_CHARACTERS[language])
        job = Job(text, language, source.kind, next(turns[split]), style, text_split)
        planned[language] += job.expected_seconds
        yield job


class _Texts:
    """The texts of a source by split, each in random order without end."""

    def __init__(self, source: Source, random: np.random.Generator) -> None:
        by_split: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
        for text in source.texts:
            by_split[split_of(text)].append(text)
        self._waiting = {
            split: _shuffled_for_ever(texts or list(source.texts), random) for split, texts in by_split.items()
        }

    def next(self, split: str, count: int) -> list[str]:
        return [next(self._waiting[split]) for _ in range(count)]


def _joined(texts: list[str], separator: str, most: int) -> str:
    joined = texts[0]
    for text in texts[1:]:
        if len(joined) + len(text) < most:
            joined += separator + text
    return joined


def _drawn(values: list[T], weights: list[float], random: np.random.Generator) -> T:
    shares = np.array(weights) / sum(weights)
    return values[int(random.choice(len(values), p=shares))]


def _shuffled_for_ever(values: list[T], random: np.random.Generator) -> Iterator[T]:
    while True:
        for number in random.permutation(len(values)):
            yield values[number]
