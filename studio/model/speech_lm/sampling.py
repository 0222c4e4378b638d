"""Choosing a speech token: repetition-aware sampling (specification E1) and its simpler relatives.

A sampler lasts as long as an utterance and owns its random generator, so a seed says everything. All of
them work on the processor: a token has to arrive there anyway, and its scores are 27 kilobytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from studio.errors import ModelOverflow
from studio.model.config import SamplingOptions

NEVER = float("-inf")


class RepetitionAwareSampler:
    """What the official program draws in up to two steps, in one.

    The first draw is from the nucleus; where its token occurred lately, a second one is made from all
    tokens but that. One number between 0 and 1 serves both: where it falls inside the first token's
    share is again evenly distributed. The law is that of the two draws, the random numbers are not.
    """

    def __init__(self, options: SamplingOptions, seed: int) -> None:
        self._options = options
        self._generator = torch.Generator().manual_seed(seed)

    @property
    def options(self) -> SamplingOptions:
        return self._options

    def draw_points(self, count: int) -> torch.Tensor:
        """(count,) float64: what the next tokens would be drawn with, for whoever draws them elsewhere."""
        return torch.stack([torch.rand((), generator=self._generator, dtype=torch.float64) for _ in range(count)])

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        scores = allowed_scores(logits, forbid)
        tokens, probabilities = nucleus(scores, self._options)
        point = torch.rand((), generator=self._generator, dtype=torch.float64).item() * sum(probabilities)
        index, inside = _locate(point, probabilities)
        token = tokens[index]
        if not is_repeated(token, history, self._options):
            return token
        scores[token] = NEVER
        shares = scores.softmax(dim=0, dtype=torch.float64).cumsum(dim=0)
        # "right": a share of nothing (the token itself, forbidden ones) is stepped over.
        return int(torch.searchsorted(shares, inside * shares[-1], right=True).clamp_(max=len(shares) - 1))


def allowed_scores(logits: torch.Tensor, forbid: slice | None) -> torch.Tensor:
    scores = logits.to("cpu", torch.float32, copy=True)
    if forbid is not None:
        scores[forbid] = NEVER
    return scores


def nucleus(scores: torch.Tensor, options: SamplingOptions) -> tuple[list[int], list[float]]:
    """The likeliest tokens, best first, up to and including the one that crosses ``top_p``, and their probabilities."""
    best = scores.softmax(dim=0).topk(min(options.top_k, len(scores)))
    probabilities: list[float] = best.values.tolist()
    if not probabilities[0] > 0.0:
        raise nan_error()
    count, total = 0, 0.0
    while count < len(probabilities) and total < options.top_p:
        total += probabilities[count]
        count += 1
    return best.indices[:count].tolist(), probabilities[:count]


def nan_error() -> ModelOverflow:
    """Of scores that are none."""
    return ModelOverflow(
        "The speech language model computed something that is not a number.",
        remedy="Choose float32; if that fails too, download the model again.",
    )


def _locate(point: float, probabilities: Sequence[float]) -> tuple[int, float]:
    """Whose share ``point`` falls into when shares lie side by side, and how far inside, 0..1."""
    for index, share in enumerate(probabilities):
        if point < share:
            return index, point / share
        point -= share
    return len(probabilities) - 1, 0.0  # rounding: the sum is a hair short of the point


def is_repeated(token: int, history: Sequence[int], options: SamplingOptions) -> bool:
    recent = history[max(0, len(history) - options.window_tokens) :]
    return recent.count(token) >= options.window_tokens * options.repetition_ratio
