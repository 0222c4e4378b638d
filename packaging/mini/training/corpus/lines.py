"""A line of the corpus, with its recording or only its reading."""

from __future__ import annotations

from dataclasses import dataclass, field

from training.corpus.utterance import FloatArray, LabelArray


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read: its text and how it was pronounced.

    ``spoken`` is the text in words. ``symbols`` are the teacher's phonemes, ``frames`` the 25 ms frames of silence, of
    each symbol, and of silence. ``syllables`` are those of the Han characters, such as "hao3".
    """

    text: str
    spoken: str
    language: str
    kind: str
    voice: str
    style: str
    split: str
    symbols: str
    frames: tuple[int, ...]
    syllables: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """``samples`` at 24 kHz, a multiple of 960, and ``f0_hz`` of each 20 ms, 0 if unvoiced."""

    line: Line
    samples: FloatArray = field(repr=False)
    f0_hz: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A line without sound: ``sounds`` and ``tones`` (labels) and ``f0_hz`` of each 20 ms, of whole tokens."""

    line: Line
    sounds: LabelArray = field(repr=False)
    tones: LabelArray = field(repr=False)
    f0_hz: FloatArray = field(repr=False)
