"""The corpus as input of the speech language model: spoken text, speaker, style and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.text.respellings import fold_to_ascii
from training.corpus.store import Corpus
from training.corpus.utterance import IntArray, Speaker
from training.trainers.reading import read_along

NORMAL = "normal"


@dataclass(frozen=True, slots=True, eq=False)
class SpokenLine:
    """A line without audio. ``spoken`` is its text in words, as the program normalises it.

    ``tokens`` are to be generated, ``heard`` are those of a prompt. ``places`` are positions in ``spoken``.
    """

    spoken: str
    language: str
    syllables: tuple[str, ...]
    speaker: Speaker
    style: str
    split: str
    tokens: IntArray = field(repr=False)
    heard: IntArray = field(repr=False)
    places: npt.NDArray[np.float64] = field(repr=False)


def read_lines(corpus: Corpus) -> list[SpokenLine]:
    """Return all lines except those of strangers."""
    lines: list[SpokenLine] = []
    for index in range(len(corpus)):
        entry = corpus.entry(index)
        if entry.speaker.split == "stranger":
            continue
        line = entry.line
        folded = fold_to_ascii(line.spoken)
        places = read_along(line, entry.num_tokens) * (len(folded) / max(1, len(line.spoken)))
        lines.append(
            SpokenLine(
                folded,
                line.language,
                line.syllables,
                entry.speaker,
                entry.style,
                entry.split,
                tokens=corpus.tokens(index),
                heard=corpus.heard_tokens(index),
                places=places,
            )
        )
    return lines


def by_speaker_and_style(lines: Iterable[SpokenLine]) -> dict[tuple[str, str], list[SpokenLine]]:
    """Return groups of lines for prompts and their continuations."""
    groups: dict[tuple[str, str], list[SpokenLine]] = {}
    for line in lines:
        groups.setdefault((line.speaker.name, line.style), []).append(line)
    return groups


def concatenated(parts: Iterable[IntArray]) -> IntArray:
    """Return the tokens of all parts, also of none."""
    tokens: IntArray = np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32)
    return tokens
