"""The chunk schedule of an utterance, measured costs of the stages on this machine, and the earliest gapless start.

Chunks end on a grid of 25 tokens from the start of the *prompt*, since streaming is exact only there
(specification F8). CosyVoice-300M has no grid. Each utterance has its own schedule, so later requests behave like the first one
(specification J2, row 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from studio.errors import OffGridCut
from studio.model.config import FlowConfig, UNetConfig
from studio.model.stages import FlowDecoder

# A shorter first hop yields almost no audio: the vocoder holds back 4 frames (CosyVoice3) or 8.
_MIN_FIRST_HOP_TOKENS = 7
_MAX_HOP_TOKENS = 100


def first_hops(prompt_tokens: int, chunk_tokens: int) -> tuple[int, int]:
    """Return the two shortest first hops that end on the grid, in tokens.

    For a prompt of P tokens and a grid of 25, these are h = -P mod 25 (or 25 instead of 0) and h + 25.
    """
    hop = -prompt_tokens % chunk_tokens or chunk_tokens
    return hop, hop + chunk_tokens


def first_chunk_blocks(prompt_tokens: int, chunk_tokens: int, lookahead_tokens: int) -> int:
    """Return the number of blocks that the flow computes for the first chunk (SPECIFICATION.md, M4)."""
    num_cached = max(0, prompt_tokens - lookahead_tokens) // chunk_tokens
    return (prompt_tokens + ChunkSchedule(prompt_tokens, chunk_tokens).end_tokens) // chunk_tokens - num_cached


class ChunkSchedule:
    """End positions of chunks, in tokens from the start of the utterance.

    If ``first_hop_tokens`` is None, the shortest hop that yields enough audio is used. Any other value must end on the
    grid, or ``OffGridCut`` is raised. Later hops double up to 100 tokens, because larger chunks are more efficient
    and playback has a buffer by then.
    """

    def __init__(self, prompt_tokens: int, chunk_tokens: int, *, first_hop_tokens: int | None = None) -> None:
        shortest, longer = first_hops(prompt_tokens, chunk_tokens)
        if first_hop_tokens is None:
            first_hop_tokens = shortest if shortest >= _MIN_FIRST_HOP_TOKENS else longer
        elif first_hop_tokens < 1 or (first_hop_tokens - shortest) % chunk_tokens:
            raise OffGridCut(
                "A first hop of {hop} tokens does not end on the grid of this voice.",
                remedy="Use {shortest}, or {shortest} plus a multiple of {grid}.",
                hop=first_hop_tokens,
                shortest=shortest,
                grid=chunk_tokens,
            )
        self.end_tokens = first_hop_tokens
        # The second hop is the next multiple of the grid above the first.
        self._longest_hop_tokens = _MAX_HOP_TOKENS
        self._next_hop_tokens = min(_MAX_HOP_TOKENS, chunk_tokens * (first_hop_tokens // chunk_tokens + 1))

    @classmethod
    def of(cls, flow: FlowDecoder, prompt_tokens: int, *, first_hop_tokens: int | None = None) -> ChunkSchedule:
        """Return the schedule of ``flow`` for a prompt.

        A flow that does not stream exactly has no grid. Its chunks are equally long, and ``first_hop_tokens`` may be
        any number (specification H1).
        """
        if flow.streams_exactly:
            return cls(prompt_tokens, flow.chunk_tokens, first_hop_tokens=first_hop_tokens)
        schedule = cls(0, flow.chunk_tokens)
        schedule.end_tokens = first_hop_tokens or flow.chunk_tokens
        schedule._next_hop_tokens = schedule._longest_hop_tokens = flow.chunk_tokens
        return schedule

    def advance(self) -> None:
        """Move ``end_tokens`` to the end of the next chunk."""
        self.end_tokens += self._next_hop_tokens
        self._next_hop_tokens = self._hop_after(self._next_hop_tokens)

    def _hop_after(self, hop_tokens: int) -> int:
        return min(self._longest_hop_tokens, 2 * hop_tokens)

    def remaining_chunks(self, done_tokens: int, total_tokens: int, lookahead_tokens: int) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each chunk from ``done_tokens`` to ``total_tokens``, without advancing."""
        start, end, hop = done_tokens, self.end_tokens, self._next_hop_tokens
        while end + lookahead_tokens <= total_tokens:
            yield start, end
            start, end, hop = end, end + hop, self._hop_after(hop)
        if start < total_tokens:
            yield start, total_tokens


