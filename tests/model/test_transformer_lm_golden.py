"""The speech language model of CosyVoice-300M equals the recorded official one."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from reference_limits import limit_of
from safetensors.torch import load_file
from samplers import GreedySampler
from speech_lm_cases import RecordingSampler

from studio.model.checkpoint import open_checkpoint
from studio.model.config import TransformerLMConfig
from studio.model.speech_lm import TransformerSpeechLM, load_speech_lm, open_network
from studio.model.speech_lm.transformer_network import TransformerLMNetwork
from studio.model.stages import SpeechTokenRequest
from studio.text.tokenizer import COSYVOICE1_TEXT, TextTokenizer

pytestmark = pytest.mark.reference
FAMILY = "cosyvoice1"


@dataclass(frozen=True)
class Golden:
    weights: Path
    config: TransformerLMConfig
    facts: dict[str, Any]
    arrays: dict[str, torch.Tensor]
    features: dict[str, torch.Tensor]

    def request(self, mode: str, **limits: int) -> SpeechTokenRequest:
        def values(name: str) -> tuple[Any, ...]:
            array = self.features.get(f"model_input/{mode}/{name}")
            return () if array is None else tuple(array[0].tolist())

        return SpeechTokenRequest(
            values("text"),
            values("prompt_text"),
            values("llm_prompt_speech_token"),
            speaker=values("llm_embedding") or None,
            **limits,
        )


@pytest.fixture(scope="module")
def golden(reference: Path) -> Golden:
    folder = reference / FAMILY
    if not folder.is_dir():
        pytest.skip(f"the reference folder has no {FAMILY}")
    checkpoint = open_checkpoint(folder / "checkpoint")
    assert isinstance(checkpoint.speech_lm, TransformerLMConfig)
    return Golden(
        weights=checkpoint.speech_lm_path(),
        config=checkpoint.speech_lm,
        facts=json.loads((folder / "golden" / "llm.json").read_text("utf-8")),
        arrays=load_file(folder / "golden" / "llm.safetensors"),
        features=load_file(folder / "golden" / "frontend.safetensors"),
    )


@pytest.fixture(scope="module")
def network(golden: Golden) -> TransformerLMNetwork:
    return open_network(golden.weights, golden.config)


@pytest.fixture(scope="module")
def speech_lm(golden: Golden) -> TransformerSpeechLM:
    loaded = load_speech_lm(golden.weights, golden.config)
    assert isinstance(loaded, TransformerSpeechLM)
    return loaded


@pytest.fixture(params=["zero_shot", "instruct", "cross_lingual", "sft"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def difference(ours: torch.Tensor, recorded: torch.Tensor) -> float:
    assert ours.shape == recorded.shape
    return float((ours - recorded).abs().max())


def test_input_is_start_speaker_encoded_text_task_and_prompt_speech(
    golden: Golden, network: TransformerLMNetwork, reference: Path, mode: str
) -> None:
    with torch.inference_mode():
        embeddings = network.embed_request(golden.request(mode))
    limit = 2 * limit_of(reference, FAMILY, "llm:*/lm_input")
    assert difference(embeddings, golden.arrays[f"{mode}/lm_input"][0]) <= limit


def test_hidden_states_of_the_plain_network(
    golden: Golden, network: TransformerLMNetwork, reference: Path, mode: str
) -> None:
    with torch.inference_mode():
        hidden = network(golden.arrays[f"{mode}/lm_input"])
    assert difference(hidden, golden.arrays[f"{mode}/hidden"]) <= 2 * limit_of(reference, FAMILY, "llm:*/hidden")


def test_scores_of_forced_tokens_step_by_step(
    golden: Golden, speech_lm: TransformerSpeechLM, reference: Path, mode: str
) -> None:
    forced = golden.arrays[f"{mode}/forced_tokens"].tolist()
    request = golden.request(mode)
    cache = speech_lm.open_cache(speech_lm.lengths(request)[2])
    embeddings = speech_lm.begin(request, cache)
    for token, recorded in zip(forced, golden.arrays[f"{mode}/forced_logp"], strict=False):
        ours = speech_lm.advance(embeddings, cache).log_softmax(dim=0)
        assert difference(ours, recorded) <= 2 * limit_of(reference, FAMILY, "llm:*logp")
        embeddings = speech_lm.embed_speech((token,))


def test_the_plain_network_scores_like_the_fast_one(
    golden: Golden, network: TransformerLMNetwork, speech_lm: TransformerSpeechLM, mode: str
) -> None:
    request = golden.request(mode, min_tokens=12, max_tokens=12)
    sampler = RecordingSampler(GreedySampler())
    tokens = list(speech_lm.generate(request, sampler))
    with torch.inference_mode():
        wanted = network.scores(request, tokens)
    assert difference(torch.stack(sampler.scores), wanted) <= 1e-4


def test_sampler_receives_the_first_scores_with_the_end_forbidden(
    golden: Golden, speech_lm: TransformerSpeechLM, reference: Path, mode: str
) -> None:
    sampler = RecordingSampler(GreedySampler())
    next(iter(speech_lm.generate(golden.request(mode), sampler)))
    recorded = golden.arrays[f"{mode}/scores_step0"]
    is_open = ~torch.isneginf(recorded)
    stop_ids = golden.config.layout.stop_ids
    assert (~is_open).nonzero().flatten().tolist() == list(stop_ids)
    assert sampler.forbidden[0] == slice(stop_ids.start, stop_ids.stop)
    ours = sampler.scores[0].log_softmax(dim=0)
    assert difference(ours[is_open], recorded[is_open]) <= 2 * limit_of(reference, FAMILY, "llm:*logp")


@pytest.mark.slow
def test_greedy_tokens_until_the_end(golden: Golden, speech_lm: TransformerSpeechLM, mode: str) -> None:
    facts, recorded = golden.facts["modes"][mode], golden.arrays[f"{mode}/greedy_tokens"].tolist()
    request = golden.request(mode)
    assert speech_lm.lengths(request)[:2] == (facts["min_len"], facts["max_len"])
    sampler = RecordingSampler(GreedySampler())
    generated = speech_lm.generate(request, sampler)
    assert [next(generated) for _ in recorded] == recorded
    if facts["greedy_steps"] == facts["greedy_yielded"] + 1 and facts["greedy_yielded"] >= facts["min_len"]:
        follows = next(generated, None)
        assert follows is None or len(recorded) == 80, "the recording is cut after 80 tokens"


@pytest.mark.slow
def test_greedy_speech_tokens(golden: Golden, speech_lm: TransformerSpeechLM, mode: str) -> None:
    recorded = golden.arrays[f"{mode}/greedy_speech_tokens"].tolist()
    request = golden.request(mode, min_tokens=len(recorded), max_tokens=len(recorded))
    assert list(speech_lm.generate(request, GreedySampler())) == recorded


def test_the_second_request_of_a_voice_equals_the_first(
    golden: Golden, speech_lm: TransformerSpeechLM, mode: str
) -> None:
    """The second run uses the cached prompt, and its scores are bit-identical."""
    first, second = RecordingSampler(GreedySampler()), RecordingSampler(GreedySampler())
    request = golden.request(mode, min_tokens=5, max_tokens=5)
    assert list(speech_lm.generate(request, first)) == list(speech_lm.generate(request, second))
    assert all(torch.equal(a, b) for a, b in zip(first.scores, second.scores, strict=True))


def test_speakers_do_not_share_a_cached_prompt(golden: Golden, speech_lm: TransformerSpeechLM) -> None:
    one = golden.request("sft", min_tokens=2, max_tokens=2)
    assert one.speaker is not None
    other = replace(one, speaker=tuple(-value for value in one.speaker))
    first, second = RecordingSampler(GreedySampler()), RecordingSampler(GreedySampler())
    list(speech_lm.generate(one, first))
    list(speech_lm.generate(other, second))
    assert not torch.equal(first.scores[0], second.scores[0])


@pytest.mark.slow
def test_length_rules(golden: Golden, speech_lm: TransformerSpeechLM) -> None:
    for rule in golden.facts["length_rules"]:
        request = golden.request(rule["mode"])
        request = replace(request, text_tokens=request.text_tokens[: rule["text_tokens_used"]])
        sampler = RecordingSampler(lambda logits, history, forbid: 7)
        assert list(speech_lm.generate(request, sampler)) == [7] * rule["yielded"]
        first = rule["first_steps_with_masked_id"]
        assert [forbid is not None for forbid in sampler.forbidden] == [step < first for step in range(rule["yielded"])]


def test_stop_rules(golden: Golden, speech_lm: TransformerSpeechLM) -> None:
    request = golden.request("cross_lingual")
    for rule in golden.facts["stop_rules"]:

        def choose(logits: torch.Tensor, history: list[int], forbid: slice | None) -> int:
            return int(rule["sampled_id"]) if len(history) == rule["at_step"] else 7  # noqa: B023 called at once

        assert list(speech_lm.generate(request, choose)) == rule["yielded"]


@pytest.mark.slow
def test_tokens_of_the_run_from_text_to_audio(golden: Golden, speech_lm: TransformerSpeechLM, reference: Path) -> None:
    """The recorded end-to-end runs, from strings: an instruction, and the two sentences of a cloned voice."""
    folder, tokenizer = reference / FAMILY / "golden", TextTokenizer.whisper()
    described = json.loads((folder / "e2e.json").read_text("utf-8"))
    recorded = load_file(folder / "e2e.safetensors")
    run = next(run for run in described["runs"] if run["name"] == "greedy")
    request = golden.request(run["mode"], min_tokens=run["greedy_steps"], max_tokens=run["greedy_steps"])
    assert list(speech_lm.generate(request, GreedySampler())) == recorded["greedy/llm_tokens"].tolist()
    api = described["api"]
    inputs = json.loads((folder / "frontend.json").read_text("utf-8"))["model_input"]
    mode = next(
        mode for mode, given in inputs.items() if "prompt_text" in given and given["prompt_wav"] == api["prompt_wav"]
    )
    clip = golden.request(mode, min_tokens=api["greedy_steps"], max_tokens=api["greedy_steps"])
    for sentence, tokens in zip(api["sentences"], recorded["api/llm_tokens"].tolist(), strict=True):
        spoken = replace(
            clip,
            text_tokens=tokenizer.encode(sentence, allow_special=False),
            prompt_text_tokens=COSYVOICE1_TEXT.zero_shot(api["prompt_text_as_used"], tokenizer),
        )
        assert list(speech_lm.generate(spoken, GreedySampler())) == tokens
