"""Synthesis of one request: its sentences in order, its chunks, and the predicted start of gapless playback."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import islice

import numpy as np
import torch

from studio.audio.time_stretch import stretched
from studio.errors import ModelOverflow
from studio.model.stages import FloatArray, SourceNoise
from studio.pipeline.evidence import UtteredSentence
from studio.pipeline.pacing import (
    ChunkSchedule,
    CostModel,
    FlowChunk,
    PredictedChunk,
    earliest_gapless_start,
    spare_seconds,
)
from studio.pipeline.prompt_cache import VoiceState
from studio.pipeline.request import AudioChunk, RequestControl
from studio.pipeline.silence import without_leading_silence
from studio.pipeline.token_source import SentenceFeed
from studio.pipeline.utterance import DecoderStages, StageClock, Utterance

# The language model runs ahead in steps of this size, through at most this number of sentences.
_STEP_SECONDS = 1
_MAX_AHEAD_SENTENCES = 20
_ROUNDING_SECONDS = 1e-6
# Running ahead for an exact estimate is worthwhile only for longer waits.
_NOTICEABLE_SECONDS = 0.25
# Sentences are rarely shorter than this fraction of their predicted length.
_SHORT = 0.5
# Assumed remaining length of a sentence that is still being written.
_ARRIVING_SECONDS = 5
# Assumed remaining length of a sentence that is already longer than predicted.
_OVERDUE_SECONDS = 1


class Length(Enum):
    """Assumption about the length of an unfinished sentence."""

    SAFE = "somewhat longer than predicted"
    SHORT = "shortest plausible length"


@dataclass
class SentenceTask:
    """A sentence of a request, or a pause. The source of speech tokens is opened on first use."""

    open_feed: Callable[[], SentenceFeed] | None
    num_text_tokens: int = 0  # 0 if they are unknown
    is_arriving: bool = False  # the text is still being written
    pause_seconds: float = 0.0
    _is_length_recorded: bool = field(default=False, init=False)

    @cached_property
    def feed(self) -> SentenceFeed:
        assert self.open_feed is not None, "a pause has no tokens"
        return self.open_feed()

    @property
    def is_open(self) -> bool:
        return "feed" in self.__dict__

    @property
    def is_known(self) -> bool:
        """Whether the length is known rather than predicted."""
        return self.open_feed is None or (self.is_open and self.feed.is_finished)

    def record_length(self, cost_model: CostModel) -> None:
        """Record the length of a finished sentence in ``cost_model``, once."""
        if self.num_text_tokens and self.is_known and not self._is_length_recorded:
            self._is_length_recorded = True
            cost_model.observe_sentence(self.num_text_tokens, len(self.feed.tokens))


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    speed: float = 1.0
    is_streaming: bool = True
    first_hop_tokens: int | None = None
    trims_leading_silence: bool = False
    first_index: int = 0  # of the first sentence


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicts the remaining chunks of a request from measured costs."""

    voice: VoiceState
    decoder: DecoderStages
    speed: float

    def remaining_chunks(
        self,
        part: SentenceTask,
        schedule: ChunkSchedule | None,
        done_tokens: int,
        later: Iterable[SentenceTask],
        open_schedule: Callable[[], ChunkSchedule | None],
        *,
        length: Length = Length.SAFE,
    ) -> list[PredictedChunk]:
        """Return the remaining chunks of ``part``, of which ``done_tokens`` are decoded, and of ``later`` parts.

        If ``schedule`` is None, each sentence is one chunk (whole-utterance mode).
        """
        coming = list(self._chunks(part, schedule, done_tokens, self.total_tokens(part, length)))
        num_unknown = int(not part.is_known)
        for following in later:
            if following.open_feed is None:
                coming.append(PredictedChunk(0.0, following.pause_seconds))
            else:
                total = self.total_tokens(following, length, num_unknown)
                coming.extend(self._chunks(following, open_schedule(), 0, total))
                num_unknown += not following.is_known
        return coming

    def total_tokens(self, part: SentenceTask, length: Length, index: int = 0) -> int:
        """Return the number of tokens of ``part``. ``index`` is the number of unfinished sentences before it."""
        made = len(part.feed.tokens) if part.is_open else 0
        if part.is_known:
            return made
        if part.is_arriving:
            return made + round(_ARRIVING_SECONDS * self.decoder.cost_model.token_rate)
        predicted = self.decoder.cost_model.tokens_for(part.num_text_tokens)
        factor = _SHORT if length is Length.SHORT else 1 + self.decoder.cost_model.length_margin(index)
        total = round(factor * predicted)
        return total if total >= made else made + _OVERDUE_SECONDS * self.decoder.cost_model.token_rate

    def _chunks(
        self, part: SentenceTask, schedule: ChunkSchedule | None, done_tokens: int, total: int
    ) -> Iterator[PredictedChunk]:
        cost_model, flow = self.decoder.cost_model, self.decoder.flow
        made = len(part.feed.tokens) if part.is_open else 0
        cuts = (
            schedule.remaining_chunks(done_tokens, total, flow.lookahead_tokens) if schedule else [(done_tokens, total)]
        )
        for start, end in cuts:
            needed = min(end + flow.lookahead_tokens, total)
            speech_lm_seconds = cost_model.speech_lm_seconds(made, needed)
            chunk = FlowChunk(self.voice.prompt.num_flow_tokens, start, end, needed - end)
            decode_seconds = cost_model.decode_seconds(chunk)
            made = max(made, needed)
            samples = flow.frames_of_tokens(end - start) * self.decoder.vocoder.samples_per_frame
            audio_seconds = samples / self.decoder.vocoder.sample_rate / self.speed
            yield PredictedChunk(speech_lm_seconds + decode_seconds, audio_seconds, speech_lm_seconds)


