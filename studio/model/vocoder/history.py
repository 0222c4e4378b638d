"""Past columns that layers need in the next chunk."""

from __future__ import annotations

import torch
from torch.nn import functional as F


class History:
    """Past columns of all layers of a causal network, for one utterance.

    Layers request their past in the same order in every chunk, which identifies them. With a single chunk, both
    first and last, nothing is stored: that is a whole utterance, which is differentiable.
    """

    def __init__(self) -> None:
        self.is_first = True
        self.is_last = False
        self._tails: list[torch.Tensor] = []
        self._next_layer = 0

    @classmethod
    def of_whole(cls) -> History:
        """Return a history for a whole utterance in one chunk."""
        history = cls()
        history.begin_chunk(is_last=True)
        return history

    def begin_chunk(self, *, is_last: bool) -> None:
        """Start a chunk. Must be called before each run of the network."""
        assert not self.is_last, "nothing follows the last chunk"
        self.is_first = not self._tails
        self.is_last = is_last
        self._next_layer = 0

    def extend(self, columns: torch.Tensor, *, extent: int, stride: int = 1, before: int = 0) -> torch.Tensor:
        """Return ``columns`` (batch, channels, n) preceded by the earlier columns that the layer still needs.

        An output column depends on ``extent`` input columns, and the next one on those ``stride`` later.
        ``before`` zeros precede the utterance.
        """
        if self.is_first:
            joined = F.pad(columns, (before, 0)) if before else columns
            if self.is_last:
                return joined
            self._tails.append(columns)
        else:
            joined = torch.cat((self._tails[self._next_layer], columns), dim=-1)
        consumed = ((joined.shape[-1] - extent) // stride + 1) * stride
        self._tails[self._next_layer] = joined[..., consumed:].clone()
        self._next_layer += 1
        return joined

    def reflect_start(self, columns: torch.Tensor) -> torch.Tensor:
        """Return ``columns``, in the first chunk with reflection padding of one column at the start."""
        return torch.cat((columns[:, :, 1:2], columns), dim=-1) if self.is_first else columns

    def hold_back(self, columns: torch.Tensor, num_ready: int) -> torch.Tensor:
        """Return the first ``num_ready`` of the held and new ``columns`` and hold the rest for the next chunk."""
        if self.is_first:
            if self.is_last:
                return columns[..., :num_ready]
            joined = columns
            self._tails.append(columns)
        else:
            joined = torch.cat((self._tails[self._next_layer], columns), dim=-1)
        self._tails[self._next_layer] = joined[..., num_ready:].clone()
        self._next_layer += 1
        return joined[..., :num_ready]
