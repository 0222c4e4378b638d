"""Samplers for tests: greedy, predetermined, and the official procedure draw by draw."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from studio.model.options import SamplingOptions
from studio.model.speech_lm.torch_lm import NEVER, allowed_scores, is_repeated, nucleus


class OfficialRASampler:
    """The official procedure and its use of random numbers, for comparison with recorded draws."""

    def __init__(self, options: SamplingOptions, seed: int) -> None:
        self._options = options
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, logits: torch.Tensor, history: Sequence[int], *, forbid: slice | None) -> int:
        scores = allowed_scores(logits, forbid)
        tokens, probabilities = nucleus(scores, self._options)
        token = tokens[self._draw(torch.tensor(probabilities, dtype=torch.float32))]
        if is_repeated(token, history, self._options):
            scores[token] = NEVER
            token = self._draw(scores.softmax(dim=0))
        return token

    def _draw(self, weights: torch.Tensor) -> int:
        return int(torch.multinomial(weights, 1, generator=self._generator))


class GreedySampler:
    """Chooses the most likely allowed token."""

    def __call__(
        self,
        logits: torch.Tensor,
        history: Sequence[int],
        *,
        forbid: slice | None,
    ) -> int:
        return int(allowed_scores(logits, forbid).argmax())


class ForcedSampler:
    """Returns predetermined tokens, then ``end_id``. The scores are ignored."""

    def __init__(self, tokens: Sequence[int], end_id: int) -> None:
        self._tokens = tuple(tokens)
        self._end_id = end_id

    def __call__(
        self,
        logits: torch.Tensor,
        history: Sequence[int],
        *,
        forbid: slice | None,
    ) -> int:
        return self._tokens[len(history)] if len(history) < len(self._tokens) else self._end_id
