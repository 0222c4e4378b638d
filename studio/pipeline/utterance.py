"""One sentence on its way to sound, and everything that dies with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F

from studio.errors import NoSpeechMade
from studio.model.stages import FlowDecoder, SourceNoise, Vocoder
from studio.pipeline.control import RequestControl
from studio.pipeline.pacing import CostModel, FlowChunk
from studio.pipeline.prompt_cache import SpeakingVoice
from studio.pipeline.schedule import ChunkSchedule
from studio.pipeline.token_source import TokenSource

EVERYTHING = 1 << 30
# So often who waits for a turn, which nobody gives a line that was cancelled, looks whether it was.
_LOOK_SECONDS = 0.5


@dataclass(slots=True)
class StageClock:
    """Seconds a request spent in the stages that make sound; the language model's are kept by its feeds."""

    flow: float = 0.0
    vocoder: float = 0.0


@dataclass(frozen=True, slots=True)
class DecoderStages:
    """Flow and vocoder of a model, and what they were seen to cost. ``turns``: of the lines of a batch."""

    flow: FlowDecoder
    vocoder: Vocoder
    cost_model: CostModel
    slots: threading.Semaphore | None = None

    def in_batch(self, turns: threading.Semaphore) -> DecoderStages:
        """For a line beside others: what it costs there says nothing about a line alone."""
        return replace(self, cost_model=self.cost_model.fresh_copy(), slots=turns)


@dataclass
class Utterance:
    """``feed`` gives the sentence's speech tokens; ``stream`` or ``whole`` turns them into samples."""

    feed: TokenSource
    voice: SpeakingVoice
    decoder: DecoderStages
    noise: SourceNoise
    clock: StageClock
    control: RequestControl
    decoded_tokens: int = 0
    _timed_tokens: int = field(default=0, init=False)
    _timed_seconds: float = field(default=0.0, init=False)

    def stream(self, schedule: ChunkSchedule) -> Iterator[torch.Tensor]:
        """Samples (n,) chunk by chunk; possibly none yet.

        Raises ``OffGridCut``, ``NoSpeechMade`` and whatever the stages raise.
        """
        try:
            with self._turn():
                yield from self._decode_chunks(schedule)
        finally:
            self.feed.close()

    def _decode_chunks(self, schedule: ChunkSchedule) -> Iterator[torch.Tensor]:
        flow = self.decoder.flow
        flow_stream = flow.open_stream(self.voice.flow_state)
        vocoder_stream = self.decoder.vocoder.open_stream(self.noise)
        try:
            is_last = False
            while not is_last:
                known = schedule.end_tokens + flow.lookahead_tokens
                self._wait_for(known)
                self.control.raise_if_cancelled()
                is_last = len(self.feed.tokens) < known
                end = len(self.feed.tokens) if is_last else schedule.end_tokens
                tokens = self._tokens(self.decoded_tokens, end)
                lookahead = () if is_last else self._tokens(end, known)
                started = time.perf_counter()
                mel = flow_stream.decode(tokens, lookahead)
                self._record_flow_time(time.perf_counter() - started, len(tokens))
                self.control.raise_if_cancelled()
                started = time.perf_counter()
                samples = vocoder_stream.synthesize(mel, is_last=is_last)
                self._saw_vocoder(time.perf_counter() - started, mel.shape[-1])
                self.decoded_tokens = end
                schedule.advance()
                yield samples
        finally:
            flow_stream.close()

    def whole(self, speed: float = 1.0) -> torch.Tensor:
        """All samples (n,) at once, in the host's memory, with full attention; ``speed`` stretches the mel (specification H4)."""
        try:
            self._wait_for(EVERYTHING)
            with self._turn():
                return self._decode_whole(self._tokens(0, len(self.feed.tokens)), speed)
        finally:
            self.feed.close()

    def _decode_whole(self, tokens: tuple[int, ...], speed: float) -> torch.Tensor:
        started = time.perf_counter()
        mel = self.decoder.flow.decode_whole(self.voice.flow_prompt, tokens)
        self._record_flow_time(time.perf_counter() - started, len(tokens))
        self.control.raise_if_cancelled()
        if speed != 1.0:
            num_frames = max(1, int(mel.shape[-1] / speed))
            mel = F.interpolate(mel[None], size=num_frames, mode="linear")[0]
        self.decoded_tokens = len(tokens)
        started = time.perf_counter()
        samples = self.decoder.vocoder.synthesize_whole(mel, self.noise).cpu()  # done, not only queued
        self._saw_vocoder(time.perf_counter() - started, mel.shape[-1])
        return samples

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A line of a batch takes memory when all its tokens are there, and gives it to the next one soon."""
        turns = self.decoder.slots
        if turns is None:
            yield
            return
        self.feed.wait_for(EVERYTHING)
        while not turns.acquire(timeout=_LOOK_SECONDS):
            self.control.raise_if_cancelled()
        try:
            self.control.raise_if_cancelled()
            yield
        finally:
            turns.release()

    def _tokens(self, start: int, end: int) -> tuple[int, ...]:
        if end == 0:
            raise NoSpeechMade(
                "The model ended the sentence before it said anything.", remedy="Try again, or with another seed."
            )
        return tuple(self.feed.tokens[start:end])

    def _wait_for(self, count: int) -> None:
        """Wait for ``count`` tokens and record what those since the last call cost."""
        self.feed.wait_for(count)
        feed, cost_model = self.feed, self.decoder.cost_model
        if not feed.seconds or not feed.tokens:  # known from the start, as a recording's are, or none at all
            return
        if self._timed_tokens == 0:
            cost_model.saw_first_token(feed.first_token_seconds)
            self._timed_tokens, self._timed_seconds = 1, feed.first_token_seconds
        cost_model.saw_speech_lm(feed.seconds - self._timed_seconds, len(feed.tokens) - self._timed_tokens)
        self._timed_tokens, self._timed_seconds = len(feed.tokens), feed.seconds

    def _record_flow_time(self, seconds: float, num_tokens: int) -> None:
        self.clock.flow += seconds
        end = self.decoded_tokens + num_tokens
        self.decoder.cost_model.observe_flow(seconds, FlowChunk(self.voice.prompt.num_tokens, self.decoded_tokens, end))

    def _saw_vocoder(self, seconds: float, num_frames: int) -> None:
        self.clock.vocoder += seconds
        self.decoder.cost_model.saw_vocoder(seconds, num_frames)
