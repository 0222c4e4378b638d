"""Repetition-aware sampling of speech tokens (specification E1).

A sampler belongs to one utterance and owns its random generator, so results depend on the seed alone.
Sampling runs on the CPU, where the token is needed anyway; its logits are 27 kB.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import torch

from studio.errors import ModelOverflow
from studio.model.options import SamplingOptions

NEVER = float("-inf")


class RepetitionAwareSampler:
    """Sampler with the distribution of the official one, but a single random number per token.

    The first draw is from the nucleus. If its token occurred recently, a second draw is from all other
    tokens. One random number is enough for both, since its position within the share of the first token is again
    uniformly distributed.
    """

    def __init__(self, options: SamplingOptions, seed: int) -> None:
        self.options = options
        self.num_second_draws = 0
        self._generator = torch.Generator().manual_seed(seed)

    def draw_points(self, count: int) -> torch.Tensor:
        """Return the random numbers (count,) float64 of the next tokens, for sampling on another device."""
        return torch.rand(count, generator=self._generator, dtype=torch.float64)

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        scores = allowed_scores(logits, forbid)
        tokens, probabilities = nucleus(scores, self.options)
        point = torch.rand((), generator=self._generator, dtype=torch.float64).item() * sum(probabilities)
        index, inside = _locate(point, probabilities)
        token = tokens[index]
        if not is_repeated(token, history, self.options):
            return token
        self.num_second_draws += 1
        scores[token] = NEVER
        shares = scores.softmax(dim=0, dtype=torch.float64).cumsum(dim=0)
        # right=True skips tokens of probability zero: the repeated token and forbidden ones.
        return int(torch.searchsorted(shares, inside * shares[-1], right=True).clamp_(max=len(shares) - 1))


def allowed_scores(logits: torch.Tensor, forbid: slice | None) -> torch.Tensor:
    scores = logits.to("cpu", torch.float32, copy=True)
    if forbid is not None:
        scores[forbid] = NEVER
    return scores


def nucleus(scores: torch.Tensor, options: SamplingOptions) -> tuple[list[int], list[float]]:
    """Return the most likely tokens, best first, including the one that crosses ``top_p``, and their probabilities."""
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
    """Return the error for logits that are NaN."""
    return ModelOverflow(
        "The speech language model computed something that is not a number.",
        remedy="Choose float32; if that fails too, download the model again.",
    )


def _locate(point: float, probabilities: Sequence[float]) -> tuple[int, float]:
    """Return the index of the cumulative share that contains ``point``, and the position within it, 0..1."""
    for index, share in enumerate(probabilities):
        if point < share:
            return index, point / share
        point -= share
    return len(probabilities) - 1, 0.0  # the sum is below the point by a rounding error


def is_repeated(token: int, history: Sequence[int], options: SamplingOptions) -> bool:
    recent = history[max(0, len(history) - options.window_tokens) :]
    return recent.count(token) >= options.window_tokens * options.repetition_ratio


_MAX_RUN = 5


def kept_by_silence_filter(tokens: Sequence[int], silent_tokens: Collection[int]) -> list[int]:
    """Return the indices of the ``tokens`` that ``filter_silent_tokens`` keeps."""
    kept = []
    run = 0
    for index, token in enumerate(tokens):
        run = run + 1 if token in silent_tokens else 0
        if run <= _MAX_RUN:
            kept.append(index)
    return kept


def filter_silent_tokens(
    tokens: Iterable[int], silent_tokens: Collection[int], *, limit: int = _MAX_RUN
) -> Iterator[int]:
    """Yield ``tokens`` with each run of silent or breath tokens shortened to ``limit``.

    The removed tokens still count in the history and the length limits of the speech language model.
    """
    run = 0
    for token in tokens:
        run = run + 1 if token in silent_tokens else 0
        if run <= limit:
            yield token
