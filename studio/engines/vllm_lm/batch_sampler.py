"""Repetition-aware sampling for a batch of lines, with the rules and random numbers of ``RepetitionAwareSampler``.

Decision: a token depends only on the scores, the line's plan and its tokens so far. Reason: vLLM may remove a line from
its batch, recompute it and put it back in another row, so there is no other state to keep in sync.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from studio.model.config import SamplingOptions

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """How the tokens of one line are sampled; see ``messages.Generate``."""

    line: int
    min_tokens: int
    sampling: SamplingOptions
    points: npt.NDArray[np.float64] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class DrawFacts:
    """Inputs of each row: ``points`` (rows,) float64 in 0..1; ``recent`` (rows, window) tokens, padded with -1;
    ``must_continue`` (rows,) bool: the line must not end.
    """

    points: torch.Tensor
    recent: torch.Tensor
    must_continue: torch.Tensor


@torch.inference_mode()
def draw_tokens(
    scores: torch.Tensor, facts: DrawFacts, options: SamplingOptions, first_end: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the next token of each row (rows,), and whether its scores (rows, ids) are finite (rows,).

    Any id >= ``first_end`` ends the line. Does not synchronise with the GPU.
    """
    num_ids = scores.shape[1]
    ids = torch.arange(num_ids, device=scores.device)
    scores = scores.float().masked_fill(facts.must_continue[:, None] & (ids >= first_end), _NEVER)
    best = scores.softmax(dim=1).topk(min(options.top_k, num_ids), dim=1)
    is_number = best.values[:, 0] > 0.0
    shares = best.values.double()
    before = shares.cumsum(1) - shares
    shares = torch.where(before < options.top_p, shares, 0.0)  # up to and including the token that crosses top_p
    ends = shares.cumsum(1)
    position = facts.points[:, None] * ends[:, -1:]
    last = (shares > 0).sum(1, keepdim=True) - 1
    index = torch.minimum(torch.searchsorted(ends, position, right=True), last).clamp(min=0)
    inside = ((position - (ends - shares).gather(1, index)) / shares.gather(1, index)).clamp(0.0, 1.0)
    first = best.indices.gather(1, index)

    others = scores.masked_fill(ids == first, _NEVER).softmax(dim=1, dtype=torch.float64).cumsum(1)
    second = torch.searchsorted(others, inside * others[:, -1:], right=True).clamp(max=num_ids - 1)
    is_repeated = (facts.recent == first).sum(1, keepdim=True) >= options.window_tokens * options.repetition_ratio
    return torch.where(is_repeated, second, first)[:, 0], is_number


@dataclass(frozen=True, slots=True)
class Row:
    """A line in its current row. ``generated`` is vLLM's own list of its tokens, which grows."""

    plan: DrawPlan
    generated: list[int]


class BatchDraw:
    """Samples the next token of every line in a batch.

    ``ask`` returns the token for a line without random numbers, given its scores. Any id >= ``first_end``
    ends the line.
    """

    def __init__(self, first_end: int, ask: Callable[[int, torch.Tensor], int]) -> None:
        self._first_end = first_end
        self._ask = ask
        self._rows: dict[int, Row] = {}
        self._overflows: torch.Tensor | None = None

    def place(self, index: int, row: Row | None) -> None:
        """Put a line into a row, or clear the row."""
        if row is None:
            self._rows.pop(index, None)
        else:
            self._rows[index] = row

    def move(self, source: int, target: int, *, is_swap: bool) -> None:
        moved, replaced = self._rows.pop(source, None), self._rows.pop(target, None)
        self.place(target, moved)
        if is_swap:
            self.place(source, replaced)

    def choose(self, scores: torch.Tensor) -> torch.Tensor:
        """Mask ``scores`` (rows, ids) in place so that only the sampled token of each row remains."""
        present = [(index, self._rows[index]) for index in range(len(scores)) if index in self._rows]
        drawn: defaultdict[SamplingOptions, list[tuple[int, Row]]] = defaultdict(list)
        for index, row in present:
            if row.plan.points is not None:
                drawn[row.plan.sampling].append((index, row))
        for sampling, rows in drawn.items():
            self._draw(scores, rows, sampling)
        for index, row in present:
            if row.plan.points is None:
                token = self._ask(row.plan.line, scores[index])
                scores[index].fill_(_NEVER)[token] = 0.0
        return scores

    def has_overflowed(self) -> bool:
        """Return whether scores were not finite since the last call. Synchronises with the GPU."""
        overflows, self._overflows = self._overflows, None
        return overflows is not None and bool(overflows)

    def _draw(self, scores: torch.Tensor, drawn: Sequence[tuple[int, Row]], sampling: SamplingOptions) -> None:
        facts = draw_facts([row for _, row in drawn], sampling, scores.device)
        rows = torch.tensor([index for index, _ in drawn], device=scores.device)
        chosen = scores if len(drawn) == len(scores) else scores[rows]
        tokens, is_number = draw_tokens(chosen, facts, sampling, self._first_end)
        overflow = ~is_number.all()
        self._overflows = overflow if self._overflows is None else self._overflows | overflow
        scores.index_fill_(0, rows, _NEVER)
        scores[rows, tokens] = 0.0


def draw_facts(rows: Sequence[Row], sampling: SamplingOptions, device: torch.device) -> DrawFacts:
    """Return the inputs of ``rows``, transferred to ``device`` in one copy."""
    window = sampling.window_tokens
    table = torch.tensor([_numbers(row, window) for row in rows], dtype=torch.float64).to(device)
    return DrawFacts(points=table[:, 0], recent=table[:, 2:].long(), must_continue=table[:, 1] > 0.0)


def _numbers(row: Row, window: int) -> list[float]:
    """Return the row's random number, whether it must continue, and its last tokens."""
    plan, generated = row.plan, row.generated
    assert plan.points is not None
    recent = generated[max(0, len(generated) - window) :]
    point = float(plan.points[min(len(generated), len(plan.points) - 1)])
    return [point, float(len(generated) < plan.min_tokens), *recent, *([-1] * (window - len(recent)))]
