"""Recorded verification of proposed tokens: the same tokens as without, in fewer steps where proposals are right.

Without a GPU, the step is not recorded but uses the same memory, so everything but recording is tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from graph_cases import checkpoint_of
from hypothesis import given, settings
from hypothesis import strategies as st
from samplers import ForcedSampler, GreedySampler
from small_speculator import FIRST, write_speculator
from speech_lm_cases import LINE, RecordingSampler, random_network, small_config

from studio.engines.cuda_graph.captured_graph import CapturedGraph
from studio.engines.cuda_graph.speculative_lm import LineVerifier, SpeculativeGraphSpeechLM, VerifiedLine
from studio.engines.cuda_graph.speculators import SuccessorGraphSpeculator, TrainedGraphSpeculator
from studio.engines.cuda_graph.verification_step import NO_PROPOSAL, GraphSpeculator, LineSampler
from studio.errors import ModelOverflow
from studio.model.config import Precision
from studio.model.options import SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM, speech_lm_of
from studio.model.speech_lm.dspark import DSparkLine, load_dspark
from studio.model.speech_lm.successor_speculator import SuccessorSpeculator
from studio.model.stages import SpeculationCount, SpeechTokenRequest, TokenSampler

REQUEST = SpeechTokenRequest(tuple(range(9)), tuple(range(20, 33)), tuple(range(11)), max_tokens=60)
MakeSampler = Callable[[SamplingOptions], TokenSampler]
with_both_samplers = pytest.mark.parametrize(
    "make_sampler", [lambda options: RepetitionAwareSampler(options, 3), lambda _: GreedySampler()]
)


class GivenSpeculator(GraphSpeculator):
    """Proposes the tokens of a line. Those at ``wrong`` places, counted in a cycle, are wrong or missing."""

    def __init__(self, tokens: Sequence[int], num_proposed: int = 3, wrong: Sequence[bool] = (False,)) -> None:
        self.num_proposed = num_proposed
        room = [0] * (2 * num_proposed + 2)
        self._tokens = torch.tensor([*tokens, *room])
        cycle = [wrong[place % len(wrong)] for place in range(len(self._tokens))]
        wrong_tokens = torch.where(torch.arange(len(cycle)) % 2 == 0, self._tokens + 1, NO_PROPOSAL)
        self._tokens = torch.where(torch.tensor(cycle), wrong_tokens, self._tokens)

    def propose(self, token: torch.Tensor, position: torch.Tensor, sampler: LineSampler) -> torch.Tensor:
        places = sampler._num_drawn + torch.arange(self.num_proposed)
        return self._tokens[places.clamp(max=len(self._tokens) - 1)]


@pytest.fixture(params=["second", "third"])
def speech_lm(request: pytest.FixtureRequest) -> TorchSpeechLM:
    return speech_lm_of(random_network(small_config(is_second=request.param == "second")))


def sampler_of(speech_lm: TorchSpeechLM, seed: int = 0) -> RepetitionAwareSampler:
    return RepetitionAwareSampler(speech_lm.sampling, seed)


def with_speculator(speech_lm: TorchSpeechLM, speculator: GraphSpeculator) -> SpeculativeGraphSpeechLM:
    return SpeculativeGraphSpeechLM(speech_lm, lambda capacity: speculator, speculator.num_proposed)


def successive(speech_lm: TorchSpeechLM) -> SpeculativeGraphSpeechLM:
    return with_speculator(speech_lm, SuccessorGraphSpeculator(speech_lm, SuccessorSpeculator()))


@settings(max_examples=25, deadline=None)
@given(
    num_proposed=st.integers(1, 7),
    wrong=st.lists(st.booleans(), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    min_tokens=st.integers(0, 20),
    max_tokens=st.integers(20, 60),
)
def test_any_proposals_leave_the_tokens_of_a_seed(
    speech_lm: TorchSpeechLM, num_proposed: int, wrong: list[bool], seed: int, min_tokens: int, max_tokens: int
) -> None:
    request = replace(REQUEST, min_tokens=min_tokens, max_tokens=max_tokens)
    wanted = list(speech_lm.generate(request, sampler_of(speech_lm, seed)))
    graph = with_speculator(speech_lm, GivenSpeculator(wanted, num_proposed, wrong))
    for _ in range(2):
        assert list(graph.generate(request, sampler_of(speech_lm, seed))) == wanted
    assert graph._verifiers, "the line was verified"


@with_both_samplers
def test_right_proposals_save_steps_and_are_counted(speech_lm: TorchSpeechLM, make_sampler: MakeSampler) -> None:
    request = replace(REQUEST, min_tokens=40, max_tokens=40)
    wanted = list(speech_lm.generate(request, make_sampler(speech_lm.sampling)))
    count = SpeculationCount()
    graph = with_speculator(speech_lm, GivenSpeculator(wanted))
    found = list(graph.generate(replace(request, speculation=count), make_sampler(speech_lm.sampling)))
    assert found == wanted
    assert (count.num_steps, count.num_proposed, count.num_accepted) == (10, 30, 30)


@pytest.mark.parametrize("wrong", [(False,), (True,), (False, False, True)])
def test_scores_equal_the_plain_decoder(speech_lm: TorchSpeechLM, wrong: tuple[bool, ...]) -> None:
    """So the trials, which compare the scores of recorded tokens, see those of the verified step."""
    tokens = tuple(place * 7 % 50 for place in range(30))
    request = replace(REQUEST, min_tokens=30, max_tokens=30)
    graph = with_speculator(speech_lm, GivenSpeculator(tokens, 3, wrong))

    def scores(lm: Any) -> torch.Tensor:
        recorder = RecordingSampler(ForcedSampler(tokens, end_id=0))
        assert list(lm.generate(request, recorder)) == list(tokens)
        return torch.stack(recorder.scores)

    assert (scores(graph) - scores(speech_lm)).abs().max() <= 1e-4
    assert graph._verifiers


@pytest.mark.slow
def test_lines_of_the_successor_speculator_equal_plain_pytorch(speech_lm: TorchSpeechLM) -> None:
    """Of several voices, lengths and seeds in turn. The speculator learns from line to line."""
    graph = successive(speech_lm)
    count = SpeculationCount()
    for seed in range(12):
        request = replace(
            REQUEST, prompt_speech_tokens=tuple(range(3 + seed % 3, 50)), max_tokens=40 + 200 * (seed % 2)
        )
        found = list(graph.generate(replace(request, speculation=count), sampler_of(speech_lm, seed)))
        assert found == list(speech_lm.generate(request, sampler_of(speech_lm, seed)))
    assert len(graph._verifiers) == 1
    assert 0 < count.num_accepted < count.num_proposed


def test_successors_are_those_of_the_speculator(speech_lm: TorchSpeechLM) -> None:
    speculator = SuccessorGraphSpeculator(speech_lm, SuccessorSpeculator())
    speculator.begin(SpeechTokenRequest((), prompt_speech_tokens=(1, 2, 3, 1, 2, 4, 1, 2, 3)))
    nothing: Any = None

    def proposed(token: int) -> list[int]:
        found: list[int] = speculator.propose(torch.tensor([token]), nothing, nothing).tolist()
        return found

    assert proposed(3) == [1, 2, 3]
    assert proposed(9)[0] == NO_PROPOSAL
    speculator.learn([9, 8, 9])
    assert proposed(9) == [8, 9, 8]
    assert proposed(-1)[0] == proposed(0)[0], "a token that is not a number indexes nothing outside of the table"


def test_trained_speculator_proposes_what_the_plain_one_does(
    speech_lm: TorchSpeechLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every number of tokens, with the random numbers of the line. A random speculator is rarely right."""
    folder = write_speculator(tmp_path / "speculator", speech_lm, aux_hidden_state_layer_ids=[0, 1])
    speculator = load_dspark(speech_lm, folder, first_speech_id=FIRST, precision=Precision.FLOAT32)
    graph = SpeculativeGraphSpeechLM(
        speech_lm, lambda size: TrainedGraphSpeculator(speculator, size), speculator.num_proposed
    )
    by_plain: dict[int, list[int]] = {}
    by_graph: dict[int, list[int]] = {}
    propose, receive = DSparkLine.propose, VerifiedLine._receive

    def noted(line: DSparkLine, history: Sequence[int], sampler: TokenSampler) -> Sequence[int]:
        by_plain[len(history)] = list(propose(line, history, sampler))
        return by_plain[len(history)]

    def noted_result(line: VerifiedLine, result: list[int]) -> list[int]:
        by_graph[len(line._history)] = result[-speculator.num_proposed :]
        return receive(line, result)

    monkeypatch.setattr(DSparkLine, "propose", noted)
    monkeypatch.setattr(VerifiedLine, "_receive", noted_result)
    request = replace(REQUEST, min_tokens=50, max_tokens=50)
    for seed in range(3):
        by_plain.clear()
        by_graph.clear()
        speech_lm.speculator = None
        wanted = list(speech_lm.generate(request, sampler_of(speech_lm, seed)))
        assert list(graph.generate(request, sampler_of(speech_lm, seed))) == wanted
        speech_lm.speculator = speculator
        assert list(speech_lm.generate(request, sampler_of(speech_lm, seed))) == wanted
        # There are no random numbers beyond the longest line.
        both = {count for count in by_plain.keys() & by_graph.keys() if count + speculator.num_proposed <= 50}
        assert len(both) > 20
        assert [by_graph[count] for count in sorted(both)] == [by_plain[count] for count in sorted(both)]


