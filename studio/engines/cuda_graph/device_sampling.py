"""Repetition-aware sampling on the GPU, with the rules and random numbers of ``RepetitionAwareSampler``.

One number between 0 and 1 per token is drawn in advance on the processor, so a seed gives the same tokens on both,
except where rounding decides.
"""

from __future__ import annotations

import torch

from studio.model.config import SamplingOptions

_NEVER = float("-inf")
# The token for scores that are not finite. It must not index a table: that would invalidate the CUDA context.
NOT_A_NUMBER = -1


class GpuSampler:
    """Sampling state of several lines, one per row, in fixed memory; does not synchronise with the GPU.

    ``points`` (tokens,) float64 in 0..1, one per token. Ids from ``first_forbidden`` on are excluded before
    ``min_tokens`` tokens.
    """

    def __init__(
        self, options: SamplingOptions, num_ids: int, capacity: int, device: torch.device, *, num_rows: int = 1
    ) -> None:
        self._options = options
        self._ids = torch.arange(num_ids, device=device)
        self._points = torch.zeros(num_rows, capacity, dtype=torch.float64, device=device)
        self._recent = torch.full((num_rows, options.window_tokens), -1, dtype=torch.long, device=device)
        self._num_drawn = torch.zeros(num_rows, 1, dtype=torch.long, device=device)
        self._min_tokens = torch.zeros(num_rows, 1, dtype=torch.long, device=device)
        self._first_forbidden = torch.full((num_rows, 1), num_ids, dtype=torch.long, device=device)

    @property
    def state(self) -> tuple[torch.Tensor, ...]:
        """The tensors that sampling changes."""
        return self._recent, self._num_drawn

    @torch.inference_mode()
    def begin(self, points: torch.Tensor, *, min_tokens: int, first_forbidden: int, row: int = 0) -> None:
        """Set up a row for a new line."""
        self._points[row, : len(points)] = points.to(self._points.device)
        self._recent[row].fill_(-1)
        self._num_drawn[row].zero_()
        self._min_tokens[row].fill_(min_tokens)
        self._first_forbidden[row].fill_(first_forbidden)

    @torch.inference_mode()
    def copy_rows(self, other: GpuSampler) -> None:
        """Copy the rows of ``other``, which has fewer, into the first rows."""
        for name in ("_points", "_recent", "_num_drawn", "_min_tokens", "_first_forbidden"):
            theirs = getattr(other, name)
            getattr(self, name)[: len(theirs)] = theirs

    @torch.inference_mode()
    def draw(self, logits: torch.Tensor, token: torch.Tensor, *, first_row: int = 0) -> None:
        """Sample the next token of each row of ``logits`` (rows, ids) into ``token`` (rows,), and record it.

        Writes ``NOT_A_NUMBER`` for rows whose scores are not finite.
        """
        options, rows = self._options, slice(first_row, first_row + len(logits))
        recent, num_drawn = self._recent[rows], self._num_drawn[rows]
        is_forbidden = (self._ids >= self._first_forbidden[rows]) & (num_drawn < self._min_tokens[rows])
        scores = logits.float().masked_fill(is_forbidden, _NEVER)
        points = self._points[rows]
        # Rows of finished lines are sampled as well, past their last point.
        point = points.gather(1, num_drawn.clamp(max=points.shape[1] - 1))
        best = scores.softmax(dim=1).topk(min(options.top_k, scores.shape[1]))
        is_number = best.values[:, :1] > 0.0
        shares = best.values.double()
        before = shares.cumsum(1) - shares
        shares = torch.where(before < options.top_p, shares, 0.0)  # up to and including the token that crosses top_p
        ends = shares.cumsum(1)
        position = point * ends[:, -1:]
        last = (shares > 0).sum(dim=1, keepdim=True) - 1
        index = torch.minimum(torch.searchsorted(ends, position, right=True), last).clamp(min=0)
        inside = ((position - (ends - shares).gather(1, index)) / shares.gather(1, index)).clamp(0.0, 1.0)
        first = best.indices.gather(1, index)

        others = scores.masked_fill(self._ids == first, _NEVER).softmax(dim=1, dtype=torch.float64).cumsum(1)
        second = torch.searchsorted(others, inside * others[:, -1:], right=True).clamp(max=others.shape[1] - 1)
        num_repeats = (recent == first).sum(dim=1, keepdim=True)
        drawn = torch.where(num_repeats >= options.window_tokens * options.repetition_ratio, second, first)
        drawn = torch.where(is_number, drawn, NOT_A_NUMBER)
        token.copy_(drawn[:, 0])
        recent.scatter_(1, num_drawn % options.window_tokens, drawn)
        num_drawn += 1
