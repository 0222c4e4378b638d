"""Repetition-aware sampling where the scores are: the law and the random numbers of ``RepetitionAwareSampler``.

One number between 0 and 1 is drawn for each token, beforehand and on the processor, so a seed gives the same
tokens here and there, but where a rounding decides between two.
"""

from __future__ import annotations

import torch

from studio.model.config import SamplingOptions

_NEVER = float("-inf")


class DeviceDraw:
    """The state of one utterance's sampling, in memory that never moves: nothing here waits for the card.

    ``points`` (tokens,) float64 in 0..1, one for each token that may be drawn. Ids from ``first_forbidden`` on are
    not drawn before ``min_tokens`` have been.
    """

    def __init__(self, options: SamplingOptions, num_rows: int, capacity: int, device: torch.device) -> None:
        self._options = options
        self._ids = torch.arange(num_rows, device=device)
        self._points = torch.zeros(capacity, dtype=torch.float64, device=device)
        self._recent = torch.full((options.window_tokens,), -1, dtype=torch.long, device=device)
        self._num_drawn = torch.zeros(1, dtype=torch.long, device=device)
        self._min_tokens = torch.zeros(1, dtype=torch.long, device=device)
        self._first_forbidden = torch.zeros(1, dtype=torch.long, device=device)

    def begin(self, points: torch.Tensor, *, min_tokens: int, first_forbidden: int) -> None:
        """For another utterance."""
        self._points[: len(points)] = points
        self._recent.fill_(-1)
        self._num_drawn.zero_()
        self._min_tokens.fill_(min_tokens)
        self._first_forbidden.fill_(first_forbidden)

    @torch.inference_mode()
    def draw(self, logits: torch.Tensor, token: torch.Tensor) -> None:
        """Writes the next token to ``token`` (1,), and remembers it."""
        options = self._options
        is_forbidden = (self._ids >= self._first_forbidden) & (self._num_drawn < self._min_tokens)
        scores = logits.float().masked_fill(is_forbidden, _NEVER)
        point = self._points.index_select(0, self._num_drawn)
        best = scores.softmax(dim=0).topk(min(options.top_k, len(scores)))
        shares = best.values.double()
        before = shares.cumsum(0) - shares
        shares = torch.where(before < options.top_p, shares, 0.0)  # up to and including the one that crosses
        ends = shares.cumsum(0)
        place = point * ends[-1:]
        last = (shares > 0).sum() - 1
        index = torch.minimum(torch.searchsorted(ends, place, right=True), last)
        inside = ((place - (ends - shares).index_select(0, index)) / shares.index_select(0, index)).clamp(0.0, 1.0)
        first = best.indices.index_select(0, index)

        others = scores.masked_fill(self._ids == first, _NEVER).softmax(dim=0, dtype=torch.float64).cumsum(0)
        second = torch.searchsorted(others, inside * others[-1:], right=True).clamp(max=len(others) - 1)
        is_repeated = (self._recent == first).sum() >= options.window_tokens * options.repetition_ratio
        token.copy_(torch.where(is_repeated, second, first))
        self._recent.index_copy_(0, self._num_drawn % options.window_tokens, token)
        self._num_drawn += 1
