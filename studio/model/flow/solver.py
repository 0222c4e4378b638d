"""From noise to mel spectrogram in a few Euler steps with classifier-free guidance (specification F2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

# The official solver holds noise for 300 s, prompt included, and nothing longer.
MAX_FRAMES = 15_000


@dataclass(frozen=True, slots=True)
class EulerStep:
    time: float
    size: float


@lru_cache
def euler_steps(num_steps: int) -> tuple[EulerStep, ...]:
    """The cosine grid, slow where speech takes shape out of noise.

    In float32 and with the time summed up, as the weights were trained: the time goes through
    sinusoids of a thousand radians, where the rounding of a grid in float64 would show.
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
    """(frames, mel_bins) float32: the one noise every utterance starts from, by absolute frame.

    The values are those the official constructor draws; a draw of another length is not a prefix of them.
    """
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, mel_bins, MAX_FRAMES, generator=generator)[0].t().contiguous()


def solve(
    noise: torch.Tensor,
    steps: Sequence[EulerStep],
    guidance_scale: float,
    velocity: Callable[[int, torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """The mel (frames, mel_bins) that ``noise`` of that shape flows to.

    ``velocity`` gets the step's index and (2, frames, mel_bins): row 0 is told the conditions, row 1 nothing.
    """
    x = noise
    for index, step in enumerate(steps):
        told, untold = velocity(index, x.expand(2, -1, -1)).unbind(0)
        x = x + step.size * ((1 + guidance_scale) * told - guidance_scale * untold)
    return x