def test_speculator_with_the_distribution_of_the_model_is_always_right(speech_lm: TorchSpeechLM) -> None:
    """Its guesses are draws with the random numbers of the line."""

    class Knowing(GraphSpeculator):
        num_proposed = 3

        def __init__(self, tokens: Sequence[int]) -> None:
            self._scores = torch.full((len(tokens) + 9, speech_lm.config.layout.num_rows), -30.0)
            for place, token in enumerate(tokens):
                self._scores[place, token] = 30.0

        def propose(self, token: torch.Tensor, position: torch.Tensor, sampler: LineSampler) -> torch.Tensor:
            here = self._scores.index_select(0, sampler._num_drawn + torch.arange(3))
            return torch.cat([sampler.guess(here[index : index + 1], index) for index in range(3)])

    request = replace(REQUEST, min_tokens=40, max_tokens=40)
    wanted = list(speech_lm.generate(request, sampler_of(speech_lm, 5)))
    count = SpeculationCount()
    graph = with_speculator(speech_lm, Knowing(wanted))
    assert list(graph.generate(replace(request, speculation=count), sampler_of(speech_lm, 5))) == wanted
    repeated = sum(token in wanted[max(0, place - 10) : place] for place, token in enumerate(wanted))
    assert count.num_accepted >= count.num_proposed - 3 * repeated


