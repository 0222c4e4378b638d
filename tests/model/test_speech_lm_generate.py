"""Properties of generation: exact caches, limits, seeds, concurrent utterances."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samplers import ForcedSampler, GreedySampler
from speech_lm_cases import RecordingSampler, random_network, small_config

from studio.errors import SequenceTooLong
from studio.model.config import SpeechLMConfig
from studio.model.speech_lm import RepetitionAwareSampler, TorchSpeechLM, build_speech_lm
from studio.model.speech_lm.network import SpeechLMNetwork
from studio.model.stages import SpeechTokenRequest

REQUEST = SpeechTokenRequest(tuple(range(9)), tuple(range(20, 33)), tuple(range(11)))


@pytest.fixture(scope="module", params=[True, False], ids=["second", "third"])
def config(request: pytest.FixtureRequest) -> SpeechLMConfig:
    return small_config(is_second=request.param)


@pytest.fixture(scope="module")
def network(config: SpeechLMConfig) -> SpeechLMNetwork:
    return random_network(config)


@pytest.fixture(scope="module")
def speech_lm(network: SpeechLMNetwork) -> TorchSpeechLM:
    return build_speech_lm(network)


def sampler(speech_lm: TorchSpeechLM, seed: int = 0) -> RepetitionAwareSampler:
    return RepetitionAwareSampler(speech_lm.sampling, seed)


@settings(max_examples=25)
@given(data=st.data())
def test_scores_do_not_depend_on_the_division_into_passes(
    data: st.DataObject, network: SpeechLMNetwork, speech_lm: TorchSpeechLM
) -> None:
    """For any number of tokens per pass and any cache capacity."""
    ids = data.draw(st.lists(st.integers(0, 49), min_size=1, max_size=40))
    embeddings = network.inputs.embed_speech(ids)
    with torch.inference_mode():
        expected = network.logits(network(embeddings[None])[0])
    cache = speech_lm.open_cache(data.draw(st.integers(1, 50)))
    position = 0
    while position < len(ids):
        step = data.draw(st.integers(1, len(ids) - position))
        scores = speech_lm.advance(embeddings[position : position + step], cache)
        position += step
        assert cache.length == position
        assert (scores - expected[position - 1]).abs().max() <= 1e-4


def test_generate_equals_the_plain_network_over_the_whole_sequence(
    network: SpeechLMNetwork, speech_lm: TorchSpeechLM
) -> None:
    recorder = RecordingSampler(sampler(speech_lm))
    tokens = list(speech_lm.generate(replace(REQUEST, min_tokens=30, max_tokens=30), recorder))
    inputs = network.inputs
    embeddings = torch.cat((inputs.embed_request(REQUEST), inputs.embed_speech(tokens[:-1])))
    with torch.inference_mode():
        expected = network.logits(network(embeddings[None])[0, -30:])
    assert (torch.stack(recorder.scores) - expected).abs().max() <= 1e-4


def test_gradients_reach_every_weight(config: SpeechLMConfig) -> None:
    network = random_network(config).requires_grad_(True)
    hidden = network(network.inputs.embed_request(REQUEST)[None])
    network.logits(hidden).log_softmax(dim=-1)[0, -1, 3].backward()
    without = [name for name, weight in network.named_parameters() if weight.grad is None]
    assert without == []


def test_rows_of_a_padded_batch_equal_single_runs(network: SpeechLMNetwork) -> None:
    long = network.inputs.embed_speech(list(range(20)))
    short = torch.cat((long[5:12], torch.zeros(13, long.shape[1])))
    with torch.inference_mode():
        both = network(torch.stack((long, short)))
        assert torch.allclose(both[1, :7], network(long[None, 5:12])[0], atol=1e-5)


@pytest.mark.slow
def test_equal_seeds_generate_equal_tokens_and_other_seeds_differ(speech_lm: TorchSpeechLM) -> None:
    request = replace(REQUEST, min_tokens=40, max_tokens=40)
    first, again, other = (list(speech_lm.generate(request, sampler(speech_lm, seed))) for seed in (3, 3, 4))
    assert first == again != other


def test_global_generator_is_neither_used_nor_changed(speech_lm: TorchSpeechLM) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    list(speech_lm.generate(replace(REQUEST, max_tokens=10), sampler(speech_lm)))
    assert torch.equal(before, torch.get_rng_state())


def test_streams_do_not_mix(speech_lm: TorchSpeechLM) -> None:
    """Two alternating utterances equal separate ones."""
    other_request = replace(REQUEST, text_tokens=tuple(range(40, 52)), min_tokens=25, max_tokens=25)
    request = replace(REQUEST, min_tokens=25, max_tokens=25)
    alone = [list(speech_lm.generate(r, sampler(speech_lm, 5))) for r in (request, other_request)]
    streams = [speech_lm.generate(r, sampler(speech_lm, 5)) for r in (request, other_request)]
    in_turns = list(zip(*streams, strict=True))
    assert [list(tokens) for tokens in zip(*in_turns, strict=True)] == alone


@pytest.mark.slow
@pytest.mark.parametrize("num_taken", [0, 1, 2, 7])
def test_closing_early_frees_the_utterance_without_effect_on_the_next(speech_lm: TorchSpeechLM, num_taken: int) -> None:
    request = replace(REQUEST, min_tokens=20, max_tokens=20)
    expected = list(speech_lm.generate(request, sampler(speech_lm, 1)))
    own_sampler = sampler(speech_lm, 1)
    stream = speech_lm.generate(request, own_sampler)
    assert [next(stream) for _ in range(num_taken)] == expected[:num_taken]
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []
    gone = weakref.ref(own_sampler)
    del own_sampler, stream
    gc.collect()
    assert gone() is None
    assert list(speech_lm.generate(request, sampler(speech_lm, 1))) == expected


def test_autograd_and_inference_mode_do_not_leak_between_tokens(speech_lm: TorchSpeechLM) -> None:
    for _ in speech_lm.generate(replace(REQUEST, max_tokens=3), sampler(speech_lm)):
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()


def test_nothing_is_computed_after_the_last_token(speech_lm: TorchSpeechLM, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    advance = speech_lm.advance
    monkeypatch.setattr(speech_lm, "advance", lambda *given: passes.append(1) or advance(*given))
    list(speech_lm.generate(replace(REQUEST, min_tokens=6, max_tokens=6), sampler(speech_lm)))
    assert len(passes) == 6


@pytest.mark.parametrize(("num_text", "expected"), [(0, 0), (1, 20), (4, 80)])
def test_speech_is_limited_to_twenty_tokens_per_text_token(
    speech_lm: TorchSpeechLM, num_text: int, expected: int
) -> None:
    request = SpeechTokenRequest(tuple(range(num_text)), prompt_text_tokens=tuple(range(10)))
    never_ending = ForcedSampler([7] * 1000, end_id=speech_lm.config.layout.end_id)
    assert list(speech_lm.generate(request, never_ending)) == [7] * expected


def test_no_stop_id_is_permitted_below_the_minimum(speech_lm: TorchSpeechLM) -> None:
    """Even if the model always prefers to stop (J2, row 6)."""
    layout = speech_lm.config.layout

    class WantsToStop(GreedySampler):
        def __call__(self, logits: torch.Tensor, history: list[int], *, forbid: slice | None) -> int:
            eager = logits.clone()
            eager[layout.num_speech_tokens :] += 1000.0
            return super().__call__(eager, history, forbid=forbid)

    assert len(list(speech_lm.generate(REQUEST, WantsToStop()))) == 2 * len(REQUEST.text_tokens)
    assert list(speech_lm.generate(replace(REQUEST, min_tokens=0), WantsToStop())) == []


def test_minimum_above_the_maximum_is_lowered_to_it(speech_lm: TorchSpeechLM) -> None:
    assert len(list(speech_lm.generate(replace(REQUEST, max_tokens=3), GreedySampler()))) == 3


def test_a_sequence_beyond_the_model_is_refused_before_anything_is_computed() -> None:
    config = small_config(max_positions=60)
    speech_lm = build_speech_lm(random_network(config))
    prefix = 2 + len(REQUEST.text_tokens) + len(REQUEST.prompt_text_tokens) + len(REQUEST.prompt_speech_tokens)
    fits = replace(REQUEST, min_tokens=60 - prefix, max_tokens=60 - prefix)
    assert len(list(speech_lm.generate(fits, GreedySampler()))) == 60 - prefix
    with pytest.raises(SequenceTooLong) as caught:
        speech_lm.generate(replace(fits, max_tokens=61 - prefix), GreedySampler())
    assert "61 tokens; the limit of the model is 60" in str(caught.value.problem)
    assert "shorter" in str(caught.value.remedy)


@pytest.mark.slow
def test_prompt_cache_is_bounded_and_does_not_change_results(speech_lm: TorchSpeechLM) -> None:
    def speak(voice: int) -> list[int]:
        request = SpeechTokenRequest((1, 2, 3), prompt_text_tokens=(voice, voice + 1), min_tokens=8, max_tokens=8)
        return list(speech_lm.generate(request, sampler(speech_lm, voice)))

    voices = range(20)
    first = [speak(voice) for voice in voices]
    assert [speak(voice) for voice in voices] == first
    assert len(speech_lm._prompt_states) == 8
