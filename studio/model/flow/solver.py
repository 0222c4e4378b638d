"""Euler solver with classifier-free guidance, from noise to a mel spectrogram (specification F2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

# The official solver has noise for 300 s, prompt included.
MAX_SECONDS = 300
MAX_FRAMES = 15_000


@dataclass(frozen=True, slots=True)
class EulerStep:
    time: float
    size: float


@lru_cache
def euler_steps(num_steps: int) -> tuple[EulerStep, ...]:
    """Return the steps of the cosine grid, which are smallest at the start.

    Times are accumulated in float32 as in training: they enter sinusoids of up to a thousand radians, where
    the difference to a float64 grid would matter.
    """
    grid = 1 - torch.cos(torch.linspace(0, 1, num_steps + 1, dtype=torch.float32) * 0.5 * math.pi)
    time, steps = grid[0], []
    for following in grid[1:]:
        size = following - time
        steps.append(EulerStep(float(time), float(size)))
        time = time + size
    return tuple(steps)


@lru_cache
def noise_table(mel_bins: int) -> torch.Tensor:
    """Return the initial noise of every utterance (frames, mel_bins) float32, by absolute frame.

    The official constructor draws these values. A draw of a different length begins with other values.
    """
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, mel_bins, MAX_FRAMES, generator=generator)[0].t().contiguous()


def solve(
    noise: torch.Tensor,
    steps: Sequence[EulerStep],
    guidance_scale: float,
    velocity: Callable[[int, torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """Integrate ``noise`` (frames, mel_bins) to a mel of the same shape.

    ``velocity`` is called with the step index and (2, frames, mel_bins): a conditional and an unconditional row.
    """
    x = noise
    for index, step in enumerate(steps):
        conditional, unconditional = velocity(index, x.expand(2, -1, -1)).unbind(0)
        x = x + step.size * ((1 + guidance_scale) * conditional - guidance_scale * unconditional)
    return x