def test_distribution_is_that_of_the_model(speech_lm: TorchSpeechLM) -> None:
    """Over many seeds, pairs of tokens are as frequent as without proposals, which are right for some seeds only.

    It would find proposals that are accepted too often, even if the random numbers were not the same.
    """
    request = replace(REQUEST, min_tokens=2, max_tokens=2)
    wanted = Counter(tuple(speech_lm.generate(request, sampler_of(speech_lm, seed))) for seed in range(400))
    graph = with_speculator(speech_lm, GivenSpeculator(wanted.most_common(1)[0][0]))
    found = Counter(tuple(graph.generate(request, sampler_of(speech_lm, seed))) for seed in range(1000, 1400))
    outcomes = set(found) | set(wanted)
    statistic = sum((found[key] - wanted[key]) ** 2 / (found[key] + wanted[key]) for key in outcomes)
    num = len(outcomes) - 1
    assert statistic < num + 5 * math.sqrt(2 * num)
    assert sum(found[key] for key in wanted) > 200, "the samples overlap, so the statistic says something"


@with_both_samplers
def test_line_that_others_join_continues_in_their_steps(speech_lm: TorchSpeechLM, make_sampler: MakeSampler) -> None:
    request = replace(REQUEST, min_tokens=60, max_tokens=60)
    wanted = list(speech_lm.generate(request, make_sampler(speech_lm.sampling)))
    others = [list(speech_lm.generate(request, sampler_of(speech_lm, seed))) for seed in (8, 9)]
    graph = successive(speech_lm)
    first = graph.generate(request, make_sampler(speech_lm.sampling))
    made = list(islice(first, 15))
    second, third = (graph.generate(request, sampler_of(speech_lm, seed)) for seed in (8, 9))
    made_by_others = [[next(second)], [next(third)]]
    made += list(first)
    assert sum(len(batch._started) + len(batch._lines) for batch in graph._batches.values()) > 0
    assert not graph._speaking.locked()
    made_by_others[0] += list(second)
    made_by_others[1] += list(third)
    assert made == wanted
    assert made_by_others == others
    count = SpeculationCount()
    list(graph.generate(replace(request, speculation=count), sampler_of(speech_lm)))
    assert count.num_steps > 0, "a later single line is verified again"