@dataclass
class SpeechStream:
    """State and statistics of one request while its audio is generated."""

    voice: VoiceState
    decoder: DecoderStages
    options: SpeechOptions
    control: RequestControl
    make_noise: Callable[[int], SourceNoise]
    started: float
    clock: StageClock = field(default_factory=StageClock)
    first_audio_seconds: float = 0.0
    first_sound_seconds: float = 0.0  # time of the first audible chunk, after a leading pause
    audio_seconds: float = 0.0
    speech_lm_seconds: float = 0.0
    num_speech_tokens: int = 0
    spoken_text: list[str] = field(default_factory=list)
    spoken_sentences: list[UtteredSentence] = field(default_factory=list)
    num_items: int = 0  # sentences and pauses that are complete
    _known: deque[SentenceTask] = field(default_factory=deque)
    _num_parts: int = 0
    _reported_start: float | None = None
    _has_audible_chunk: bool = False

    def stream(self, parts: Sequence[SentenceTask]) -> Generator[AudioChunk, None, None]:
        """Yield chunks in playback order. Raise ``Cancelled``, ``StudioError``, or any error of a stage."""
        first = self.options.first_index
        self._known.extend(parts)
        self._num_parts = first + len(parts)
        try:
            while self._known and not (self.num_items and self.control.is_stopped_early):
                yield from self._speak(self._known.popleft(), first + self.num_items)
                self.num_items += 1
        finally:
            for part in self._known:
                if part.is_open:
                    part.feed.close()

    def _speak(self, part: SentenceTask, index: int) -> Iterator[AudioChunk]:
        if part.open_feed is None:
            yield self._chunk(np.zeros(round(part.pause_seconds * self._sample_rate), np.float32), index)
            return
        utterance = Utterance(part.feed, self.voice, self.decoder, self.make_noise(index), self.clock, self.control)
        schedule = self._schedule()
        chunks = self._streamed(utterance, part, schedule) if schedule else self._whole(utterance)
        if schedule and self.options.speed != 1.0:
            chunks = stretched(chunks, self.options.speed, self._sample_rate)
        if self.options.trims_leading_silence and not self.audio_seconds:
            chunks = without_leading_silence(chunks, self._sample_rate)
        started = self.audio_seconds
        try:
            for samples in chunks:
                if not len(samples):
                    continue
                yield self._chunk(samples, index)
                if self._reported_start is None or self._now() < self._reported_start:
                    self._update_start_estimate(utterance, part, schedule)
        finally:
            self._record_part(part)
        if (generation := part.feed.generation) is not None:
            self.spoken_text.append(generation.spoken.strip())
            self.spoken_sentences.append(UtteredSentence(generation, started, self.audio_seconds))

    def _streamed(self, utterance: Utterance, part: SentenceTask, schedule: ChunkSchedule) -> Iterator[FloatArray]:
        for samples in utterance.stream(schedule):
            self._open_next_early(part)
            array = _to_finite_array(samples)
            utterance.record_times()  # before the next chunk is predicted
            yield array

    def _whole(self, utterance: Utterance) -> Iterator[FloatArray]:
        yield _to_finite_array(utterance.whole(self.options.speed))

    def _chunk(self, samples: FloatArray, index: int) -> AudioChunk:
        chunk = AudioChunk(samples, self._sample_rate, sentence_index=index, num_sentences=self._num_parts)
        if len(samples) and not self.audio_seconds:
            self.first_audio_seconds = self._now()
        if not self._has_audible_chunk:  # if all chunks are silent, the last one counts
            self.first_sound_seconds = self._now()
            self._has_audible_chunk = chunk.is_audible
        self.audio_seconds += chunk.seconds
        return chunk

    def _record_part(self, part: SentenceTask) -> None:
        num_tokens = len(part.feed.tokens)
        self.num_speech_tokens += num_tokens
        self.speech_lm_seconds += part.feed.seconds
        part.record_length(self.decoder.cost_model)

    def _open_next_early(self, part: SentenceTask) -> None:
        """Start the language model of the next sentence while this one is still being decoded."""
        if part.feed.is_finished and self._known and self._known[0].open_feed is not None:
            _ = self._known[0].feed

    def _update_start_estimate(self, utterance: Utterance, part: SentenceTask, schedule: ChunkSchedule | None) -> None:
        """Report the earliest gapless start, after each chunk until that time is reached.

        In the first request after loading a model, a delayed start is reported only from the second chunk on, because
        the time of the first chunk includes the warm-up.
        """
        forecast = Forecast(self.voice, self.decoder, self.options.speed)

        def rest(later: Iterable[SentenceTask], length: Length) -> list[PredictedChunk]:
            return forecast.remaining_chunks(
                part, schedule, utterance.decoded_tokens, later, self._schedule, length=length
            )

        start = self._gapless_start(rest(self._known, Length.SAFE))
        must_wait = start > self._now() + _NOTICEABLE_SECONDS
        if must_wait and not self.decoder.cost_model.is_settled:
            return
        self._report_start(start)
        # Lines of a batch wait for memory slots and are rarely played at once.
        can_run_ahead = self.decoder.slots is None and not part.is_arriving
        while must_wait and can_run_ahead and self._run_ahead(part, forecast, rest):
            self._report_start(self._gapless_start(rest(self._known, Length.SAFE)))

    def _gapless_start(self, coming: list[PredictedChunk]) -> float:
        return earliest_gapless_start(self._now(), self.audio_seconds, coming, margin=self.decoder.cost_model.margin)

    def _report_start(self, start: float) -> None:
        self._reported_start = start
        self.control.report_estimate(start)

    def _run_ahead(
        self,
        part: SentenceTask,
        forecast: Forecast,
        rest: Callable[[Iterable[SentenceTask], Length], list[PredictedChunk]],
    ) -> bool:
        """Run the language model one step ahead if that cannot delay playback; return whether it did.

        This only makes the reported start more exact; no chunk is ready earlier because of it.
        """
        cost_model = self.decoder.cost_model
        later = list(islice(self._known, _MAX_AHEAD_SENTENCES))
        unknown = next((each for each in (part, *later) if not each.is_known), None)
        if unknown is None:
            return False
        made = len(unknown.feed.tokens)
        end = min(
            made + _STEP_SECONDS * cost_model.token_rate, *(forecast.total_tokens(unknown, length) for length in Length)
        )
        spare = min(
            spare_seconds(
                self._now(), self.first_audio_seconds, self.audio_seconds, rest(later, length), margin=cost_model.margin
            )
            for length in Length
        )
        if cost_model.speech_lm_seconds(made, end) > spare + _ROUNDING_SECONDS:
            return False
        unknown.feed.wait_for(max(end, made + 1))
        unknown.record_length(cost_model)
        return True

    def _schedule(self) -> ChunkSchedule | None:
        if not self.options.is_streaming:
            return None
        return ChunkSchedule.of(
            self.decoder.flow, self.voice.prompt.num_flow_tokens, first_hop_tokens=self.options.first_hop_tokens
        )

    @property
    def _sample_rate(self) -> int:
        return self.decoder.vocoder.sample_rate

    def _now(self) -> float:
        return time.perf_counter() - self.started


def _to_finite_array(samples: torch.Tensor) -> FloatArray:
    """Return ``samples`` in host memory. Raise ``ModelOverflow`` for NaN and infinity, which sound as clicks."""
    numbers: FloatArray = samples.numpy(force=True)
    if not np.isfinite(numbers).all():
        raise ModelOverflow(
            "Flow or vocoder computed something that is not a number.",
            remedy="Choose float32; if that fails too, download the model again.",
        )
    return numbers
