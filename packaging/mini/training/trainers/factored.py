"""Factored tables of speech tokens: the row of a token is the sum of those of its labels, its pair and its pitch.

Few of the tokens are frequent, but all of their parts are. For the model folder, a table is expanded to the official
tensor.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from training.corpus.phones import LABELS
from training.corpus.tokens import NUM_TOKENS, TokenTable


class FactoredTable(nn.Module):
    """Table with ``size`` numbers for each pair of sounds and each pitch, learned as sums of parts."""

    first_of_pair: torch.Tensor
    second_of_pair: torch.Tensor

    def __init__(self, table: TokenTable, size: int, deviation: float = 0.02) -> None:
        super().__init__()

        def part(num_rows: int, share: float) -> nn.Parameter:
            return nn.Parameter(torch.empty(num_rows, size).normal_(std=deviation * share))

        self.first, self.second = part(len(LABELS), 1.0), part(len(LABELS), 1.0)
        # Only the remainder of a pair, beyond the sum of its sounds, starts at zero.
        self.pair = part(table.scheme.sounds, 0.1)
        self.pitch = part(table.scheme.pitches, 1.0)
        self.register_buffer("first_of_pair", torch.from_numpy(table.pairs[:, 0].copy()), persistent=False)
        self.register_buffer("second_of_pair", torch.from_numpy(table.pairs[:, 1].copy()), persistent=False)

    def pairs(self) -> torch.Tensor:
        """Return the pair part of the table (sounds, size)."""
        return F.embedding(self.first_of_pair, self.first) + F.embedding(self.second_of_pair, self.second) + self.pair

    def rows(self, filler: torch.Tensor | None = None) -> torch.Tensor:
        """Return the official table, (6561, size). Rows that no token uses are ``filler``, or zero."""
        used = (self.pitch[:, None] + self.pairs()[None]).flatten(0, 1)
        rows = used.new_zeros(NUM_TOKENS, used.shape[1])
        if filler is not None:
            rows += filler
        rows[: len(used)] = used
        return rows
