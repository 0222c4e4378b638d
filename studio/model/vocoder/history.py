"""What a layer that looks back still needs of the columns before a chunk."""

from __future__ import annotations

import torch
from torch.nn import functional as F


class History:
    """The memory of every layer that looks back, for one utterance on its way through a causal network.

    Layers ask for their past in the same order in every chunk, so each finds its own. A history that
    sees a single chunk, both first and last, remembers nothing: that is a whole utterance, and it can
    be differentiated.
    """

    def __init__(self) -> None:
        self.is_first = True
        self.is_last = False
        self._tails: list[torch.Tensor] = []
        self._next_layer = 0

    @classmethod
    def of_whole(cls) -> History:
        """For an utterance that comes in one piece."""
        history = cls()
        history.begin_chunk(is_last=True)
        return history

    def begin_chunk(self, *, is_last: bool) -> None:
        """To be called before each chunk passes the network."""
        assert not self.is_last, "nothing follows the last chunk"
        self.is_first = not self._tails
        self.is_last = is_last
        self._next_layer = 0

    def extend(self, columns: torch.Tensor, *, extent: int, stride: int = 1, before: int = 0) -> torch.Tensor:
        """``columns`` (batch, channels, n) with those from earlier chunks that its layer still needs in front.

        The layer's output column needs ``extent`` input columns and the next output starts ``stride``
        later. ``before`` zeros precede the utterance.
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
        """``columns`` with one more in front where the utterance begins: the second, as in a mirror."""
        return torch.cat((columns[:, :, 1:2], columns), dim=-1) if self.is_first else columns

    def hold_back(self, columns: torch.Tensor, num_ready: int) -> torch.Tensor:
        """The first ``num_ready`` of the held and the new ``columns``; the rest waits for the next chunk."""
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
