"""All lines of a batch get the tokens of the plain sampler, in whatever rows vLLM puts them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from studio.engines.vllm_lm.batch_sampler import BatchDraw, DrawPlan, Row
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler

NUM_IDS, FIRST_END = 60, 50
OPTIONS = SamplingOptions()
NUM_TOKENS = 300


def never_asked(line: int, scores: torch.Tensor) -> int:
    raise AssertionError(f"line {line} has its own numbers")


class PlainLine:
    """One line, sampled by the plain sampler."""

    def __init__(self, number: int, min_tokens: int, sampling: SamplingOptions = OPTIONS) -> None:
        self.sampler = RepetitionAwareSampler(sampling, seed=number)
        points = RepetitionAwareSampler(sampling, seed=number).draw_points(NUM_TOKENS).numpy()
        self.plan = DrawPlan(number, min_tokens, sampling, points)
        self.generated: list[int] = []

    def next_token(self, scores: torch.Tensor) -> int:
        forbid = slice(FIRST_END, NUM_IDS) if len(self.generated) < self.plan.min_tokens else None
        return self.sampler(scores, self.generated, forbid=forbid)


@pytest.mark.slow
def test_samples_equal_the_plain_sampler_in_any_row() -> None:
    """Lines swap rows, leave and return, and repetitions occur."""
    generator = torch.Generator().manual_seed(0)
    choices = np.random.default_rng(1)
    batch = BatchDraw(FIRST_END, never_asked)
    # Two lines with the default options, and two with others.
    kinds = (OPTIONS, OPTIONS, SamplingOptions(top_p=0.95, top_k=40), SamplingOptions(window_tokens=4))
    lines = [PlainLine(number, min_tokens=40 * number, sampling=kind) for number, kind in enumerate(kinds)]
    rows: list[PlainLine] = list(lines)
    for index, line in enumerate(rows):
        batch.place(index, Row(line.plan, line.generated))
    num_repeated = 0
    for _ in range(NUM_TOKENS):
        first, second = (int(index) for index in choices.permutation(4)[:2])
        batch.move(first, second, is_swap=True)
        rows[first], rows[second] = rows[second], rows[first]
        out = int(choices.integers(4))  # removed and added again, as when memory is short
        batch.place(out, None)
        batch.place(out, Row(rows[out].plan, rows[out].generated))
        # Steep scores: few tokens are in the nucleus, so that they are repeated.
        scores = torch.randn(4, NUM_IDS, generator=generator) * 4
        wanted = [line.next_token(row) for line, row in zip(rows, scores, strict=True)]
        left = batch.choose(scores.clone())
        assert left.argmax(dim=1).tolist() == wanted
        assert (left > float("-inf")).sum(dim=1).tolist() == [1, 1, 1, 1]
        for line, token in zip(rows, wanted, strict=True):
            num_repeated += token in line.generated[-10:]
            line.generated.append(token)
    assert num_repeated > 10, "repetitions occurred"
    assert any(token >= FIRST_END for line in lines for token in line.generated)


def test_move_clears_the_source_row() -> None:
    batch = BatchDraw(FIRST_END, never_asked)
    line = PlainLine(1, 0)
    batch.place(2, Row(line.plan, line.generated))
    batch.move(2, 0, is_swap=False)
    scores = torch.randn(3, NUM_IDS, generator=torch.Generator().manual_seed(3))
    wanted = line.next_token(scores[0])
    left = batch.choose(scores.clone())
    assert left[0].argmax() == wanted
    assert torch.equal(left[1:], scores[1:]), "rows without a line are unchanged"


def test_line_without_random_numbers_is_sampled_by_the_caller() -> None:
    asked: list[tuple[int, torch.Tensor]] = []

    def ask(line: int, scores: torch.Tensor) -> int:
        asked.append((line, scores.clone()))
        return 7

    batch = BatchDraw(FIRST_END, ask)
    drawn = PlainLine(1, 0)
    batch.place(0, Row(drawn.plan, drawn.generated))
    batch.place(1, Row(DrawPlan(8, 5, OPTIONS, None), []))
    scores = torch.randn(2, NUM_IDS, generator=torch.Generator().manual_seed(3))
    wanted = drawn.next_token(scores[0])
    left = batch.choose(scores.clone())
    assert left.argmax(dim=1).tolist() == [wanted, 7]
    ((line, shown),) = asked
    assert line == 8
    assert torch.equal(shown, scores[1])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_scores_are_reported_once(value: float) -> None:
    batch = BatchDraw(FIRST_END, never_asked)
    for number in range(2):
        line = PlainLine(number, 0)
        batch.place(number, Row(line.plan, line.generated))
    scores = torch.zeros(2, NUM_IDS)
    batch.choose(scores.clone())
    assert not batch.has_overflowed()
    scores[1, 3] = value
    batch.choose(scores)
    assert batch.has_overflowed()
    assert not batch.has_overflowed()
