"""Repetition-aware sampling: recorded draws, and the distribution of the single-draw form."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from samplers import ForcedSampler, GreedySampler, OfficialRASampler
from speech_lm_cases import read_golden

from studio.errors import ModelOverflow
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.torch_lm import nucleus

HISTORIES = ([], [0], [0, 1, 2], [5] * 10, [0, *range(30, 40)])


def exact_law(scores: torch.Tensor, history: list[int], options: SamplingOptions) -> torch.Tensor:
    """Return the probability of each token in closed form, in float64."""
    full = scores.double().softmax(dim=0)
    order = full.argsort(descending=True, stable=True)
    law = torch.zeros_like(full)
    nucleus: dict[int, float] = {}
    for token in order.tolist():
        if sum(nucleus.values()) >= options.top_p or len(nucleus) >= options.top_k:
            break
        nucleus[token] = float(full[token])
    mass = sum(nucleus.values())
    recent = history[-options.window_tokens :]
    for token, probability in nucleus.items():
        if recent.count(token) < options.window_tokens * options.repetition_ratio:
            law[token] += probability / mass
        else:
            others = full.clone()
            others[token] = 0.0
            law += probability / mass * others / others.sum()
    return law


def scores_of(num_tokens: int = 60, sharpness: float = 2.0, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (sharpness * torch.randn(num_tokens, generator=generator)).sort(descending=True).values


@pytest.mark.reference
def test_two_draws_reproduce_the_recorded_ones(reference: Path, family: str) -> None:
    golden = read_golden(reference, family)
    recorded = {name.removeprefix("ras/"): array for name, array in golden.arrays.items() if name.startswith("ras/")}
    facts = golden.facts["ras"]
    options = SamplingOptions(facts["top_p"], facts["top_k"], facts["win_size"], facts["tau_r"])
    num_resampled = 0
    for case in range(facts["cases"]):
        scores = recorded["scores"][case]
        history = recorded["history"][case, : recorded["history_len"][case]].tolist()
        tokens, probabilities = nucleus(scores, options)
        count = int(recorded["candidate_count"][case])
        assert tokens == recorded["candidates"][case, :count].tolist()
        assert torch.allclose(torch.tensor(probabilities), recorded["candidate_prob"][case, :count], rtol=1e-5, atol=0)
        seed = int(recorded["seed"][case])
        token = OfficialRASampler(options, seed)(scores, history, forbid=None)
        assert token == int(recorded["token"][case])
        # Without a history there is no second draw, which identifies the cases that had one.
        first = OfficialRASampler(options, seed)(scores, [], forbid=None)
        was_resampled = first in history[-options.window_tokens :]
        assert was_resampled == bool(recorded["resampled"][case])
        num_resampled += was_resampled
    assert num_resampled == facts["resampled"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("history", HISTORIES, ids=[str(number) for number in range(len(HISTORIES))])
@pytest.mark.parametrize(("sampler_type", "num_draws"), [(RepetitionAwareSampler, 60_000), (OfficialRASampler, 15_000)])
def test_draws_follow_the_closed_form(sampler_type: type, num_draws: int, history: list[int]) -> None:
    """Total variation is within 1.5 times the sampling noise, and chi-square is plausible."""
    options, scores = SamplingOptions(), scores_of()
    law = exact_law(scores, history, options)
    assert float(law.sum()) == pytest.approx(1.0)
    sampler = sampler_type(options, seed=11)
    draws = torch.tensor([sampler(scores, history, forbid=None) for _ in range(num_draws)])
    counts = draws.bincount(minlength=len(scores)).double()

    # Expected |count/n - p| of a binomial, by the normal approximation, halved and summed.
    noise = 0.5 * float((law * (1 - law) * 2 / (math.pi * num_draws)).sqrt().sum())
    assert 0.5 * float((counts / num_draws - law).abs().sum()) <= 1.5 * noise

    often = law * num_draws >= 5
    assert counts[~often].sum() <= 5 * (law[~often].sum() * num_draws + 1)
    expected = law[often] * num_draws
    freedom = int(often.sum()) - 1
    chi_square = float(((counts[often] - expected) ** 2 / expected).sum())
    # p > 1e-3: 3.1 standard deviations, by the cube-root (Wilson and Hilferty) approximation.
    assert (chi_square / freedom) ** (1 / 3) <= 1 - 2 / (9 * freedom) + 3.1 * math.sqrt(2 / (9 * freedom))


@given(
    seed=st.integers(0, 1000),
    sharpness=st.sampled_from([0.0, 0.5, 3.0, 40.0]),
    history=st.lists(st.integers(0, 59), max_size=15),
    start=st.integers(2, 59),
)
def test_forbidden_tokens_and_immediate_repeats_are_never_drawn(
    seed: int, sharpness: float, history: list[int], start: int
) -> None:
    scores = scores_of(sharpness=sharpness, seed=seed)
    given_scores = scores.clone()
    for sampler in (
        RepetitionAwareSampler(SamplingOptions(), seed),
        OfficialRASampler(SamplingOptions(), seed),
        GreedySampler(),
    ):
        assert 0 <= sampler(scores, history, forbid=slice(start, 60)) < start
    assert torch.equal(scores, given_scores), "the scores belong to the caller"


def test_repeated_token_with_probability_one_is_replaced() -> None:
    """Its probability is 1 in float32, but the second draw is still from the others."""
    scores = torch.zeros(40)
    scores[7] = 200.0
    sampler = RepetitionAwareSampler(SamplingOptions(), 0)
    assert sampler(scores, [], forbid=None) == 7
    drawn = {sampler(scores, [7], forbid=None) for _ in range(300)}
    assert 7 not in drawn
    assert len(drawn) > 30


def test_repetition_counts_only_within_the_window() -> None:
    scores = torch.zeros(40)
    scores[7] = 200.0
    sampler = RepetitionAwareSampler(SamplingOptions(window_tokens=3), 0)
    assert sampler(scores, [7, 1, 2, 3], forbid=None) == 7
    assert sampler(scores, [7, 1, 2], forbid=None) != 7


def test_equal_seeds_draw_equal_tokens() -> None:
    scores = scores_of(sharpness=0.3)
    first, again, other = (
        [sampler(scores, [], forbid=None) for _ in range(20)]
        for sampler in (RepetitionAwareSampler(SamplingOptions(), seed) for seed in (1, 1, 2))
    )
    assert first == again != other


@pytest.mark.parametrize("count", [0, 1, 17, 700])
def test_random_numbers_for_another_device_are_those_of_single_draws(count: int) -> None:
    """Also those that follow."""
    generator = torch.Generator().manual_seed(3)
    wanted = [torch.rand((), generator=generator, dtype=torch.float64).item() for _ in range(count + 1)]
    sampler = RepetitionAwareSampler(SamplingOptions(), seed=3)
    assert [*sampler.draw_points(count).tolist(), *sampler.draw_points(1).tolist()] == wanted


def test_nan_scores_are_an_error() -> None:
    with pytest.raises(ModelOverflow, match="not a number"):
        RepetitionAwareSampler(SamplingOptions(), 0)(torch.full((40,), float("nan")), [], forbid=None)


def test_forced_sampler_returns_its_tokens_and_then_the_end() -> None:
    sampler, history = ForcedSampler([4, 4, 9], end_id=50), list[int]()
    for _ in range(5):
        history.append(sampler(torch.zeros(60), history, forbid=slice(50, 60)))
    assert history == [4, 4, 9, 50, 50]
