"""Anchored speech tokens: the pair of phones within 40 ms, and the colour of the voice.

``token = pair + 729 * colour``. A pair is one of the 729 in ``pairs.json``, which include each phone with itself.
A colour is a mode (whisper, modal, soft, loud) and the pitch relative to the median of the voice.

Colours are recognised for each token, but the language model generates one colour for the whole utterance, and the
flow generates the melody. (With a nucleus of 0.7, sampling never leaves its first pitch level, so a model trained on
the levels of single tokens stayed high for whole sentences.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.corpus.utterance import CorpusFailed, FloatArray, IntArray, LabelArray
from training.synthesizers.phones import LABELS, NUMBER_OF_LABEL, SILENCE

NUM_PAIRS = 729
NUM_COLOURS = 9
NUM_TOKENS = NUM_PAIRS * NUM_COLOURS
PAIRS_FILE = Path(__file__).with_name("pairs.json")

LOW_BELOW = 0.92  # relative to the median F0 of the speaker
HIGH_ABOVE = 1.10
# A level belongs to a phrase, not to a single phone. This many intervals of 20 ms are averaged on each side.
_SMOOTHED_HALF_FRAMES = 6


class Colour(IntEnum):
    WHISPER = 0
    MODAL_LOW = 1
    MODAL_MID = 2
    MODAL_HIGH = 3
    SOFT_LOW = 4
    SOFT_HIGH = 5
    LOUD_LOW = 6
    LOUD_MID = 7
    LOUD_HIGH = 8


_COLOUR_ASKED_FOR = {
    "whisper": Colour.WHISPER,
    "high": Colour.MODAL_HIGH,
    "low": Colour.MODAL_LOW,
    "soft": Colour.SOFT_LOW,
    "loud": Colour.LOUD_MID,
}


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Labels of each pair class, ``pairs`` (729, 2), and the class of any two labels, ``class_of``."""

    pairs: npt.NDArray[np.int64]
    class_of: IntArray = field(repr=False)

    @classmethod
    def of_pairs(cls, pairs: npt.NDArray[np.int64]) -> PairTable:
        """Return the table of ``pairs``. A rare pair gets the class of its audible or more frequent phone."""
        num_labels = len(LABELS)
        class_of = np.full((num_labels, num_labels), -1, np.int32)
        class_of[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        lasting = np.diagonal(class_of).copy()
        if len(pairs) != NUM_PAIRS or (lasting < 0).any():
            raise CorpusFailed(f"A pair table must have {NUM_PAIRS} pairs, including each phone with itself.")
        rank = lasting.copy()
        rank[SILENCE] = NUM_PAIRS
        for first, second in np.argwhere(class_of < 0):
            class_of[first, second] = lasting[first if rank[first] < rank[second] else second]
        return cls(pairs, class_of)

    @classmethod
    def of_counts(cls, counts: npt.NDArray[np.int64]) -> PairTable:
        """Return the table of the most frequent pairs of ``counts`` (labels, labels), in descending order."""
        num_labels = len(LABELS)
        order = np.argsort(-counts.reshape(-1), kind="stable")
        is_lasting = order // num_labels == order % num_labels
        moving = order[~is_lasting][: NUM_PAIRS - num_labels]
        chosen = np.concatenate([order[is_lasting], moving])
        chosen = chosen[np.argsort(-counts.reshape(-1)[chosen], kind="stable")]
        return cls.of_pairs(np.stack([chosen // num_labels, chosen % num_labels], axis=1))

    @classmethod
    def read(cls, path: Path = PAIRS_FILE) -> PairTable:
        content = json.loads(path.read_text(encoding="utf-8"))
        if tuple(content["labels"]) != LABELS:
            raise CorpusFailed(f"{path.name} does not match the phones in phones.py. Create the pair table again.")
        return cls.of_pairs(np.array([[NUMBER_OF_LABEL[label] for label in pair.split()] for pair in content["pairs"]]))

    def write(self, path: Path) -> None:
        pairs = [f"{LABELS[first]} {LABELS[second]}" for first, second in self.pairs]
        content = {"labels": list(LABELS), "pairs": pairs}
        path.write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")

    def classes(self, labels: LabelArray) -> IntArray:
        """Return the pair classes (tokens,) of labels (2 * tokens,)."""
        classes: IntArray = self.class_of[labels[0::2], labels[1::2]]
        return classes


@lru_cache(maxsize=1)
def shipped_pairs() -> PairTable:
    """Return the table of ``pairs.json``, which all trained networks use."""
    return PairTable.read()


def encode(labels: LabelArray, colours: IntArray, table: PairTable) -> IntArray:
    """Return the tokens (tokens,) of labels (2 * tokens,) and colours (tokens,)."""
    tokens: IntArray = (table.classes(labels) + NUM_PAIRS * colours).astype(np.int32)
    return tokens


def pairs_and_colours(tokens: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return pair and colour of each token."""
    return (tokens % NUM_PAIRS).astype(np.int32), (tokens // NUM_PAIRS).astype(np.int32)


def asked_tokens(tokens: IntArray, style: str) -> IntArray:
    """Return ``tokens`` of an utterance in ``style`` with a single colour, as the language model generates them."""
    asked: IntArray = (tokens % NUM_PAIRS + NUM_PAIRS * _COLOUR_ASKED_FOR.get(style, Colour.MODAL_MID)).astype(np.int32)
    return asked


def labels_of(tokens: npt.NDArray[np.integer], table: PairTable) -> LabelArray:
    """Return the label of each 20 ms, (2 * tokens,), according to the tokens."""
    labels: LabelArray = table.pairs[tokens % NUM_PAIRS].astype(np.uint8).reshape(-1)
    return labels


def phones_of(tokens: npt.NDArray[np.integer], table: PairTable) -> list[str]:
    """Return the sequence of phones without durations and silence, for comparing pronunciations."""
    labels = labels_of(tokens, table)
    starts = np.flatnonzero(np.diff(labels.astype(np.int64), prepend=-1))
    return [LABELS[label] for label in labels[starts] if label != SILENCE]


def colours_of(f0_hz: FloatArray, *, median_f0_hz: float, style: str) -> IntArray:
    """Return the colours (tokens,) of F0 values (2 * tokens,). Unvoiced tokens get the nearest voiced level."""
    num_tokens = len(f0_hz) // 2
    if style == "whisper":
        return np.full(num_tokens, Colour.WHISPER, np.int32)
    height = _height(f0_hz, median_f0_hz)
    if style == "soft":
        return np.where(height < 1.0, Colour.SOFT_LOW, Colour.SOFT_HIGH).astype(np.int32)
    lowest = Colour.LOUD_LOW if style == "loud" else Colour.MODAL_LOW
    return (lowest + (height >= LOW_BELOW).astype(np.int32) + (height > HIGH_ABOVE)).astype(np.int32)


def _height(f0_hz: FloatArray, median_f0_hz: float) -> npt.NDArray[np.float64]:
    """Return smoothed F0 divided by the median, (tokens,), or 1 if nothing is voiced."""
    voiced = np.flatnonzero(f0_hz > 0)
    if len(voiced) == 0:
        return np.ones(len(f0_hz) // 2)
    positions = np.arange(len(f0_hz))
    after = np.minimum(np.searchsorted(voiced, positions), len(voiced) - 1)
    before = np.maximum(after - 1, 0)
    is_nearer_before = np.abs(positions - voiced[before]) <= np.abs(positions - voiced[after])
    nearest = voiced[np.where(is_nearer_before, before, after)]
    log_height = np.log(f0_hz[nearest].astype(np.float64) / median_f0_hz)
    reach = _SMOOTHED_HALF_FRAMES
    sums = np.cumsum(np.pad(log_height, (reach + 1, reach), mode="edge"))
    smooth = (sums[2 * reach + 1 :] - sums[: -2 * reach - 1]) / (2 * reach + 1)
    heights: npt.NDArray[np.float64] = np.exp(smooth.reshape(-1, 2).mean(axis=1))
    return heights
