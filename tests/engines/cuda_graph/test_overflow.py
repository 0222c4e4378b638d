"""A line with non-finite scores ends with an error that does not affect other and later lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from graph_cases import checkpoint_of

from studio.engines.cuda_graph.speech_lm import ContinuousBatch, Line
from studio.engines.cuda_graph.static_step import NOT_A_NUMBER, GpuSampler
from studio.errors import ModelOverflow
from studio.model.config import Precision
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import SpeechTokenRequest

REQUEST = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)), max_tokens=12)
# Ends before the place where REQUEST begins to speak.
SHORT = SpeechTokenRequest((5, 9), (11,), (3, 5), max_tokens=12)


@pytest.fixture
def batch(reference: Path, every_family: str) -> ContinuousBatch:
    return ContinuousBatch(checkpoint_of(reference, every_family).load_speech_lm(Precision.FLOAT32, "cpu"), 512)


def join(batch: ContinuousBatch, seed: int, request: SpeechTokenRequest = REQUEST) -> Line:
    return batch.add(request, RepetitionAwareSampler(SamplingOptions(), seed=seed), min_tokens=12, max_tokens=12)


def said(batch: ContinuousBatch, line: Line) -> list[int]:
    return [token for token in iter(lambda: batch.next_token(line), None) if token is not None]


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=str)
def test_non_finite_scores_yield_not_a_number(value: float) -> None:
    scores = torch.randn(3, 60, generator=torch.Generator().manual_seed(1))
    wanted = drawn(scores)
    scores[1, 7] = value
    wanted[:, 1] = NOT_A_NUMBER
    assert torch.equal(drawn(scores), wanted)


def drawn(scores: torch.Tensor) -> torch.Tensor:
    """Return three tokens of each of three lines, (tokens, rows)."""
    draw, token = GpuSampler(SamplingOptions(), 50, 9, torch.device("cpu"), num_rows=3), torch.zeros(3).long()
    tokens = []
    for row in range(3):
        draw.begin(torch.full((9,), 0.5, dtype=torch.float64), min_tokens=0, row=row)
    for _ in range(3):
        draw.draw(scores, token)
        tokens.append(token.clone())
    return torch.stack(tokens)


@pytest.mark.slow
def test_overflow_fails_only_its_line_and_the_row_is_reused(batch: ContinuousBatch) -> None:
    wanted = {seed: said(batch, join(batch, seed, request)) for seed, request in ((1, REQUEST), (2, SHORT))}
    good, spoilt = join(batch, 1), join(batch, 0)
    first = [batch.next_token(good), batch.next_token(spoilt)]
    assert None not in first
    with torch.inference_mode():
        for layer in batch._step.layers:
            layer[spoilt.row, ..., 1, :].fill_(float("nan"))
    assert [*first[:1], *said(batch, good)] == wanted[1]
    with pytest.raises(ModelOverflow, match="not a number"):
        said(batch, spoilt)
    batch.remove(spoilt)
    again = [join(batch, 1), join(batch, 2, SHORT)]
    assert again[1].row == spoilt.row
    assert [said(batch, line) for line in again] == [wanted[1], wanted[2]]


@pytest.mark.slow
def test_overflow_in_the_prompt_is_raised_at_the_first_token(
    batch: ContinuousBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = batch._plain.advance
    with monkeypatch.context() as overflowing:
        overflowing.setattr(batch._plain, "advance", lambda *given: advance(*given) * float("nan"))
        line = join(batch, 3)
    with pytest.raises(ModelOverflow):
        batch.next_token(line)
    batch.remove(line)
    assert len(said(batch, join(batch, 3))) == 12
