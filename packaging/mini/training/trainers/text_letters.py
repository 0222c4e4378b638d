"""Factored text table: the row of a token is the sum of an individual row and one for each letter and position.

Tokens of two or three phones are rare, but their letters are frequent, so rare tokens are learned as well.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from studio.text.tokenizer import TextTokenizer

NUM_PLACES = 6  # the longest pieces have five bytes; tags in brackets count as one phone
_MAX_LETTERS = 256
_NONE = 0


class TextLetters(nn.Module):
    """``forward()`` returns (text rows, size), to be added to the individual rows."""

    letters: torch.Tensor

    def __init__(self, num_rows: int, size: int, deviation: float = 0.02) -> None:
        super().__init__()
        self.of_place = nn.Parameter(torch.empty(NUM_PLACES * _MAX_LETTERS, size).normal_(std=deviation))
        self.register_buffer("letters", torch.zeros(num_rows, NUM_PLACES, dtype=torch.long))

    def spell(self, tokenizer: TextTokenizer) -> None:
        """Store the spelling of the ordinary tokens of ``tokenizer``; special tokens have only individual rows."""
        special = frozenset(tokenizer.special_ids.values())
        pieces = [
            "" if token in special else tokenizer.decode((token,))[:NUM_PLACES] for token in range(len(self.letters))
        ]
        alphabet = {
            letter: number for number, letter in enumerate(sorted({each for piece in pieces for each in piece}))
        }
        self.letters.zero_()
        for row, piece in enumerate(pieces):
            for place, letter in enumerate(piece):
                number = 1 + min(alphabet[letter], _MAX_LETTERS - 2)
                self.letters[row, place] = place * _MAX_LETTERS + number

    def forward(self) -> torch.Tensor:
        rows = F.embedding(self.letters, self.of_place) * (self.letters != _NONE)[..., None]
        summed: torch.Tensor = rows.sum(dim=1)
        return summed
