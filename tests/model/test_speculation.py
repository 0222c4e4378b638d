"""Speculative decoding: the same tokens as one by one, for any proposals, with fewer steps where proposals are right."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_cases import checkpoint_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samplers import ForcedSampler
from speech_lm_cases import LINE, RecordingSampler, random_network, small_config

from studio.model.config import Precision
from studio.model.speech_lm import CachedSpeechLM, RepetitionAwareSampler, TorchSpeechLM, speech_lm_of
from studio.model.speech_lm.attention import AttentionHead, AttentionTrace
from studio.model.speech_lm.speculation import LineSpeculator
from studio.model.speech_lm.successor_speculator import SuccessorSpeculator
from studio.model.stages import SpeculationCount, SpeechTokenRequest, TokenSampler

REQUEST = SpeechTokenRequest(tuple(range(9)), tuple(range(20, 33)), tuple(range(11)), max_tokens=60)


class GivenSpeculator(LineSpeculator):
    """Proposes parts of ``tokens``, of the lengths ``counts`` in turn. One of ``wrong_every`` is wrong."""

    def __init__(self, tokens: Sequence[int], counts: Sequence[int] = (3,), wrong_every: int = 10**9) -> None:
        self.tokens, self._counts = tokens, itertools.cycle(counts)
        self._wrong = itertools.cycle([*[0] * (wrong_every - 1), 1]) if wrong_every < 10**9 else itertools.repeat(0)
        self.num_proposed = max(counts)

    def open_line(self, request: SpeechTokenRequest, cache: Any) -> LineSpeculator:
        return self

    def propose(self, history: Sequence[int], sampler: TokenSampler) -> Sequence[int]:
        count = next(self._counts)
        here = self.tokens[len(history) : len(history) + count]
        return [token + next(self._wrong) for token in here]


@pytest.fixture(params=["second", "third"])
def speech_lm(request: pytest.FixtureRequest) -> TorchSpeechLM:
    return speech_lm_of(random_network(small_config(is_second=request.param == "second")))


def sampler(speech_lm: CachedSpeechLM[Any], seed: int = 0) -> RepetitionAwareSampler:
    return RepetitionAwareSampler(speech_lm.sampling, seed)


@settings(max_examples=25)
@given(
    counts=st.lists(st.integers(0, 7), min_size=1, max_size=4).filter(any),
    wrong_every=st.sampled_from([1, 2, 3, 10**9]),
    seed=st.integers(0, 99),
    min_tokens=st.integers(0, 20),
)
def test_any_proposals_leave_the_tokens_of_a_seed(
    speech_lm: TorchSpeechLM, counts: list[int], wrong_every: int, seed: int, min_tokens: int
) -> None:
    request = replace(REQUEST, min_tokens=min_tokens)
    speech_lm.speculator = None
    alone = sampler(speech_lm, seed)
    wanted = list(speech_lm.generate(request, alone))
    speech_lm.speculator = GivenSpeculator(wanted, counts, wrong_every)
    proposed = sampler(speech_lm, seed)
    assert list(speech_lm.generate(request, proposed)) == wanted
    assert proposed.num_second_draws == alone.num_second_draws


def test_right_proposals_save_steps_and_are_counted(speech_lm: TorchSpeechLM) -> None:
    request = replace(REQUEST, min_tokens=40, max_tokens=40)
    wanted = list(speech_lm.generate(request, sampler(speech_lm)))
    speech_lm.speculator = GivenSpeculator(wanted)
    count = SpeculationCount()
    list(speech_lm.generate(replace(request, speculation=count), sampler(speech_lm)))
    assert (count.num_steps, count.num_proposed, count.num_accepted) == (10, 30, 30), "the prompt yields the first"


@pytest.mark.slow
def test_every_generation(reference: Path, every_family: str) -> None:
    lm = checkpoint_of(reference, every_family).load_speech_lm(Precision.FLOAT32, "cpu")
    wanted = list(lm.generate(LINE, sampler(lm, 4)))
    lm.speculator = GivenSpeculator(wanted, (3, 1, 5), wrong_every=3)
    count = SpeculationCount()
    assert list(lm.generate(replace(LINE, speculation=count), sampler(lm, 4))) == wanted
    assert 30 / 6 <= count.num_steps < 30


@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8, Precision.INT4])
def test_rounding_does_not_depend_on_proposals(reference: Path, family: str, precision: Precision) -> None:
    """In every precision, scores are equal bit by bit, whether proposals are right, wrong, or missing."""
    lm = checkpoint_of(reference, family).load_speech_lm(precision, "cpu")
    tokens = list(lm.generate(LINE, sampler(lm, 4)))

    def scores(speculator: GivenSpeculator | None) -> torch.Tensor:
        lm.speculator = speculator
        recorder = RecordingSampler(ForcedSampler(tokens, end_id=0))
        assert list(lm.generate(LINE, recorder)) == tokens
        return torch.stack(recorder.scores)

    right = scores(GivenSpeculator(tokens, (3,)))
    for other in (GivenSpeculator(tokens, (3, 0, 1, 2)), GivenSpeculator(tokens, (3,), wrong_every=2)):
        assert torch.equal(scores(other), right)
    limit = 1e-4 if precision is Precision.FLOAT32 else 2e-2  # an engine may use other products for single rows
    assert (scores(None) - right).norm() <= limit * right.norm()


def test_distribution_is_that_of_the_model(speech_lm: TorchSpeechLM) -> None:
    """Over many seeds, the second token after each first one is as frequent as without proposals.

    The proposals are those of another seed, so they are right for some seeds only. The test is of the distribution alone:
    it would find proposals that are accepted too often, even if the random numbers were not the same.
    """
    request = replace(REQUEST, min_tokens=2, max_tokens=2)
    plain = speech_lm.generate
    tokens = [tuple(plain(request, sampler(speech_lm, seed))) for seed in range(400)]
    speech_lm.speculator = GivenSpeculator(Counter(tokens).most_common(1)[0][0])
    found = Counter(tuple(speech_lm.generate(request, sampler(speech_lm, seed))) for seed in range(1000, 1400))
    wanted = Counter(tokens)
    # Two samples of one distribution: the statistic is the sum of (a - b)^2 / (a + b), as many as there are outcomes.
    outcomes = set(found) | set(wanted)
    statistic = sum((found[key] - wanted[key]) ** 2 / (found[key] + wanted[key]) for key in outcomes)
    num = len(outcomes) - 1
    assert statistic < num + 5 * (2 * num) ** 0.5
    assert sum(found[key] for key in wanted) > 200, "the samples overlap, so the statistic says something"


def test_attention_is_recorded_for_accepted_tokens_only(speech_lm: TorchSpeechLM) -> None:
    request = replace(REQUEST, min_tokens=20, max_tokens=20)
    traces = [AttentionTrace([AttentionHead(1, 2)]) for _ in range(2)]
    wanted = list(speech_lm.generate(replace(request, attention=traces[0]), sampler(speech_lm)))
    speech_lm.speculator = GivenSpeculator(wanted, wrong_every=4)
    list(speech_lm.generate(replace(request, attention=traces[1]), sampler(speech_lm)))
    first, second = (torch.from_numpy(trace.weights) for trace in traces if trace.weights is not None)
    assert first.shape == second.shape
    assert (first - second).abs().max() < 1e-5


def test_closing_a_line_leaves_no_tokens_that_were_not_taken(speech_lm: TorchSpeechLM) -> None:
    wanted = list(speech_lm.generate(REQUEST, sampler(speech_lm)))
    trace = AttentionTrace([AttentionHead(0, 0)])
    speech_lm.speculator = GivenSpeculator(wanted, (5,))
    line = speech_lm.generate(replace(REQUEST, min_tokens=30, attention=trace), sampler(speech_lm))
    assert isinstance(line, Iterator)
    taken = [next(line) for _ in range(3)]
    line.close()  # type: ignore[attr-defined]
    assert trace.weights is not None
    assert len(taken) <= len(trace.weights) <= len(taken) + 1


def test_successors_are_proposed_once_they_are_known() -> None:
    speculator = SuccessorSpeculator()
    line = speculator.open_line(SpeechTokenRequest((), prompt_speech_tokens=(1, 2, 3, 1, 2, 4, 1, 2, 3)))
    nothing: Any = None
    assert line.propose([], nothing) == [1, 2, 3], "3 was followed by 1, 1 by 2, and 2 by 3 twice and 4 once"
    assert line.propose([9], nothing) == [], "nothing is known to follow 9"
    assert line.propose([9, 8, 9], nothing) == [8, 9, 8]
    other = speculator.open_line(SpeechTokenRequest((), prompt_speech_tokens=(5,)))
    assert other.propose([9], nothing) == [8, 9, 8], "lines learn from each other"


def test_a_prompt_is_learned_once() -> None:
    speculator = SuccessorSpeculator()
    request = SpeechTokenRequest((), prompt_speech_tokens=(1, 2))
    for _ in range(5):
        speculator.open_line(request)
    speculator.learn((1, 3, 0, 1, 3))
    assert speculator.successor(1) == 3


def test_rare_pairs_are_forgotten() -> None:
    speculator = SuccessorSpeculator(most_pairs=10)
    speculator.learn([1, 2] * 20)
    speculator.learn(range(100, 130))
    assert speculator.successor(1) == 2
    assert speculator.successor(110) is None
    speculator.learn([110, 111])
    assert speculator.successor(110) == 111
