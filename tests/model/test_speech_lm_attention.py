"""Attention of the language model to its text: recorded while generating, computed afterwards, and its heads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from speech_lm_cases import random_network, small_config

from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM, build_speech_lm
from studio.model.speech_lm.alignment_heads import choose_alignment_heads, forced_attention
from studio.model.stages import AttentionHead, AttentionTrace, SpeechTokenRequest

REQUEST = SpeechTokenRequest(tuple(range(9)), tuple(range(20, 33)), tuple(range(11)), min_tokens=20)
HEADS = (AttentionHead(0, 1), AttentionHead(1, 0))


@pytest.fixture(scope="module")
def speech_lm() -> TorchSpeechLM:
    return build_speech_lm(random_network(small_config(is_second=False)))


def generate(speech_lm: TorchSpeechLM, request: SpeechTokenRequest) -> list[int]:
    return list(speech_lm.generate(request, RepetitionAwareSampler(speech_lm.sampling, 3)))


def test_a_trace_changes_no_score(speech_lm: TorchSpeechLM) -> None:
    """Bit for bit: every logit that the sampler receives, and therefore every token."""
    seen: dict[bool, list[torch.Tensor]] = {False: [], True: []}
    tokens = {}
    for is_traced in (False, True):
        inner = RepetitionAwareSampler(speech_lm.sampling, 3)

        def sample(
            logits: torch.Tensor,
            history: list[int],
            *,
            forbid: slice | None,
            inner: RepetitionAwareSampler = inner,
            scores: list[torch.Tensor] = seen[is_traced],
        ) -> int:
            scores.append(logits.clone())
            return inner(logits, history, forbid=forbid)

        request = replace(REQUEST, attention=AttentionTrace(HEADS) if is_traced else None)
        tokens[is_traced] = list(speech_lm.generate(request, sample))  # type: ignore[arg-type]
    assert tokens[True] == tokens[False]
    assert len(seen[True]) >= 20
    assert all(torch.equal(with_trace, without) for with_trace, without in zip(seen[True], seen[False], strict=True))


def test_a_forced_pass_gives_the_attention_of_the_generation(speech_lm: TorchSpeechLM) -> None:
    trace = AttentionTrace(HEADS)
    tokens = generate(speech_lm, replace(REQUEST, attention=trace))
    forced = forced_attention(speech_lm, REQUEST, tokens, HEADS)
    assert trace.weights is not None
    assert forced is not None
    assert forced.shape == (len(tokens), len(REQUEST.text_tokens))
    np.testing.assert_allclose(trace.weights[: len(tokens)], forced, atol=1e-5)
    assert forced.max() <= 1.0
    assert forced.min() >= 0.0


def test_attention_is_recorded_when_the_generation_is_closed_early(speech_lm: TorchSpeechLM) -> None:
    trace = AttentionTrace(HEADS)
    generation = speech_lm.generate(replace(REQUEST, attention=trace), RepetitionAwareSampler(speech_lm.sampling, 3))
    for _ in range(5):
        next(generation)
    generation.close()  # type: ignore[attr-defined]
    assert trace.weights is not None
    assert len(trace.weights) == 5


def test_random_weights_have_no_heads_that_follow_the_text(speech_lm: TorchSpeechLM) -> None:
    sentence = (REQUEST, generate(speech_lm, REQUEST))
    assert choose_alignment_heads(speech_lm, [sentence, sentence]) == ()
    assert choose_alignment_heads(speech_lm, []) == ()


def test_second_draws_are_counted() -> None:
    sampler = RepetitionAwareSampler(speech_lm_options(), 0)
    scores = torch.full((10,), -20.0)
    scores[4] = 20.0
    history: list[int] = []
    for _ in range(5):
        history.append(sampler(scores, history, forbid=None))
    assert history[0] == 4
    assert sampler.num_second_draws == sum(token != 4 for token in history) > 0


def speech_lm_options():  # type: ignore[no-untyped-def]
    return small_config(is_second=False).sampling