def test_lines_on_several_threads_equal_single_lines(speech_lm: TorchSpeechLM) -> None:
    """They begin and end at different times, so that some are verified, some share steps, and some do both."""
    graph = successive(speech_lm)
    requests = [replace(REQUEST, min_tokens=9 * seed, max_tokens=9 * seed) for seed in range(1, 13)]

    def speak(lm: Any, seed: int) -> list[int]:
        sampler = GreedySampler() if seed % 5 == 4 else sampler_of(speech_lm, seed)
        return list(lm.generate(requests[seed], sampler))

    wanted = [speak(speech_lm, seed) for seed in range(len(requests))]
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda seed: speak(graph, seed), range(len(requests))))
    assert made == wanted
    assert not graph._speaking.locked()


def test_closed_line_frees_its_memory(speech_lm: TorchSpeechLM) -> None:
    graph = successive(speech_lm)
    wanted = list(speech_lm.generate(REQUEST, sampler_of(speech_lm, 1)))
    closed = graph.generate(REQUEST, sampler_of(speech_lm, 0))
    next(closed)
    closed.close()  # type: ignore[attr-defined]
    assert list(graph.generate(REQUEST, sampler_of(speech_lm, 1))) == wanted
    assert not graph._batches, "it did not have to share steps"


def test_values_that_are_not_numbers_end_their_line_only(
    speech_lm: TorchSpeechLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = successive(speech_lm)
    request = replace(REQUEST, min_tokens=60, max_tokens=60)
    wanted = list(speech_lm.generate(request, sampler_of(speech_lm, 1)))
    line = graph.generate(request, sampler_of(speech_lm, 1))
    made = list(islice(line, 5))
    (verifier,) = graph._verifiers.values()
    with torch.inference_mode():
        verifier.step._states[:, :, :20] = float("nan")
    with pytest.raises(ModelOverflow):
        made += list(line)
    assert made == wanted[: len(made)]
    assert list(graph.generate(request, sampler_of(speech_lm, 1))) == wanted


def test_other_steps_are_used_without_memory_room_or_prompt(
    speech_lm: TorchSpeechLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*arguments: object) -> None:
        raise RuntimeError("CUDA out of memory")

    no_prompt = replace(REQUEST, prompt_speech_tokens=())
    longest = speech_lm.config.max_positions - 2 - 9 - 13 - 11
    for request in (no_prompt, replace(REQUEST, min_tokens=0, max_tokens=longest)):
        graph = successive(speech_lm)
        found = islice(graph.generate(request, sampler_of(speech_lm, 2)), 30)
        assert list(found) == list(islice(speech_lm.generate(request, sampler_of(speech_lm, 2)), 30))
        assert not graph._verifiers
    graph = successive(speech_lm)
    monkeypatch.setattr(LineVerifier, "__init__", no_memory)
    wanted = list(speech_lm.generate(REQUEST, sampler_of(speech_lm, 2)))
    assert list(graph.generate(REQUEST, sampler_of(speech_lm, 2))) == wanted


@pytest.mark.parametrize("is_trained", [False, True])
def test_warming_up_in_a_line_changes_no_result(
    speech_lm: TorchSpeechLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trained: bool
) -> None:
    """As a recording does on a GPU: it computes twice and restores the state that the graph has declared."""

    def run(graph: CapturedGraph, compute: Callable[[], None]) -> None:
        kept = [tensor.clone() for tensor in graph._state]
        compute()
        compute()
        for tensor, before in zip(graph._state, kept, strict=True):
            tensor.copy_(before)
        compute()

    graph = successive(speech_lm)
    if is_trained:
        folder = write_speculator(tmp_path / "speculator", speech_lm, aux_hidden_state_layer_ids=[0, 1])
        speculator = load_dspark(speech_lm, folder, first_speech_id=FIRST, precision=Precision.FLOAT32)
        graph = SpeculativeGraphSpeechLM(
            speech_lm, lambda size: TrainedGraphSpeculator(speculator, size), speculator.num_proposed
        )
    count, recorded_count = SpeculationCount(), SpeculationCount()
    wanted = list(graph.generate(replace(REQUEST, speculation=count), sampler_of(speech_lm, 4)))
    monkeypatch.setattr(CapturedGraph, "run", torch.inference_mode()(run))
    again = graph if is_trained else successive(speech_lm)
    request = replace(REQUEST, speculation=recorded_count)
    assert list(again.generate(request, sampler_of(speech_lm, 4))) == wanted
    assert recorded_count == count


def test_recording_changes_no_result(speech_lm: TorchSpeechLM) -> None:
    graph = successive(speech_lm)
    once = list(graph.generate(REQUEST, sampler_of(speech_lm, 1)))
    for record in graph.recordings():
        record()
    assert list(graph.generate(REQUEST, sampler_of(speech_lm, 1))) == once
    line = graph.generate(LINE, sampler_of(speech_lm, 1))
    first = next(line)
    for record in graph.recordings():
        record()
    assert [first, *line] == list(speech_lm.generate(LINE, sampler_of(speech_lm, 1)))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8])
def test_verified_tokens_equal_recorded_ones(reference: Path, family: str, precision: Precision) -> None:
    """On a GPU, greedily: with right, wrong and missing proposals, and of a line that others join."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    plain = checkpoint_of(reference, family).load_speech_lm(precision, "cuda:0")
    assert isinstance(plain, TorchSpeechLM)
    graph = successive(plain)
    wanted = list(plain.generate(LINE, GreedySampler()))
    count = SpeculationCount()
    for _ in range(3):
        made = list(graph.generate(replace(LINE, speculation=count), GreedySampler()))
        assert made == wanted if precision is Precision.FLOAT32 else made[:5] == wanted[:5]
    assert count.num_accepted > 0
    line, other = graph.generate(LINE, GreedySampler()), graph.generate(LINE, sampler_of(plain, 1))
    made = [*islice(line, 9), *islice(other, 1)][:9] + list(line)
    other.close()  # type: ignore[attr-defined]
    assert made == wanted if precision is Precision.FLOAT32 else made[:5] == wanted[:5]
