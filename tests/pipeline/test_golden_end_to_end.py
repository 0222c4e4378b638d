"""Whole utterances against the arrays of the official implementation, both generations.

Where a defect of the official program is repaired (specification J2), what is compared is the run that
has the repaired meaning, and the test says which repair it is.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from reference_limits import limit_of, official_first_hop, speech_limit
from safetensors.numpy import load_file
from samplers import GreedySampler
from table_noise import TableNoise

from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.model.stages import FlowPrompt, SourceNoise, SpeechTokenRequest
from studio.pipeline.evidence import filter_silent_tokens
from studio.pipeline.pacing import CostModel
from studio.pipeline.prompt_cache import PreparedVoice
from studio.pipeline.request import RequestControl, VoicePrompt
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.token_source import FixedTokens
from studio.pipeline.utterance import DecoderStages
from studio.text.segmentation import Sentence, prepare_text

pytestmark = pytest.mark.reference

# The limit is the difference between two runs of the reference.
SLACK = 2.0
SAMPLES_PER_TOKEN = 960
LOOK_AHEAD_TOKENS = 3


@dataclass
class Bench:
    """A small checkpoint and its reference arrays."""

    family: str
    checkpoint: Checkpoint
    decoder: DecoderStages
    golden: dict[str, np.ndarray]
    inputs: dict[str, np.ndarray]
    noise: SourceNoise
    runs: dict[str, dict[str, Any]]
    speech_limit: float
    mel_limit: float

    def voice(self, mode: str) -> PreparedVoice:
        """The voice as the recorded model input of ``mode`` has it, tokens and mel 1 : 2 (J2, row 8)."""
        field = f"model_input/{mode}"
        tokens = self.inputs[f"{field}/flow_prompt_speech_token"][0]
        mel = self.inputs[f"{field}/prompt_speech_feat"][0]
        length = min(len(tokens), len(mel) // 2)
        prompt = VoicePrompt(
            key=mode,
            name=mode,
            transcript=None,
            clip_seconds=length / 25,
            speech_tokens=tuple(int(token) for token in tokens[:length]),
            mel=np.ascontiguousarray(mel[: 2 * length]),
            embedding=self.inputs[f"{field}/flow_embedding"][0],
        )
        flow_prompt = FlowPrompt(prompt.speech_tokens, prompt.mel, prompt.embedding)
        return PreparedVoice(prompt, flow_prompt, self.decoder.flow.prepare_prompt(flow_prompt))

    def speak(self, mode: str, tokens: list[int], options: SpeechOptions) -> list[np.ndarray]:
        speech = SpeechStream(
            voice=self.voice(mode),
            decoder=self.decoder,
            options=options,
            control=RequestControl(),
            make_noise=lambda _index: self.noise,
            started=time.perf_counter(),
        )
        return [chunk.samples for chunk in speech.stream([SentenceTask(open_feed=lambda: FixedTokens(tokens))])]

    def tokens(self, count: int) -> list[int]:
        return [int(token) for token in self.golden["tokens"][:count]]

    def assert_speech(self, ours: np.ndarray, name: str) -> None:
        theirs = self.golden[name][0]
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=SLACK * self.speech_limit)


@pytest.fixture(scope="module")
def noise_tables(reference: Path) -> dict[str, np.ndarray]:
    return load_file(reference / "inputs" / "noise.safetensors")


@pytest.fixture(scope="module", params=["cosyvoice2", "cosyvoice3"])
def bench(request: pytest.FixtureRequest, reference: Path, noise_tables: dict[str, np.ndarray]) -> Bench:
    family = request.param
    checkpoint = open_checkpoint(reference / family / "checkpoint")
    described = json.loads((reference / family / "golden" / "e2e.json").read_text("utf-8"))
    table = torch.from_numpy(noise_tables["gauss" if family == "cosyvoice2" else "uniform"])
    return Bench(
        family=family,
        checkpoint=checkpoint,
        decoder=DecoderStages(
            checkpoint.load_flow(Precision.FLOAT32, "cpu"),
            checkpoint.load_vocoder(Precision.FLOAT32, "cpu"),
            CostModel(checkpoint.flow),
        ),
        golden=load_file(reference / family / "golden" / "e2e.safetensors"),
        inputs=load_file(reference / family / "golden" / "frontend.safetensors"),
        noise=TableNoise(table, wraps=True),
        runs={run["name"]: run for run in described["runs"]},
        speech_limit=speech_limit(reference, family),
        mel_limit=limit_of(reference, family, "e2e:*/flow*_mel"),
    )


@pytest.mark.slow
def test_whole_utterance(bench: Bench) -> None:
    (chunk,) = bench.speak("zero_shot", bench.tokens(bench.runs["full"]["tokens"]), SpeechOptions(is_streaming=False))
    bench.assert_speech(chunk, "full/chunk0")


@pytest.mark.slow
def test_whole_utterance_at_another_speed(bench: Bench) -> None:
    run = bench.runs["speed13"]
    options = SpeechOptions(is_streaming=False, speed=run["speed"])
    (chunk,) = bench.speak("zero_shot", bench.tokens(run["tokens"]), options)
    bench.assert_speech(chunk, "speed13/chunk0")


def official_stream(bench: Bench) -> list[np.ndarray]:
    first_hop = official_first_hop(bench.voice("zero_shot").prompt.num_tokens)
    tokens = bench.tokens(bench.runs["stream"]["tokens"])
    return bench.speak("zero_shot", tokens, SpeechOptions(first_hop_tokens=first_hop))


@pytest.fixture(scope="module")
def streamed(bench: Bench) -> list[np.ndarray]:
    return official_stream(bench)


@pytest.mark.slow
def test_streamed_audio_is_never_later_than_the_official_one(bench: Bench, streamed: list[np.ndarray]) -> None:
    """Our vocoder of CosyVoice3 holds back only 4 frames and 4 samples, the official one 8 frames."""
    run = bench.runs["stream"]
    ours = np.cumsum([len(chunk) for chunk in streamed])
    earlier = {"cosyvoice2": 0, "cosyvoice3": 4 * 480 - 4}[bench.family]
    *before_the_last, whole = np.cumsum(run["chunk_samples"]).tolist()
    assert ours.tolist() == [*(samples + earlier for samples in before_the_last), whole]
    assert whole == SAMPLES_PER_TOKEN * run["tokens"]


@pytest.mark.slow
def test_streamed_audio_before_the_last_chunk(bench: Bench, streamed: list[np.ndarray]) -> None:
    """The last chunk is computed with the streaming masks, not with full attention (J2, row 2).

    CosyVoice2's later chunks draw new noise in the official program, and its cross-fade adds up to 1.08
    (J2, rows 12 and 20): there the first chunk is compared, and the mel of all.
    """
    ours = np.concatenate(streamed)
    count = 1 if bench.family == "cosyvoice2" else len(bench.runs["stream"]["chunk_samples"]) - 1
    theirs = np.concatenate([bench.golden[f"stream/chunk{index}"][0] for index in range(count)])
    np.testing.assert_allclose(ours[: len(theirs)], theirs, rtol=0, atol=SLACK * bench.speech_limit)


@pytest.mark.slow
def test_streamed_mel_before_the_last_chunk(bench: Bench) -> None:
    voice, flow = bench.voice("zero_shot"), bench.decoder.flow
    run = bench.runs["stream"]
    calls = [call for name, call in run["calls"] if name == "flow" and not call["finalize"]]
    ends = [call["tokens"] - LOOK_AHEAD_TOKENS for call in calls]
    assert ends[0] == official_first_hop(voice.prompt.num_tokens)
    stream, tokens, mels = flow.open_stream(voice.flow_state), bench.tokens(run["tokens"]), []
    for start, end in itertools.pairwise([0, *ends]):
        mels.append(stream.decode(tokens[start:end], tokens[end : end + LOOK_AHEAD_TOKENS]))
    stream.close()
    theirs = bench.golden[f"stream/flow{len(calls) - 1}_mel"][0]
    np.testing.assert_allclose(torch.cat(mels, dim=1).numpy(), theirs, rtol=0, atol=SLACK * bench.mel_limit)


@pytest.mark.slow
def test_the_second_request_equals_the_first(bench: Bench, streamed: list[np.ndarray]) -> None:
    """The official hop is never reset (J2, row 1)."""
    assert len(streamed) > 1
    assert all(np.array_equal(a, b) for a, b in zip(streamed, official_stream(bench), strict=True))


@pytest.mark.slow
def test_fewer_tokens_than_a_first_chunk_are_one_chunk(bench: Bench) -> None:
    run = bench.runs["stream_short"]
    first_hop = official_first_hop(bench.voice(run["mode"]).prompt.num_tokens)
    chunks = bench.speak(run["mode"], bench.tokens(run["tokens"]), SpeechOptions(first_hop_tokens=first_hop))
    assert [len(chunk) for chunk in chunks] == run["chunk_samples"]


@pytest.mark.slow
def test_voice_conversion_decodes_every_token(bench: Bench) -> None:
    """In the official program, prompt tokens and mel differ by 2 frames here (J2, row 8)."""
    source = [int(token) for token in bench.inputs["model_input/vc/source_speech_token"][0]]
    (chunk,) = bench.speak("vc", source, SpeechOptions(is_streaming=False))
    assert len(chunk) == SAMPLES_PER_TOKEN * len(source)
    assert np.isfinite(chunk).all()


def greedy(bench: Bench, request: SpeechTokenRequest, count: int) -> Iterator[int]:
    speech_lm = bench.checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    stop = slice(bench.checkpoint.speech_lm.layout.num_speech_tokens, None)

    class LikeliestSpeechToken(GreedySampler):
        def __call__(self, logits: torch.Tensor, history: object, *, forbid: slice | None) -> int:
            return super().__call__(logits, (), forbid=stop)

    tokens = speech_lm.generate(request, LikeliestSpeechToken())
    return itertools.islice(tokens, count)


@pytest.mark.slow
def test_language_model_flow_and_vocoder_together(bench: Bench) -> None:
    field = "model_input/instruct2"
    request = SpeechTokenRequest(
        text_tokens=tuple(bench.inputs[f"{field}/text"][0].tolist()),
        prompt_text_tokens=tuple(bench.inputs[f"{field}/prompt_text"][0].tolist()),
    )
    tokens = list(greedy(bench, request, bench.runs["greedy"]["greedy_steps"]))
    assert tokens == bench.golden["greedy/llm_tokens"].tolist()
    (chunk,) = bench.speak("instruct2", tokens, SpeechOptions(is_streaming=False))
    bench.assert_speech(chunk, "greedy/chunk0")


@pytest.mark.slow
def test_synthesis_from_text_to_audio(bench: Bench, reference: Path) -> None:
    """Text, transcript and a clip, with our text processing and one request per sentence."""
    described = json.loads((reference / bench.family / "golden" / "e2e.json").read_text("utf-8"))["api"]
    form, tokenizer = bench.checkpoint.generation.text, bench.checkpoint.load_text_tokenizer()
    items = prepare_text(described["tts_text"], form=form, tokenizer=tokenizer)
    assert [item.spoken.strip() for item in items if isinstance(item, Sentence)] == described["sentences"]
    prompt_text = form.zero_shot(described["prompt_text"], tokenizer)
    inputs = json.loads((reference / bench.family / "golden" / "frontend.json").read_text("utf-8"))["model_input"]
    mode = next(
        mode for mode, given in inputs.items() if given.get("prompt_wav") == described["prompt_wav"] and mode != "vc"
    )
    voice = bench.voice(mode)
    for index, item in enumerate(items):
        assert isinstance(item, Sentence)
        request = SpeechTokenRequest(item.text_tokens, prompt_text, voice.prompt.speech_tokens)
        official = bench.golden["api/llm_tokens"][index].tolist()
        tokens = list(greedy(bench, request, len(official)))
        assert tokens == official
        (chunk,) = bench.speak(mode, tokens, SpeechOptions(is_streaming=False))
        bench.assert_speech(chunk, f"api/chunk{index}")


def test_the_silent_token_filter(bench: Bench) -> None:
    if not bench.checkpoint.generation.silent_tokens:
        assert "silent/in" not in bench.golden
        return
    kept = filter_silent_tokens(iter(bench.golden["silent/in"].tolist()), bench.checkpoint.generation.silent_tokens)
    assert list(kept) == bench.golden["silent/out"].tolist()
