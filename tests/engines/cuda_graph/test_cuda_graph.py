"""The recorded step computes what the plain decoder does, and draws what the plain sampler draws.

Without a card the step runs unrecorded, in the same memory: all but the recording itself is tested here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from graph_cases import CPU, checkpoint_of

from studio.engines.candidate import Subject, Unusable
from studio.engines.cuda_graph.candidates import CANDIDATES
from studio.engines.cuda_graph.device_sampling import DeviceDraw
from studio.engines.cuda_graph.speech_lm import GraphSpeechLM
from studio.engines.cuda_graph.static_step import StaticStep
from studio.errors import SequenceTooLong
from studio.model.config import Precision, SamplingOptions
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.sampling import ForcedSampler, GreedySampler
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest, TokenSampler

REQUEST = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)), max_tokens=60)


@cache
def plain_lm(reference: Path, family: str) -> TorchSpeechLM:
    return checkpoint_of(reference, family).load_speech_lm(Precision.FLOAT32, "cpu")


@cache
def graph_lm(reference: Path, family: str) -> GraphSpeechLM:
    return GraphSpeechLM(plain_lm(reference, family))


def samplers(options: SamplingOptions) -> list[TokenSampler]:
    return [GreedySampler(), RepetitionAwareSampler(options, seed=4), ForcedSampler((1, 2, 3), end_id=10**6)]


def test_scores_equal_the_plain_decoders(reference: Path, family: str) -> None:
    """Teacher-forced over forty tokens: E7's limit for two of our computations."""
    lm = plain_lm(reference, family)
    step = StaticStep(lm.decoder, lm.head, lm.inputs.speech, capacity=512)
    plain_cache = lm.open_cache(200)
    prompt = lm.inputs.embed_request(REQUEST)
    lm.advance(prompt, plain_cache)
    lm.advance(prompt, step.cache)
    step.position.fill_(len(prompt))
    for token in range(0, 160, 4):
        wanted = lm.advance(lm.inputs.embed_speech((token,)), plain_cache)
        step.token.fill_(token)
        step.run()
        assert (step.logits - wanted).abs().max() <= 1e-4
        assert (step.logits.argmax() == wanted.argmax()).item()


def test_tokens_equal_the_plain_ones_for_every_sampler(reference: Path, family: str) -> None:
    plain, graph = plain_lm(reference, family), graph_lm(reference, family)
    for ours, theirs in zip(samplers(graph.sampling), samplers(plain.sampling), strict=True):
        made = list(graph.generate(REQUEST, ours))
        assert made == list(plain.generate(REQUEST, theirs))
        assert len(made) >= 3


def test_the_second_line_finds_nothing_of_the_first(reference: Path, family: str) -> None:
    """Memory is used again: a longer line before must not be heard in a shorter one."""
    graph = graph_lm(reference, family)
    once = list(graph.generate(REQUEST, RepetitionAwareSampler(graph.sampling, seed=7)))
    longer = SpeechTokenRequest(tuple(range(50)), (1, 2), tuple(range(60)), max_tokens=90)
    list(graph.generate(longer, RepetitionAwareSampler(graph.sampling, seed=8)))
    assert list(graph.generate(REQUEST, RepetitionAwareSampler(graph.sampling, seed=7))) == once


def test_lines_side_by_side_have_memory_of_their_own(reference: Path, family: str) -> None:
    graph = graph_lm(reference, family)
    alone = list(graph.generate(REQUEST, RepetitionAwareSampler(graph.sampling, seed=1)))
    first = graph.generate(REQUEST, RepetitionAwareSampler(graph.sampling, seed=1))
    other = graph.generate(REQUEST, RepetitionAwareSampler(graph.sampling, seed=2))
    made = []
    for token in first:
        made.append(token)
        next(other, None)
    other.close()  # type: ignore[attr-defined]
    assert made == alone


def test_too_long_is_said_before_anything_is_computed(reference: Path) -> None:
    graph = graph_lm(reference, "cosyvoice3")
    with pytest.raises(SequenceTooLong):
        graph.generate(SpeechTokenRequest((1,), max_tokens=10**6), GreedySampler())


def test_draws_equal_the_plain_samplers() -> None:
    """Thousands of tokens of one seed, repetitions, forbidden ends and all."""
    options = SamplingOptions()
    generator = torch.Generator().manual_seed(0)
    for min_tokens in (0, 30):
        plain, numbers = (RepetitionAwareSampler(options, seed=3) for _ in range(2))
        draw, token = DeviceDraw(options, 60, 1000, torch.device("cpu")), torch.zeros(1, dtype=torch.long)
        draw.begin(numbers.draw_points(1000), min_tokens=min_tokens, first_forbidden=50)
        history: list[int] = []
        num_repeated = 0
        for _ in range(1000):
            # Steep: few tokens share the nucleus, so that they come again and again.
            logits = torch.randn(60, generator=generator) * 4
            wanted = plain(logits, history, forbid=slice(50, 60) if len(history) < min_tokens else None)
            draw.draw(logits, token)
            assert int(token) == wanted
            num_repeated += wanted in history[-10:]
            history.append(wanted)
        assert num_repeated > 10, "repetitions occurred, and were drawn alike"


def test_without_a_card_the_reason_is_told(reference: Path) -> None:
    for candidate in CANDIDATES:
        found = candidate.probe(Subject(checkpoint_of(reference, "cosyvoice3"), CPU))
        assert isinstance(found, Unusable)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16])
def test_recorded_tokens_equal_the_plain_ones(reference: Path, family: str, precision: Precision) -> None:
    """Greedy, on the card itself."""
    if not torch.cuda.is_available():
        pytest.skip("no graphics card")
    plain = checkpoint_of(reference, family).load_speech_lm(precision, "cuda:0")
    made = list(GraphSpeechLM(plain).generate(REQUEST, GreedySampler()))
    wanted = list(plain.generate(REQUEST, GreedySampler()))
    assert made == wanted if precision is Precision.FLOAT32 else made[:5] == wanted[:5]