_KEPT_OBSERVATIONS = 60
# The ratio of speech to text depends on the voice, so only recent sentences count.
_KEPT_SENTENCES = 8
# Initial value before a sentence has been measured.
_SECONDS_PER_TEXT_TOKEN = 0.24
_USUAL_TOKEN_RATE = 25
# Initial spread of that ratio between sentences.
_LENGTH_SPREAD = 0.15
# Chosen as a compromise: 2 would start playback of a single sentence 30 % later than necessary, and 1 would leave a
# gap of a few tenths of a second in every other long text.
_LENGTH_DEVIATIONS = 1.5
# The spread is unknown with fewer observations.
_MIN_FOR_SPREAD = 4
# Upper limit of the safety margin on predicted costs. A gap is worse than a slightly later start, but in a long text
# each per cent delays the start by seconds.
_MAX_MARGIN = 0.04


@dataclass(slots=True)
class _Rate:
    """Average seconds per unit over the last ``num_kept`` observations. Lines of a batch observe at the same time.

    If ``warms_up`` is True, the first observation is dropped as soon as there is another one, because it includes
    the initialisation of kernels and memory (about 20 %).
    """

    warms_up: bool = False
    num_kept: int = _KEPT_OBSERVATIONS
    seen: tuple[tuple[float, float], ...] = ()

    @property
    def is_settled(self) -> bool:
        return bool(self.seen) and not self.warms_up

    def add(self, seconds: float, units: float) -> None:
        if units <= 0:
            return
        if self.warms_up and self.seen:
            self.seen = ()
            self.warms_up = False
        self.seen = (*self.seen, (seconds, units))[-self.num_kept :]

    def per_unit(self, unknown: float = 0.0) -> float:
        return sum(s for s, _ in self.seen) / sum(u for _, u in self.seen) if self.seen else unknown

    def spread(self, unknown: float) -> float:
        """Return the relative standard deviation of observations, weighted by their units."""
        rate = self.per_unit()
        if len(self.seen) < _MIN_FOR_SPREAD or rate <= 0:
            return unknown
        deviations = sum(u * (s / (rate * u) - 1) ** 2 for s, u in self.seen)
        return math.sqrt(deviations / sum(u for _, u in self.seen))

    def margin(self) -> float:
        """Return two standard errors of ``per_unit``, relative to it."""
        if len(self.seen) < _MIN_FOR_SPREAD:
            return _MAX_MARGIN
        return min(_MAX_MARGIN, 2 * self.spread(unknown=0.0) / math.sqrt(len(self.seen)))


@dataclass(frozen=True, slots=True)
class FlowChunk:
    """Tokens ``start_tokens`` to ``end_tokens`` of an utterance after ``prompt_tokens``."""

    prompt_tokens: int
    start_tokens: int
    end_tokens: int
    lookahead_tokens: int = 0  # after ``end_tokens``


