"""What is still to come of a request, in seconds of work and seconds of sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from studio.pipeline.pacing import ComingChunk, FlowChunk
from studio.pipeline.prompt_store import SpeakingVoice
from studio.pipeline.schedule import ChunkSchedule
from studio.pipeline.token_feed import TokenFeed
from studio.pipeline.utterance import Decoder


@dataclass
class Part:
    """A sentence of a request (or a pause): how to get its speech tokens, opened when its turn comes near."""

    open_feed: Callable[[], TokenFeed] | None
    num_text_tokens: int = 0
    spoken_text: str = ""
    pause_seconds: float = 0.0

    @cached_property
    def feed(self) -> TokenFeed:
        assert self.open_feed is not None, "a pause has no tokens"
        return self.open_feed()

    @property
    def is_open(self) -> bool:
        return "feed" in self.__dict__


@dataclass(frozen=True, slots=True)
class Forecast:
    """Chunks not yet made, at the pace this machine was seen to keep."""

    voice: SpeakingVoice
    decoder: Decoder
    speed: float

    def rest_of(
        self,
        part: Part,
        schedule: ChunkSchedule | None,
        done_tokens: int,
        later: Iterable[Part],
        open_schedule: Callable[[], ChunkSchedule | None],
    ) -> list[ComingChunk]:
        """The rest of ``part``, of which ``done_tokens`` are decoded, and all ``later`` parts.

        A ``schedule`` of None means whole-utterance mode: one chunk a sentence.
        """
        feed = part.feed
        self.decoder.pace.saw_speech_lm(feed.seconds - feed.first_token_seconds, len(feed.tokens) - 1)
        coming = list(self._chunks(part, schedule, done_tokens))
        for following in later:
            if following.open_feed is None:
                coming.append(ComingChunk(0.0, following.pause_seconds))
            else:
                coming.extend(self._chunks(following, open_schedule(), 0))
        return coming

    def _chunks(self, part: Part, schedule: ChunkSchedule | None, done_tokens: int) -> Iterator[ComingChunk]:
        pace, flow = self.decoder.pace, self.decoder.flow
        made = len(part.feed.tokens) if part.is_open else 0
        is_known = part.is_open and part.feed.is_finished
        total = made if is_known else max(made + 1, pace.tokens_for(part.num_text_tokens))
        cuts = schedule.coming(done_tokens, total, flow.look_ahead_tokens) if schedule else [(done_tokens, total)]
        for start, end in cuts:
            needed = min(end + flow.look_ahead_tokens, total)
            production = pace.speech_lm_seconds(max(0, needed - made))
            production += pace.decode_seconds(FlowChunk(self.voice.prompt.num_tokens, start, end))
            made = max(made, needed)
            samples = flow.frames_per_token * (end - start) * self.decoder.vocoder.samples_per_frame
            yield ComingChunk(production, samples / self.decoder.vocoder.sample_rate / self.speed)
