"""What the solver needs of an estimator, whichever network it is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import nn

from studio.model.flow.context import Context

# What a network derives from the time alone: for each layer that wants it, a few small tensors.
Modulation = tuple[tuple[torch.Tensor, ...], ...]


class Conditions(NamedTuple):
    """``mean`` and ``prompt_mel`` (rows, frames, mel_bins); ``speaker`` (rows, mel_bins), the same for all frames."""

    mean: torch.Tensor
    prompt_mel: torch.Tensor
    speaker: torch.Tensor


class VelocityEstimator(nn.Module, ABC):
    """The velocity of each mel frame at a point of the path from noise to speech.

    Decided: what depends on the time alone is computed apart, by ``modulation``. Because the ten times of
    a solver never change: their modulation is a small table and the layers that make it, 42 % of
    CosyVoice3's estimator, need not stay in memory (``drop_time_layers``).
    """

    @abstractmethod
    def modulation(self, time: torch.Tensor) -> Modulation:
        """The part of all layers that ``time`` (rows,) in 0..1 decides."""

    @abstractmethod
    def drop_time_layers(self) -> None:
        """Gives up the layers behind ``modulation``, which cannot be called any more."""

    @abstractmethod
    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        """(rows, frames, mel_bins) for ``x`` of that shape."""

    def forward(self, x: torch.Tensor, time: torch.Tensor, conditions: Conditions, context: Context) -> torch.Tensor:
        return self.velocity(x, conditions, self.modulation(time), context)


def timestep_embedding(time: torch.Tensor, size: int) -> torch.Tensor:
    """(rows, size): ``size / 2`` sines, then as many cosines, of a thousand times ``time``."""
    half = size // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float32, device=time.device) * -(math.log(10000.0) / (half - 1)))
    angles = 1000.0 * time[:, None] * rates.to(time.dtype)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
