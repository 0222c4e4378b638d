"""Repetition-aware sampling for all lines of a batch at once: the law and the random numbers of ``RepetitionAwareSampler``.

Decided: a draw depends on nothing but the scores, the line's plan and the tokens it has spoken. Because vLLM may
take a line out of its batch, compute it again and put it back in another row: nothing has to be kept in step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from studio.model.config import SamplingOptions

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """How the tokens of one line are chosen: ``points`` as in ``messages.Speak``."""

    line: int
    min_tokens: int
    points: npt.NDArray[np.float64] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class DrawRules:
    """What is alike for all lines. Ids from ``first_end`` on end a line, and are not drawn before its ``min_tokens``."""

    options: SamplingOptions
    first_end: int


@torch.inference_mode()
def draw_tokens(
    scores: torch.Tensor, points: torch.Tensor, recent: torch.Tensor, must_go_on: torch.Tensor, rules: DrawRules
) -> tuple[torch.Tensor, torch.Tensor]:
    """The next token of each row (rows,), and whether its scores were numbers at all (rows,).

    ``scores`` (rows, ids); ``points`` (rows,) float64 in 0..1; ``recent`` (rows, window), -1 where there are fewer;
    ``must_go_on`` (rows,) bool. Nothing here waits for a graphics card.
    """
    options, num_ids = rules.options, scores.shape[1]
    ids = torch.arange(num_ids, device=scores.device)
    scores = scores.float().masked_fill(must_go_on[:, None] & (ids >= rules.first_end), _NEVER)
    best = scores.softmax(dim=1).topk(min(options.top_k, num_ids), dim=1)
    is_number = best.values[:, 0] > 0.0
    shares = best.values.double()
    before = shares.cumsum(1) - shares
    shares = torch.where(before < options.top_p, shares, 0.0)  # up to and including the one that crosses
    ends = shares.cumsum(1)
    place = points[:, None] * ends[:, -1:]
    last = (shares > 0).sum(1, keepdim=True) - 1
    index = torch.minimum(torch.searchsorted(ends, place, right=True), last).clamp(min=0)
    inside = ((place - (ends - shares).gather(1, index)) / shares.gather(1, index)).clamp(0.0, 1.0)
    first = best.indices.gather(1, index)

    others = scores.masked_fill(ids == first, _NEVER).softmax(dim=1, dtype=torch.float64).cumsum(1)
    second = torch.searchsorted(others, inside * others[:, -1:], right=True).clamp(max=num_ids - 1)
    is_repeated = (recent == first).sum(1, keepdim=True) >= options.window_tokens * options.repetition_ratio
    return torch.where(is_repeated, second, first)[:, 0], is_number


@dataclass(frozen=True, slots=True)
class Row:
    """One line where it is now in the batch. ``spoken`` is the engine's own list, which grows."""

    plan: DrawPlan
    spoken: list[int]


class BatchDraw:
    """The lines of a batch by row, and the choice of the next token of each.

    ``ask`` is called with a line and its scores where the line has no numbers to draw with.
    """

    def __init__(self, rules: DrawRules, ask: Callable[[int, torch.Tensor], int]) -> None:
        self._rules = rules
        self._ask = ask
        self._rows: dict[int, Row] = {}
        self._overflows: torch.Tensor | None = None

    def place(self, index: int, row: Row | None) -> None:
        """A line comes into a row, or a row is left empty."""
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
        """``scores`` (rows, ids), written over: each row's token alone can still be drawn."""
        present = [(index, self._rows[index]) for index in range(len(scores)) if index in self._rows]
        drawn = [(index, row) for index, row in present if row.plan.points is not None]
        if drawn:
            self._draw(scores, drawn)
        for index, row in present:
            if row.plan.points is None:
                token = self._ask(row.plan.line, scores[index])
                scores[index].fill_(_NEVER)[token] = 0.0
        return scores

    def has_overflowed(self) -> bool:
        """Whether scores were something else than numbers since this was asked last. Waits for the card."""
        overflows, self._overflows = self._overflows, None
        return overflows is not None and bool(overflows)

    def _draw(self, scores: torch.Tensor, drawn: Sequence[tuple[int, Row]]) -> None:
        window = self._rules.options.window_tokens
        facts = torch.tensor([_facts(row, window) for _, row in drawn], dtype=torch.float64).to(scores.device)
        is_whole_batch = len(drawn) == len(scores)
        rows = torch.tensor([index for index, _ in drawn], device=scores.device)
        tokens, is_number = draw_tokens(
            scores if is_whole_batch else scores[rows], facts[:, 0], facts[:, 2:].long(), facts[:, 1] > 0.0, self._rules
        )
        overflow = ~is_number.all()
        self._overflows = overflow if self._overflows is None else self._overflows | overflow
        scores.index_fill_(0, rows, _NEVER)
        scores[rows, tokens] = 0.0


def _facts(row: Row, window: int) -> list[float]:
    """Its random number, whether it must go on, and the last tokens, as one row of numbers: one copy to the card."""
    plan, spoken = row.plan, row.spoken
    assert plan.points is not None
    recent = spoken[-window:]
    point = float(plan.points[min(len(spoken), len(plan.points) - 1)])
    return [point, float(len(spoken) < plan.min_tokens), *recent, *([-1] * (window - len(recent)))]