class CostModel:
    """Measured costs of one loaded model on this machine."""

    def __init__(self, flow: FlowConfig, token_rate: int = _USUAL_TOKEN_RATE) -> None:
        """``token_rate`` is the number of speech tokens per second."""
        self.token_rate = token_rate
        self._flow_config = flow
        self._first_token = _Rate(warms_up=True)
        self._speech_lm = _Rate()
        self._flow = _Rate(warms_up=True)
        self._vocoder = _Rate(warms_up=True)
        self._speech_per_text = _Rate(num_kept=_KEPT_SENTENCES)

    @cached_property
    def of_batches(self) -> CostModel:
        """Costs of the lines of batches, which run at the same time as others."""
        return CostModel(self._flow_config, self.token_rate)

    @property
    def is_settled(self) -> bool:
        """Whether predictions are reliable: the flow has been measured after its warm-up."""
        return self._flow.is_settled

    @property
    def margin(self) -> float:
        """Relative safety margin of predictions, from the uncertainty of the measured costs."""
        return max(self._speech_lm.margin(), self._flow.margin())

    def observe_first_token(self, seconds: float) -> None:
        """Record the time from the start of a sentence to its first speech token, including prefill."""
        self._first_token.add(seconds, 1)

    def observe_speech_lm(self, seconds: float, num_tokens: int) -> None:
        self._speech_lm.add(seconds, num_tokens)

    def observe_flow(self, seconds: float, chunk: FlowChunk) -> None:
        self._flow.add(seconds, flow_work(self._flow_config, *self.computed_frames(chunk)))

    def observe_vocoder(self, seconds: float, num_frames: int) -> None:
        self._vocoder.add(seconds, num_frames)

    def observe_sentence(self, num_text_tokens: int, num_speech_tokens: int) -> None:
        """Record the length of a finished sentence, from which ``tokens_for`` predicts others."""
        self._speech_per_text.add(num_speech_tokens, num_text_tokens)

    def tokens_for(self, num_text_tokens: int) -> int:
        """Predict the number of speech tokens of a text."""
        return round(
            num_text_tokens * self._speech_per_text.per_unit(unknown=_SECONDS_PER_TEXT_TOKEN * self.token_rate)
        )

    def length_margin(self, index: int) -> float:
        """Return the relative safety margin on the predicted length of the upcoming sentence ``index``.

        For each n, the margins of the first n sentences add up to ``_LENGTH_DEVIATIONS`` standard deviations of
        their total length, including the uncertainty of the estimated mean.
        """
        num_seen = max(1, len(self._speech_per_text.seen))

        def deviation(count: int) -> float:
            return math.sqrt(count + count**2 / num_seen)

        spread = self._speech_per_text.spread(unknown=_LENGTH_SPREAD)
        return _LENGTH_DEVIATIONS * spread * (deviation(index + 1) - deviation(index))

    def speech_lm_seconds(self, start_tokens: int, end_tokens: int) -> float:
        """Return the time for tokens ``start_tokens`` to ``end_tokens`` of a sentence. The first includes prefill."""
        if end_tokens <= start_tokens:
            return 0.0
        first = self._first_token.per_unit() if start_tokens == 0 else 0.0
        return first + (end_tokens - max(1, start_tokens)) * self._speech_lm.per_unit()

    def decode_seconds(self, chunk: FlowChunk) -> float:
        """Return the time of flow and vocoder for ``chunk``."""
        work = flow_work(self._flow_config, *self.computed_frames(chunk))
        num_frames = self._flow_config.frames_of_tokens(chunk.end_tokens - chunk.start_tokens)
        return work * self._flow.per_unit() + num_frames * self._vocoder.per_unit()

    def computed_frames(self, chunk: FlowChunk) -> tuple[int, int]:
        """Return the number of frames that the flow computes for ``chunk``, and the number of frames before them."""
        config = self._flow_config
        if config.length_regulator is not None:
            # Every call computes the prompt and the overlap with the next chunk again.
            spoken = chunk.end_tokens - chunk.start_tokens + chunk.lookahead_tokens
            return config.frames_of_tokens(chunk.prompt_tokens + spoken), 0
        start = chunk.prompt_tokens + chunk.start_tokens
        if chunk.start_tokens == 0:
            start -= unfinished_prompt_tokens(chunk.prompt_tokens, config)
        end = chunk.prompt_tokens + chunk.end_tokens
        ratio = config.frames_per_token
        return ratio * (end - start), ratio * start


