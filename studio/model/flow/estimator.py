"""Base class of the estimators, and inputs they share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import nn

from studio.model.flow.context import Context

# What depends on the time alone: a few small tensors for each layer that uses them.
Modulation = tuple[tuple[torch.Tensor, ...], ...]


class Conditions(NamedTuple):
    """``mean`` and ``prompt_mel`` (rows, frames, mel_bins), and ``speaker`` (rows, mel_bins) for all frames."""

    mean: torch.Tensor
    prompt_mel: torch.Tensor
    speaker: torch.Tensor


class VelocityEstimator(nn.Module, ABC):
    """Estimates the velocity of each mel frame at a point on the path from noise to speech.

    Decision: ``modulation`` separately computes what depends on the time alone. Reason: the ten times of a
    solver never change, so their modulation is a small table, and its layers, 42 % of CosyVoice3's
    estimator, need not stay in memory (``drop_time_layers``).
    """

    @abstractmethod
    def modulation(self, time: torch.Tensor) -> Modulation:
        """Return what all layers derive from ``time`` (rows,), in 0..1."""

    @abstractmethod
    def drop_time_layers(self) -> None:
        """Free the layers of ``modulation``, which cannot be called afterwards."""

    @abstractmethod
    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        """Return the velocity (rows, frames, mel_bins) of ``x`` of the same shape."""

    def forward(self, x: torch.Tensor, time: torch.Tensor, conditions: Conditions, context: Context) -> torch.Tensor:
        return self.velocity(x, conditions, self.modulation(time), context)


def timestep_embedding(time: torch.Tensor, size: int) -> torch.Tensor:
    """Return ``size / 2`` sines, then as many cosines, of 1000 times ``time``: (rows, size)."""
    half = size // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float32, device=time.device) * -(math.log(10000.0) / (half - 1)))
    angles = 1000.0 * time[:, None] * rates.to(time.dtype)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
