"""Speech tokens of the model that is bundled now: the pair of phones within 40 ms, and the colour of the voice.

``token = pair + 729 * colour``. A pair is one of the 729 in ``pairs.json``, which include each phone with itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.corpus.utterance import CorpusFailed, IntArray, LabelArray
from training.synthesizers.phones import LABELS, NUMBER_OF_LABEL, SILENCE

NUM_PAIRS = 729
PAIRS_FILE = Path(__file__).with_name("pairs.json")


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


@lru_cache(maxsize=1)
def shipped_pairs() -> PairTable:
    """Return the table of ``pairs.json``."""
    content = json.loads(PAIRS_FILE.read_text(encoding="utf-8"))
    if tuple(content["labels"]) != LABELS:
        raise CorpusFailed(f"{PAIRS_FILE.name} does not match the phones in phones.py.")
    return PairTable.of_pairs(
        np.array([[NUMBER_OF_LABEL[label] for label in pair.split()] for pair in content["pairs"]])
    )


def labels_of(tokens: npt.NDArray[np.integer], table: PairTable) -> LabelArray:
    """Return the label of each 20 ms, (2 * tokens,), according to the tokens."""
    labels: LabelArray = table.pairs[tokens % NUM_PAIRS].astype(np.uint8).reshape(-1)
    return labels
