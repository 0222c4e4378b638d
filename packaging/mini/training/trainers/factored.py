"""Factored tables of speech tokens: the row of a token is the sum of those of its phones, its pair and its colour.

Few of the 6561 tokens are frequent, but all of their parts are. For the model folder, a table is expanded to the
official tensor. The tensor can be split again exactly to continue the training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

from training.corpus.phones import LABELS
from training.corpus.tokens import NUM_COLOURS, NUM_PAIRS, NUM_TOKENS, shipped_pairs

__all__ = ["NUM_COLOURS", "NUM_PAIRS", "NUM_TOKENS", "FactoredTable", "PairLabels", "pair_labels"]


@dataclass(frozen=True, slots=True)
class PairLabels:
    """Phone labels at the start and end of each pair class: ``first`` and ``second``, (729,) int64."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    num_labels: int


def pair_labels() -> PairLabels:
    """Return the labels of the common pair table."""
    pairs = shipped_pairs().pairs
    return PairLabels(first=pairs[:, 0].copy(), second=pairs[:, 1].copy(), num_labels=len(LABELS))


class FactoredTable(nn.Module):
    """Table with ``size`` numbers for each pair and each colour, learned as sums of parts."""

    first_of_pair: torch.Tensor
    second_of_pair: torch.Tensor

    def __init__(self, labels: PairLabels, size: int, deviation: float = 0.02) -> None:
        super().__init__()

        def part(num_rows: int, share: float) -> nn.Parameter:
            return nn.Parameter(torch.empty(num_rows, size).normal_(std=deviation * share))

        self.first, self.second = part(labels.num_labels, 1.0), part(labels.num_labels, 1.0)
        # Only the remainder of a pair, beyond the sum of its phones, starts at zero.
        self.pair = part(NUM_PAIRS, 0.1)
        self.colour = part(NUM_COLOURS, 1.0)
        self.register_buffer("first_of_pair", torch.from_numpy(labels.first), persistent=False)
        self.register_buffer("second_of_pair", torch.from_numpy(labels.second), persistent=False)

    def pairs(self) -> torch.Tensor:
        """Return the pair part of the table (729, size)."""
        return F.embedding(self.first_of_pair, self.first) + F.embedding(self.second_of_pair, self.second) + self.pair

    def rows(self) -> torch.Tensor:
        """Return the official table, (6561, size)."""
        return (self.colour[:, None] + self.pairs()[None]).flatten(0, 1)

    @torch.no_grad()
    def take_apart(self, rows: torch.Tensor) -> None:
        """Load an official table (6561, size), which is a sum of pairs and colours."""
        by_colour = rows.float().view(NUM_COLOURS, NUM_PAIRS, -1)
        pairs, colours = by_colour.mean(dim=0), by_colour.mean(dim=1)
        self.first.zero_()
        self.second.zero_()
        self.pair.copy_(pairs - pairs.mean(dim=0))
        self.colour.copy_(colours)