def unfinished_prompt_tokens(prompt_tokens: int, config: FlowConfig) -> int:
    """Return the number of prompt tokens computed with the first chunk, because their block ends after the prompt."""
    whole_blocks = max(0, prompt_tokens - config.lookahead_tokens) // config.chunk_tokens
    return prompt_tokens - config.chunk_tokens * whole_blocks


def flow_work(config: FlowConfig, num_frames: int, context_frames: int) -> float:
    """Return the multiplications of one estimator call for ``num_frames`` after ``context_frames``.

    Only ratios matter: the architecture determines how the cost grows with context, and measurements determine
    the speed of the machine.
    """
    seen_frames = context_frames + num_frames / 2
    if config.dit is not None:
        size, attention = config.dit.size, config.dit.num_heads * config.dit.head_size
        linear = config.dit.depth * (4 * size * attention + 2 * config.dit.feed_forward_ratio * size * size)
        blocks = config.dit.depth
    else:
        assert config.unet is not None
        size, attention = config.unet.channels, config.unet.num_heads * config.unet.head_size
        if not config.unet.is_causal:
            return _non_causal_unet_work(config.unet, num_frames)
        num_resnets = config.unet.num_mid_blocks + 2
        blocks = num_resnets * config.unet.num_transformer_blocks
        linear = blocks * (4 * size * attention + 8 * size * size) + num_resnets * 7 * size * size
    return num_frames * (linear + blocks * 2 * attention * seen_frames)


def _non_causal_unet_work(unet: UNetConfig, num_frames: int) -> float:
    """Return the multiplications of a U-Net with full attention, in which each level halves the frames."""
    size, attention = unet.channels, unet.num_heads * unet.head_size
    work = 0.0
    for level in range(unet.num_levels):
        frames = num_frames / 2**level
        num_resnets = 2 + (unet.num_mid_blocks if level == unet.num_levels - 1 else 0)
        blocks = num_resnets * unet.num_transformer_blocks
        linear = blocks * (4 * size * attention + 8 * size * size) + num_resnets * 7 * size * size
        work += frames * (linear + blocks * 2 * attention * frames)
    return work


@dataclass(frozen=True, slots=True)
class PredictedChunk:
    """The computing time and the duration of a future chunk."""

    production_seconds: float
    audio_seconds: float
    speech_lm_seconds: float = 0.0  # the part of ``production_seconds`` that the language model can compute ahead


def earliest_gapless_start(
    now_seconds: float, ready_audio_seconds: float, coming: Iterable[PredictedChunk], *, margin: float = _MAX_MARGIN
) -> float:
    """Return the earliest start of gapless playback, on the clock of ``now_seconds``.

    Each chunk must be ready when all audio before it has been played. The result is ``now_seconds`` if playback
    may start at once.
    """
    start = now_seconds
    ready_at, position = now_seconds, ready_audio_seconds
    for chunk in coming:
        ready_at += chunk.production_seconds * (1 + margin)
        start = max(start, ready_at - position)
        position += chunk.audio_seconds
    return start


def spare_seconds(
    now_seconds: float,
    earliest_start_seconds: float,
    ready_audio_seconds: float,
    coming: Iterable[PredictedChunk],
    *,
    margin: float = _MAX_MARGIN,
) -> float:
    """Return how long the language model may run ahead now without delaying a gapless start.

    ``earliest_start_seconds`` is the time when the first chunk was ready. The stages do not overlap, so no chunk is
    decoded while the language model runs ahead. If it runs ahead for L seconds, each chunk is delayed by L or by the
    work of the language model for that chunk, whichever is longer. Therefore L is limited only by the time that
    decoding needs.
    """
    start, position = earliest_start_seconds, ready_audio_seconds
    ready_at = decoded_at = now_seconds
    least = math.inf
    for chunk in coming:
        ready_at += chunk.production_seconds * (1 + margin)
        decoded_at += (chunk.production_seconds - chunk.speech_lm_seconds) * (1 + margin)
        start = max(start, ready_at - position)
        least = min(least, position - decoded_at)
        position += chunk.audio_seconds
    return start + least
