"""Decoding of one sentence, and its state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F

from studio.errors import NoSpeechMade
from studio.model.stages import FlowDecoder, SourceNoise, Vocoder
from studio.model.torch_device import TimeMark, mark_time
from studio.pipeline.pacing import ChunkSchedule, CostModel, FlowChunk
from studio.pipeline.prompt_cache import VoiceState
from studio.pipeline.request import RequestControl
from studio.pipeline.token_source import UNLIMITED, ArrivingFeed, TokenSource

# Interval of checks for cancellation while waiting for a memory slot.
_POLL_SECONDS = 0.5


@dataclass(slots=True)
class StageClock:
    """Time that a request has spent in flow and vocoder, in seconds. Token sources measure the language model."""

    flow: float = 0.0
    vocoder: float = 0.0


@dataclass(frozen=True, slots=True)
class DecoderStages:
    """Flow and vocoder of a model with their cost model."""

    flow: FlowDecoder
    vocoder: Vocoder
    cost_model: CostModel
    device: str = "cpu"
    slots: threading.Semaphore | None = None  # memory slots for the lines of a batch

    def in_batch(self, slots: threading.Semaphore) -> DecoderStages:
        """Return the stages for a line of a batch, whose costs differ from those of single lines."""
        return replace(self, cost_model=self.cost_model.of_batches, slots=slots)


@dataclass(frozen=True, slots=True)
class TimedChunk:
    """A chunk of ``flow_chunk`` and ``num_frames``, with the times before the flow, between the stages and after them."""

    flow_chunk: FlowChunk
    num_frames: int
    started: TimeMark
    has_mel: TimeMark
    finished: TimeMark


@dataclass
class Utterance:
    """One sentence. ``stream`` or ``whole`` decodes the speech tokens of ``feed`` to samples.

    A GPU may still compute a chunk that ``stream`` has yielded. ``record_times`` waits for it and records its times;
    the next chunk and the end of the sentence do so as well.
    """

    feed: TokenSource
    voice: VoiceState
    decoder: DecoderStages
    noise: SourceNoise
    clock: StageClock
    control: RequestControl
    decoded_tokens: int = 0
    _chunk: TimedChunk | None = field(default=None, init=False)
    _timed_tokens: int = field(default=0, init=False)
    _timed_seconds: float = field(default=0.0, init=False)

    def stream(self, schedule: ChunkSchedule) -> Iterator[torch.Tensor]:
        """Yield the samples of each chunk, (n,). They may be empty.

        Raise ``OffGridCut``, ``NoSpeechMade``, or any error of a stage.
        """
        flow = self.decoder.flow
        with (
            closing(self.feed),
            self._slot(),
            closing(flow.open_stream(self.voice.flow_state)) as flow_stream,
        ):
            vocoder_stream = self.decoder.vocoder.open_stream(self.noise)
            is_last = False
            while not is_last:
                known = schedule.end_tokens + flow.lookahead_tokens
                self._wait_for(known)
                self.control.raise_if_cancelled()
                is_last = len(self.feed.tokens) < known
                end = len(self.feed.tokens) if is_last else schedule.end_tokens
                tokens = self._tokens(self.decoded_tokens, end)
                lookahead = () if is_last else self._tokens(end, known)
                started = self._mark()
                mel = flow_stream.decode(tokens, lookahead)
                has_mel = self._mark()
                self.control.raise_if_cancelled()
                samples = vocoder_stream.synthesize(mel, is_last=is_last)
                flow_chunk = self._flow_chunk(len(tokens), len(lookahead))
                self._chunk = TimedChunk(flow_chunk, mel.shape[-1], started, has_mel, self._mark())
                self.decoded_tokens = end
                schedule.advance()
                yield samples
                self.record_times()

    def whole(self, speed: float = 1.0) -> torch.Tensor:
        """Return all samples (n,) in host memory, with full attention.

        ``speed`` stretches the mel (specification H4).
        """
        try:
            self._wait_for(UNLIMITED)
            with self._slot():
                return self._decode_whole(self._tokens(0, len(self.feed.tokens)), speed)
        finally:
            self.feed.close()

    def _decode_whole(self, tokens: tuple[int, ...], speed: float) -> torch.Tensor:
        started = self._mark()
        mel = self.decoder.flow.decode_whole(self.voice.flow_prompt, tokens)
        has_mel = self._mark()
        self.control.raise_if_cancelled()
        if speed != 1.0:
            num_frames = max(1, int(mel.shape[-1] / speed))
            mel = F.interpolate(mel[None], size=num_frames, mode="linear")[0]
        samples = self.decoder.vocoder.synthesize_whole(mel, self.noise)
        self._chunk = TimedChunk(self._flow_chunk(len(tokens), 0), mel.shape[-1], started, has_mel, self._mark())
        self.decoded_tokens = len(tokens)
        samples = samples.cpu()
        self.record_times()
        return samples

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Hold a memory slot of the batch, if any. To keep this short, wait for all tokens first.

        A sentence that is still being written does not wait, because its client listens.
        """
        slots = self.decoder.slots
        if slots is None:
            yield
            return
        if not isinstance(self.feed, ArrivingFeed):
            self.feed.wait_for(UNLIMITED)
        while not slots.acquire(timeout=_POLL_SECONDS):
            self.control.raise_if_cancelled()
        try:
            self.control.raise_if_cancelled()
            yield
        finally:
            slots.release()

    def _tokens(self, start: int, end: int) -> tuple[int, ...]:
        if end == 0:
            raise NoSpeechMade(
                "The model ended the sentence without any speech.", remedy="Try again with another seed."
            )
        return tuple(self.feed.tokens[start:end])

    def _wait_for(self, count: int) -> None:
        """Wait for ``count`` tokens and record the cost of those since the last call."""
        self.feed.wait_for(count)
        feed, cost_model = self.feed, self.decoder.cost_model
        if not feed.seconds or not feed.tokens:  # the tokens were known in advance, or there are none
            return
        if self._timed_tokens == 0:
            cost_model.observe_first_token(feed.first_token_seconds)
            self._timed_tokens, self._timed_seconds = 1, feed.first_token_seconds
        cost_model.observe_speech_lm(feed.seconds - self._timed_seconds, len(feed.tokens) - self._timed_tokens)
        self._timed_tokens, self._timed_seconds = len(feed.tokens), feed.seconds

    def record_times(self) -> None:
        """Record the times of the last chunk, once."""
        chunk, self._chunk = self._chunk, None
        if chunk is None:
            return
        flow_seconds = chunk.started.seconds_until(chunk.has_mel)
        vocoder_seconds = chunk.has_mel.seconds_until(chunk.finished)
        self.clock.flow += flow_seconds
        self.clock.vocoder += vocoder_seconds
        self.decoder.cost_model.observe_flow(flow_seconds, chunk.flow_chunk)
        self.decoder.cost_model.observe_vocoder(vocoder_seconds, chunk.num_frames)

    def _mark(self) -> TimeMark:
        return mark_time(self.decoder.device)

    def _flow_chunk(self, num_tokens: int, num_lookahead_tokens: int) -> FlowChunk:
        end = self.decoded_tokens + num_tokens
        return FlowChunk(self.voice.prompt.num_flow_tokens, self.decoded_tokens, end, num_lookahead_tokens)
