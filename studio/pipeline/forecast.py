"""Prediction of the remaining chunks of a request: their computing time and audio duration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from studio.pipeline.pacing import CostModel, FlowChunk, PredictedChunk
from studio.pipeline.prompt_cache import SpeakingVoice
from studio.pipeline.schedule import ChunkSchedule
from studio.pipeline.token_source import TokenSource
from studio.pipeline.utterance import DecoderStages

# Sentences are rarely shorter than this share of their predicted length.
_SHORT = 0.5
# Assumed remaining length of a sentence that is already longer than predicted: one second.
_OVERDUE_TOKENS = 25


class Length(Enum):
    """Assumption about the length of an unfinished sentence."""

    SAFE = "somewhat longer than predicted"
    SHORT = "shortest plausible length"


@dataclass
class SentenceTask:
    """A sentence of a request, or a pause. The feed of speech tokens is opened on first use."""

    open_feed: Callable[[], TokenSource] | None
    num_text_tokens: int = 0
    spoken_text: str = ""
    pause_seconds: float = 0.0
    _is_length_recorded: bool = field(default=False, init=False)

    @cached_property
    def feed(self) -> TokenSource:
        assert self.open_feed is not None, "a pause has no tokens"
        return self.open_feed()

    @property
    def is_open(self) -> bool:
        return "feed" in self.__dict__

    @property
    def is_known(self) -> bool:
        """Whether its length is known rather than predicted."""
        return self.open_feed is None or (self.is_open and self.feed.is_finished)

    def record_length(self, cost_model: CostModel) -> None:
        """Record the length of a finished sentence in ``cost_model``, once."""
        if self.num_text_tokens and self.is_known and not self._is_length_recorded:
            self._is_length_recorded = True
            cost_model.observe_sentence(self.num_text_tokens, len(self.feed.tokens))


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicts remaining chunks from the measured cost model."""

    voice: SpeakingVoice
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

        A ``schedule`` of None means whole-utterance mode: one chunk per sentence.
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
        """Return the length of the sentence ``part``. ``index``: number of unfinished sentences before it."""
        made = len(part.feed.tokens) if part.is_open else 0
        if part.is_known:
            return made
        predicted = self.decoder.cost_model.tokens_for(part.num_text_tokens)
        factor = _SHORT if length is Length.SHORT else 1 + self.decoder.cost_model.length_margin(index)
        total = round(factor * predicted)
        return total if total >= made else made + _OVERDUE_TOKENS

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
            decode_seconds = cost_model.decode_seconds(FlowChunk(self.voice.prompt.num_tokens, start, end))
            made = max(made, needed)
            samples = flow.frames_per_token * (end - start) * self.decoder.vocoder.samples_per_frame
            audio_seconds = samples / self.decoder.vocoder.sample_rate / self.speed
            yield PredictedChunk(speech_lm_seconds + decode_seconds, audio_seconds, speech_lm_seconds)
