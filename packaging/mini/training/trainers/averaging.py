"""Exponential moving average of a network's weights. Its effect is similar to a smaller learning rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import nn


class AveragedWeights:
    """Average of the weights of ``network``. ``in_place_of`` uses it temporarily."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self._network = network
        self._decay = decay
        self.num_updates = 0
        self.tensors = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
        # The network changes its tensors in place, so they are looked up once.
        followed = {name: tensor.detach() for name, tensor in network.state_dict().items()}
        real = [name for name, tensor in followed.items() if tensor.is_floating_point()]
        self._averages, self._currents = [self.tensors[name] for name in real], [followed[name] for name in real]
        self._counters = [(self.tensors[name], followed[name]) for name in followed if name not in set(real)]

    @torch.no_grad()
    def update(self) -> None:
        self.num_updates += 1
        # A new average has a shorter memory, because the first weights are random.
        decay = min(self._decay, (1 + self.num_updates) / (10 + self.num_updates))
        torch._foreach_lerp_(self._averages, self._currents, 1.0 - decay)
        for average, current in self._counters:
            average.copy_(current)

    @torch.no_grad()
    def load(self, tensors: Mapping[str, torch.Tensor], num_updates: int) -> None:
        for name, tensor in self.tensors.items():
            tensor.copy_(tensors[name])
        self.num_updates = num_updates

    @contextmanager
    def in_place_of(self) -> Iterator[None]:
        """Use the averaged weights in the network, and restore its weights at the end."""
        current = {name: tensor.detach().clone() for name, tensor in self._network.state_dict().items()}
        self._network.load_state_dict(self.tensors)
        try:
            yield
        finally:
            self._network.load_state_dict(current)
