"""Repetition-aware sampling for a batch of lines, as a logits processor of vLLM.

The processor masks all but one token of each row, which vLLM's greedy decoding then takes.

Decision: a token depends only on the scores, the line's plan and its tokens so far. Reason: vLLM may remove a line from
its batch, recompute it and put it back in another row, so there is no other state to keep in sync.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from studio.engines.device_sampling import draw_tokens
from studio.model.options import SamplingOptions
from studio.model.speech_lm.torch_lm import NEVER

PLAN = "timbre_plan"  # key in ``SamplingParams.extra_args``


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """Sampling plan of one line; see ``messages.Generate``."""

    line: int
    min_tokens: int
    sampling: SamplingOptions
    points: npt.NDArray[np.float64] | None = field(repr=False)


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
                scores[index].fill_(NEVER)[token] = 0.0
        return scores

    def has_overflowed(self) -> bool:
        """Return whether scores were not finite since the last call. Synchronises with the GPU."""
        overflows, self._overflows = self._overflows, None
        return overflows is not None and bool(overflows)

    def _draw(self, scores: torch.Tensor, drawn: Sequence[tuple[int, Row]], sampling: SamplingOptions) -> None:
        rows = torch.tensor([index for index, _ in drawn], device=scores.device)
        chosen = scores if len(drawn) == len(scores) else scores[rows]
        tokens, is_number = draw_rows(chosen, [row for _, row in drawn], sampling, self._first_end)
        overflow = ~is_number.all()
        self._overflows = overflow if self._overflows is None else self._overflows | overflow
        scores.index_fill_(0, rows, NEVER)
        scores[rows, tokens] = 0.0


@torch.inference_mode()
def draw_rows(
    scores: torch.Tensor, rows: Sequence[Row], sampling: SamplingOptions, first_end: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the next token of each of ``rows``, and whether its ``scores`` (rows, ids) are finite.

    The rows' numbers are transferred to the device in one copy.
    """
    numbers = torch.tensor([_numbers(row, sampling.window_tokens) for row in rows], dtype=torch.float64)
    table = numbers.to(scores.device)
    must_continue = table[:, 1:2] > 0.0
    scores = scores.float().clone()
    scores[:, first_end:].masked_fill_(must_continue, NEVER)
    return draw_tokens(scores, table[:, 0], table[:, 2:].long(), sampling)


def _numbers(row: Row, window: int) -> list[float]:
    """Return the row's random number, whether it must continue, and its last tokens."""
    plan, generated = row.plan, row.generated
    assert plan.points is not None
    recent = generated[max(0, len(generated) - window) :]
    point = float(plan.points[min(len(generated), len(plan.points) - 1)])
    return [point, float(len(generated) < plan.min_tokens), *recent, *([-1] * (window - len(recent)))]


def make_processor(batch: BatchDraw) -> type[Any]:
    """Return a class for ``EngineArgs.logits_processors`` that passes every batch to ``batch``. Imports vLLM."""
    vllm: Any = importlib.import_module("vllm.v1.sample.logits_processor")

    class RepetitionAwareProcessor(vllm.LogitsProcessor):  # type: ignore[misc]
        @classmethod
        def validate_params(cls, sampling_params: Any) -> None:
            if not isinstance((sampling_params.extra_args or {}).get(PLAN), DrawPlan):
                raise ValueError("the request has no sampling plan")  # noqa: TRY004 - vLLM's protocol for a rejection

        def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
            """The state is in ``batch``."""

        def is_argmax_invariant(self) -> bool:
            return False

        def update_state(self, batch_update: Any) -> None:
            if batch_update is None:
                return
            for index in batch_update.removed:
                batch.place(index, None)
            for index, params, _, spoken in batch_update.added:
                plan = (params.extra_args or {}).get(PLAN)
                batch.place(index, None if plan is None else Row(plan, spoken))
            for source, target, direction in batch_update.moved:
                batch.move(source, target, is_swap=direction is vllm.MoveDirectionality.SWAP)

        def apply(self, logits: torch.Tensor) -> torch.Tensor:
            return batch.choose(logits)

    return RepetitionAwareProcessor
