"""Stages with virtual costs, and requests that use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest
import torch

from studio.model import torch_device
from studio.model.config import DiTConfig, FlowConfig, LookAheadConfig
from studio.pipeline import speech_stream, token_source
from studio.pipeline.pacing import ChunkSchedule, CostModel, FlowChunk, flow_work
from studio.pipeline.prompt_cache import VoiceState
from studio.pipeline.request import RequestControl
from studio.pipeline.speech_stream import SentenceTask, SpeechOptions, SpeechStream
from studio.pipeline.token_source import FixedTokens, SyncTokenSource
from studio.pipeline.utterance import DecoderStages

FLOW = FlowConfig(
    num_speech_tokens=6561,
    input_size=80,
    lookahead=LookAheadConfig(80, 1024),
    dit=DiTConfig(size=1024, depth=22, num_heads=16, head_size=64, feed_forward_ratio=2),
)
PROMPT_TOKENS = 90
LOOK_AHEAD_TOKENS = 3
TOKENS_PER_SECOND = 25
_SAMPLES_PER_FRAME = 4
_FRAMES_PER_TOKEN = 2


@dataclass
class Machine:
    """``speech_lm_cost`` and ``flow_cost``: seconds of work per second of speech, in sentences of 5 s.

    The flow's cost grows with context as the architecture says, so that a forecast can be exact.
    """

    speech_lm_cost: float
    flow_cost: float
    prefill_seconds: float = 0.0
    now: float = 0.0
    cost_model: CostModel = field(default_factory=lambda: CostModel(FLOW))

    def make_tokens(self, count: int) -> Iterator[int]:
        self.now += self.prefill_seconds
        for token in range(count):
            self.now += self.speech_lm_cost / TOKENS_PER_SECOND
            yield token

    def flow_seconds(self, start: int, end: int) -> float:
        return self.flow_cost * _work(start, end) / (_work(0, 125) / 5)

    def open_stream(self, _: object) -> _FlowStream:
        return _FlowStream(self)


@dataclass
class _FlowStream:
    machine: Machine
    done_tokens: int = 0

    def decode(self, tokens: Sequence[int], _: Sequence[int]) -> torch.Tensor:
        end = self.done_tokens + len(tokens)
        self.machine.now += self.machine.flow_seconds(self.done_tokens, end)
        self.done_tokens = end
        return torch.zeros(80, _FRAMES_PER_TOKEN * len(tokens))

    def close(self) -> None: ...


def _work(start: int, end: int) -> float:
    num_frames, context_frames = CostModel(FLOW).computed_frames(FlowChunk(PROMPT_TOKENS, start, end))
    return flow_work(FLOW, num_frames, context_frames)


@dataclass(frozen=True)
class Course:
    """``chunks``: (ready at, seconds of sound), in order. ``reports``: (reported at, start)."""

    chunks: list[tuple[float, float]]
    reports: list[tuple[float, float]]

    @property
    def gapless_start(self) -> float:
        """The earliest gapless start."""
        return earliest_start(self.chunks)

    @property
    def played_start(self) -> float:
        """Start time of a player that follows the latest report."""
        following = [moment for moment, _ in self.reports[1:]] + [float("inf")]
        return next(
            max(moment, start)
            for (moment, start), replaced in zip(self.reports, following, strict=True)
            if start <= replaced
        )


def earliest_start(chunks: Sequence[tuple[float, float]]) -> float:
    start = position = 0.0
    for ready_at, audio_seconds in chunks:
        start = max(start, ready_at - position)
        position += audio_seconds
    return start


class _Feed(SyncTokenSource):
    generation = None


def speak(
    machine: Machine, lengths: Sequence[int], monkeypatch: pytest.MonkeyPatch, *, text_tokens: int = 20
) -> Course:
    """Speak sentences of ``lengths`` in speech tokens, each of ``text_tokens``."""
    control = RequestControl()
    parts = [
        SentenceTask(
            open_feed=lambda count=count: _Feed(machine.make_tokens(count), control),
            num_text_tokens=text_tokens,
        )  # type: ignore[misc]
        for count in lengths
    ]
    return _stream(machine, parts, monkeypatch)


def convert(machine: Machine, lengths: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> Course:
    """Convert pieces of a recording, whose tokens are known."""
    parts = [SentenceTask(open_feed=lambda count=count: FixedTokens([0] * count)) for count in lengths]  # type: ignore[misc]
    return _stream(machine, parts, monkeypatch)


def _stream(machine: Machine, parts: Sequence[SentenceTask], monkeypatch: pytest.MonkeyPatch) -> Course:
    clock = SimpleNamespace(perf_counter=lambda: machine.now)
    for module in (speech_stream, torch_device, token_source):
        monkeypatch.setattr(module, "time", clock)
    machine.now = 0.0
    reports: list[tuple[float, float]] = []
    control = RequestControl(on_estimate=lambda start: reports.append((machine.now, start)))
    flow = SimpleNamespace(
        chunk_tokens=25,
        lookahead_tokens=LOOK_AHEAD_TOKENS,
        streams_exactly=True,
        frames_of_tokens=lambda count: _FRAMES_PER_TOKEN * count,
        open_stream=machine.open_stream,
    )
    silence = SimpleNamespace(synthesize=lambda mel, is_last: torch.zeros(_SAMPLES_PER_FRAME * mel.shape[1]))
    vocoder = SimpleNamespace(
        sample_rate=TOKENS_PER_SECOND * _FRAMES_PER_TOKEN * _SAMPLES_PER_FRAME,
        samples_per_frame=_SAMPLES_PER_FRAME,
        open_stream=lambda noise: silence,
    )
    voice = SimpleNamespace(prompt=SimpleNamespace(num_flow_tokens=PROMPT_TOKENS), flow_state=None)
    spoken = SpeechStream(
        voice=cast("VoiceState", voice),
        decoder=cast(
            "DecoderStages",
            SimpleNamespace(flow=flow, vocoder=vocoder, cost_model=machine.cost_model, slots=None, device="cpu"),
        ),
        options=SpeechOptions(),
        control=control,
        make_noise=lambda index: index,  # type: ignore[arg-type, return-value]
        started=0.0,
    )
    return Course([(machine.now, chunk.seconds) for chunk in spoken.stream(parts)], reports)


def best_fixed_start(machine: Machine, lengths: Sequence[int]) -> tuple[float, int]:
    """The earliest gapless start of all fixed schedules, and its number of tokens ahead.

    A fixed schedule keeps the language model the same number of tokens ahead of the flow, after the first chunk.
    """
    chunks: list[tuple[int, float, float]] = []  # tokens of the request needed, flow seconds, seconds of sound
    before = 0
    for length in lengths:
        for start, end in ChunkSchedule(PROMPT_TOKENS, 25).remaining_chunks(0, length, LOOK_AHEAD_TOKENS):
            needed = before + min(end + LOOK_AHEAD_TOKENS, length)
            chunks.append((needed, machine.flow_seconds(start, end), (end - start) / TOKENS_PER_SECOND))
        before += length
    steps = (*range(0, 501, 25), 1000, before)
    return min((_fixed_start(machine, chunks, before, ahead), ahead) for ahead in steps)


def _fixed_start(machine: Machine, chunks: list[tuple[int, float, float]], total: int, ahead: int) -> float:
    flow_seconds, courses = 0.0, []
    for index, (needed, seconds, audio_seconds) in enumerate(chunks):
        made = min(total, needed + (ahead if index else 0))
        flow_seconds += seconds
        courses.append((made * machine.speech_lm_cost / TOKENS_PER_SECOND + flow_seconds, audio_seconds))
    return earliest_start(courses)
