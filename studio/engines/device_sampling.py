"""Repetition-aware sampling of several rows at once on a GPU, with the rules of ``RepetitionAwareSampler``.

One number between 0 and 1 per token is drawn in advance on the CPU, so a seed gives the same tokens on both,
except where rounding decides. Nothing here synchronises with the GPU.
"""

from __future__ import annotations

import torch

from studio.model.options import SamplingOptions
from studio.model.speech_lm.torch_lm import NEVER


@torch.inference_mode()
def draw_tokens(
    scores: torch.Tensor, points: torch.Tensor, recent: torch.Tensor, options: SamplingOptions
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the next token of each row (rows,), and whether its scores are finite (rows,).

    ``scores`` (rows, ids) float32, in which forbidden ids are masked; ``points`` (rows,) float64 are the random numbers;
    ``recent`` (rows, window) are the row's last tokens in any order, padded with -1.
    """
    best = scores.softmax(dim=1).topk(min(options.top_k, scores.shape[1]))
    is_number = best.values[:, 0] > 0.0
    shares = best.values.double()
    before = shares.cumsum(1) - shares
    shares = torch.where(before < options.top_p, shares, 0.0)  # up to and including the token that crosses top_p
    ends = shares.cumsum(1)
    position = points[:, None] * ends[:, -1:]
    last = (shares > 0).sum(dim=1, keepdim=True) - 1
    index = torch.minimum(torch.searchsorted(ends, position, right=True), last).clamp(min=0)
    inside = ((position - (ends - shares).gather(1, index)) / shares.gather(1, index)).clamp(0.0, 1.0)
    first = best.indices.gather(1, index)

    # Only the sums are float64, in which many GPUs are 64 times slower.
    others = scores.scatter(1, first, NEVER).softmax(dim=1).cumsum(1, dtype=torch.float64)
    second = torch.searchsorted(others, inside * others[:, -1:], right=True).clamp(max=others.shape[1] - 1)
    num_repeats = (recent == first).sum(dim=1, keepdim=True)
    is_repeated = num_repeats >= options.window_tokens * options.repetition_ratio
    return torch.where(is_repeated, second, first)[:, 0], is_number
