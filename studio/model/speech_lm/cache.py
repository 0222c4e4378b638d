"""Key/value cache of the speech language model."""

from __future__ import annotations

import torch

from studio.errors import SequenceTooLong
from studio.model.config import QwenConfig


class KVCache:
    """Keys and values of one utterance: allocated for ``capacity`` positions, ``length`` of them filled.

    ``layers``: one tensor per layer, (2 x kv_heads, capacity, head_size) float32, keys before values.
    """

    def __init__(self, config: QwenConfig, capacity: int, device: torch.device) -> None:
        self._config = config
        self.length = 0
        self.layers: tuple[torch.Tensor, ...] = ()
        check_length(capacity, config)
        self._allocate(capacity, device)

    @property
    def capacity(self) -> int:
        return self.layers[0].shape[1]

    def reserve(self, length: int) -> None:
        """Grow to at least ``length`` positions, which only text that arrives in pieces requires."""
        if length <= self.capacity:
            return
        check_length(length, self._config)
        filled = self.layers
        self._allocate(min(max(length, 2 * self.capacity), self._config.max_positions), filled[0].device)
        for new, old in zip(self.layers, filled, strict=True):
            new[:, : self.length] = old[:, : self.length]

    def filled(self) -> tuple[torch.Tensor, ...]:
        """Return a copy of the filled part, for ``start_from`` of another cache."""
        return tuple(layer[:, : self.length].clone() for layer in self.layers)

    def start_from(self, filled: tuple[torch.Tensor, ...]) -> None:
        """Initialise this empty cache with the result of ``filled``."""
        assert self.length == 0
        self.length = filled[0].shape[1]
        for layer, states in zip(self.layers, filled, strict=True):
            layer[:, : self.length] = states

    def _allocate(self, capacity: int, device: torch.device) -> None:
        shape = (self._config.num_layers, 2 * self._config.num_kv_heads, capacity, self._config.head_size)
        self.layers = tuple(torch.empty(shape, dtype=torch.float32, device=device))


def check_length(num_tokens: int, config: QwenConfig) -> None:
    """Raise ``SequenceTooLong`` if the model has fewer than ``num_tokens`` positions."""
    if num_tokens > config.max_positions:
        raise SequenceTooLong(
            "Prompt, text and speech together are {tokens} tokens; the limit of the model is {most}.",
            remedy="Use shorter sentences or a shorter reference clip.",
            tokens=num_tokens,
            most=config.max_positions,
        )
