"""Times of flow and vocoder, where the program only queues their work: a GPU of virtual time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from studio.model import torch_device
from studio.model.stages import SourceNoise
from studio.pipeline.pacing import ChunkSchedule
from studio.pipeline.prompt_cache import VoiceState
from studio.pipeline.request import RequestControl
from studio.pipeline.token_source import FixedTokens
from studio.pipeline.utterance import DecoderStages, StageClock, Utterance

FLOW_SECONDS, VOCODER_SECONDS, LAUNCH_SECONDS = 3.0, 0.5, 0.01


class VirtualGpu:
    """Work that is queued within ``LAUNCH_SECONDS`` and takes longer; events as torch has them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_idle_from = 0.0

    def queue(self, seconds: float) -> None:
        self.now += LAUNCH_SECONDS
        self.is_idle_from = max(self.is_idle_from, self.now) + seconds

    def wait(self) -> None:
        self.now = max(self.now, self.is_idle_from)


class VirtualEvent:
    def __init__(self, gpu: VirtualGpu) -> None:
        self.gpu = gpu

    def record(self, _stream: object) -> None:
        self.at = max(self.gpu.now, self.gpu.is_idle_from)

    def synchronize(self) -> None:
        self.gpu.now = max(self.gpu.now, self.at)

    def elapsed_time(self, later: VirtualEvent) -> float:
        assert self.gpu.now >= later.at, "torch raises if an event has not happened yet"
        return 1000 * (later.at - self.at)


class Observed:
    """A cost model that keeps what it was told."""

    def __init__(self) -> None:
        self.flow: list[float] = []
        self.vocoder: list[float] = []

    def observe_flow(self, seconds: float, _chunk: object) -> None:
        self.flow.append(seconds)

    def observe_vocoder(self, seconds: float, _num_frames: int) -> None:
        self.vocoder.append(seconds)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> VirtualGpu:
    gpu = VirtualGpu()
    monkeypatch.setattr(torch_device, "time", SimpleNamespace(perf_counter=lambda: gpu.now))
    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: VirtualEvent(gpu))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: None)
    return gpu


def utterance(gpu: VirtualGpu, costs: Observed) -> Utterance:
    def decode(tokens: tuple[int, ...], _following: tuple[int, ...]) -> torch.Tensor:
        gpu.queue(FLOW_SECONDS)
        return torch.zeros(80, 2 * len(tokens))

    def synthesize(mel: torch.Tensor, **_rest: object) -> torch.Tensor:
        gpu.queue(VOCODER_SECONDS)
        return torch.zeros(mel.shape[1])

    stream: Any = SimpleNamespace(decode=decode, synthesize=synthesize, close=lambda: None)
    flow = SimpleNamespace(
        lookahead_tokens=3, open_stream=lambda _state: stream, decode_whole=lambda _prompt, tokens: decode(tokens, ())
    )
    vocoder = SimpleNamespace(open_stream=lambda _noise: stream, synthesize_whole=lambda mel, _noise: synthesize(mel))
    voice = SimpleNamespace(prompt=SimpleNamespace(num_flow_tokens=25), flow_state=None, flow_prompt=None)
    return Utterance(
        FixedTokens([0] * 60),
        cast("VoiceState", voice),
        cast(
            "DecoderStages", SimpleNamespace(flow=flow, vocoder=vocoder, cost_model=costs, device="cuda:0", slots=None)
        ),
        cast("SourceNoise", None),
        StageClock(),
        RequestControl(),
    )


def test_times_of_a_stream_are_those_of_the_gpu(gpu: VirtualGpu) -> None:
    costs = Observed()
    spoken = utterance(gpu, costs)
    num_chunks = 0
    for _ in spoken.stream(ChunkSchedule(25, 25)):
        assert gpu.now < gpu.is_idle_from, "the chunk is yielded before it is computed"
        gpu.wait()  # as copying the samples does
        num_chunks += 1
        spoken.record_times()
        assert len(costs.flow) == len(costs.vocoder) == num_chunks, "known before the next chunk"
    launching = pytest.approx(0.0, abs=2 * LAUNCH_SECONDS)
    assert [seconds - FLOW_SECONDS for seconds in costs.flow] == [launching] * num_chunks
    assert [seconds - VOCODER_SECONDS for seconds in costs.vocoder] == [launching] * num_chunks
    assert (spoken.clock.flow, spoken.clock.vocoder) == (sum(costs.flow), sum(costs.vocoder))


def test_times_are_recorded_by_the_stream_itself(gpu: VirtualGpu) -> None:
    costs = Observed()
    num_chunks = len(list(utterance(gpu, costs).stream(ChunkSchedule(25, 25))))
    assert len(costs.flow) == len(costs.vocoder) == num_chunks > 1


def test_times_of_a_whole_sentence_are_those_of_the_gpu(gpu: VirtualGpu) -> None:
    costs = Observed()
    spoken = utterance(gpu, costs)
    spoken.whole()
    assert spoken.clock.flow == pytest.approx(FLOW_SECONDS, abs=2 * LAUNCH_SECONDS)
    assert spoken.clock.vocoder == pytest.approx(VOCODER_SECONDS, abs=2 * LAUNCH_SECONDS)
