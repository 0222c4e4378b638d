"""CosyVoice-300M's utterances against the official arrays: whole sentences, and the approximate stream."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from reference_limits import assert_equal_speech, limit_of, speech_limit
from safetensors.numpy import load_file
from table_noise import TableNoise

from studio.model.config import FlowConfig, Precision
from studio.model.flow import NonCausalFlowDecoder
from studio.model.flow.non_causal_decoder import faded
from studio.model.generations import GENERATIONS
from studio.model.official_yaml import Document
from studio.model.stages import FlowPrompt
from studio.model.vocoder import load_vocoder
from studio.pipeline.pacing import CostModel
from studio.pipeline.prompt_cache import PreparedVoice
from studio.pipeline.request import RequestControl, VoicePrompt
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.token_source import FixedTokens
from studio.pipeline.utterance import DecoderStages

pytestmark = pytest.mark.reference

FAMILY = "cosyvoice1"
SLACK = 2.0


@dataclass
class Bench:
    reference: Path
    config: FlowConfig
    flow: NonCausalFlowDecoder
    decoder: DecoderStages
    noise: TableNoise
    golden: dict[str, np.ndarray]
    inputs: dict[str, np.ndarray]
    runs: dict[str, dict[str, Any]]

    def voice(self, mode: str) -> PreparedVoice:
        """The voice as the recorded model input of ``mode`` has it. Its mel has more frames than its tokens (J2, row 5)."""
        field = f"model_input/{mode}"
        tokens = self.inputs.get(f"{field}/flow_prompt_speech_token", np.zeros((1, 0), np.int32))[0]
        mel = self.inputs.get(f"{field}/prompt_speech_feat", np.zeros((1, 0, 80), np.float32))[0]
        flow_prompt = FlowPrompt(
            tuple(int(token) for token in tokens), np.ascontiguousarray(mel), self.inputs[f"{field}/flow_embedding"][0]
        )
        prompt = VoicePrompt(mode, mode, None, 0.0, flow_prompt.speech_tokens, flow_prompt.mel, flow_prompt.embedding)
        return PreparedVoice(prompt, flow_prompt, self.flow.prepare_prompt(flow_prompt))

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

    def tokens(self, run: str) -> list[int]:
        return [int(token) for token in self.golden["tokens"][: self.runs[run]["tokens"]]]


@pytest.fixture(scope="module")
def bench(reference: Path) -> Bench:
    folder = reference / FAMILY
    generation = next(known for known in GENERATIONS if known.name == FAMILY)
    root = Document(folder / "checkpoint" / generation.yaml_name).root
    config = generation.read_flow(root)
    flow = NonCausalFlowDecoder.load(folder / "checkpoint" / "flow.pt", config, Precision.FLOAT32, "cpu")
    vocoder = load_vocoder(folder / "checkpoint" / "hift.pt", generation.read_vocoder(root), Precision.FLOAT32, "cpu")
    tables = {
        name: torch.from_numpy(table) for name, table in load_file(reference / "inputs" / "noise.safetensors").items()
    }
    table = tables["z"].t()
    flow._model.draw_noise = lambda *_: lambda count: table[torch.arange(count) % len(table)]  # type: ignore[method-assign]
    return Bench(
        reference=reference,
        config=config,
        flow=flow,
        decoder=DecoderStages(flow, vocoder, CostModel(config, generation.token_rate)),
        noise=TableNoise(tables["gauss"], wraps=True, phases=tables["phase"].flatten()),
        golden=load_file(folder / "golden" / "e2e.safetensors"),
        inputs=load_file(folder / "golden" / "frontend.safetensors"),
        runs={run["name"]: run for run in json.loads((folder / "golden" / "e2e.json").read_text("utf-8"))["runs"]},
    )


@pytest.mark.slow
@pytest.mark.parametrize("run", ["full", "speed13", "sft", "stream_short", "vc", "greedy"])
def test_whole_sentences_equal_the_official_ones(bench: Bench, run: str) -> None:
    """A stream that is shorter than its first chunk is one sentence, too."""
    described = bench.runs[run]
    if run == "vc":
        tokens = [int(token) for token in bench.inputs["model_input/vc/source_speech_token"][0]]
    elif run == "greedy":
        tokens = bench.golden["greedy/llm_tokens"].tolist()
    else:
        tokens = bench.tokens(run)
    options = SpeechOptions(is_streaming=run == "stream_short", speed=described["speed"])
    (chunk,) = bench.speak(described["mode"], tokens, options)
    wanted = bench.golden[f"{run}/chunk0"][0]
    assert_equal_speech(chunk, wanted, SLACK * speech_limit(bench.reference, FAMILY))


@pytest.fixture(scope="module")
def streamed(bench: Bench) -> list[np.ndarray]:
    return bench.speak("zero_shot", bench.tokens("stream"), SpeechOptions())


def official_chunks(bench: Bench) -> list[int]:
    return [call["tokens"] for name, call in bench.runs["stream"]["calls"] if name == "flow"]


@pytest.mark.slow
def test_streamed_mel_equals_the_official_one_outside_of_fades(bench: Bench) -> None:
    """Every chunk is that of the official program. In fades, our weights add up to one (J2, row 12)."""
    limit = SLACK * limit_of(bench.reference, FAMILY, "e2e:*/flow*_mel")
    tokens, overlap = bench.tokens("stream"), bench.flow.lookahead_tokens
    stream = bench.flow.open_stream(bench.voice("zero_shot").flow_state)
    start, held = 0, np.zeros((80, 0), np.float32)
    counts = official_chunks(bench)
    assert len(counts) > 2
    for index, count in enumerate(counts):
        is_last = index == len(counts) - 1
        end = start + count if is_last else start + count - overlap
        mel = stream.decode(tokens[start:end], () if is_last else tokens[end : end + overlap]).numpy()
        official = bench.golden[f"stream/flow{index}_mel"][0]
        frames = held.shape[1]
        wanted = official[:, : mel.shape[1]].copy()
        if frames:
            pair = (torch.from_numpy(np.ascontiguousarray(part.T)) for part in (held, official[:, :frames]))
            wanted[:, :frames] = faded(*pair).t().numpy()
        np.testing.assert_allclose(mel, wanted, rtol=0, atol=limit)
        start, held = end, official[:, mel.shape[1] :]
    assert start == len(tokens)
    stream.close()


@pytest.mark.slow
def test_streamed_audio_has_the_official_lengths_and_first_chunk(bench: Bench, streamed: list[np.ndarray]) -> None:
    """Later official chunks begin with new noise and phases."""
    assert [len(chunk) for chunk in streamed] == bench.runs["stream"]["chunk_samples"]
    limit = SLACK * speech_limit(bench.reference, FAMILY)
    np.testing.assert_allclose(streamed[0], bench.golden["stream/chunk0"][0], rtol=0, atol=limit)


@pytest.mark.slow
def test_the_second_request_equals_the_first(bench: Bench, streamed: list[np.ndarray]) -> None:
    again = bench.speak("zero_shot", bench.tokens("stream"), SpeechOptions())
    assert all(np.array_equal(a, b) for a, b in zip(streamed, again, strict=True))
