"""How fast this machine speaks, from what it was seen to do, and when play may begin without a gap."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from studio.model.config import FlowConfig

_KEPT_OBSERVATIONS = 60
# Ordinary speech, until the voice itself has been heard.
_SPEECH_PER_TEXT_TOKEN = 6.0
# Play starts this much later than predicted: clocks jitter, and a stutter is worse than a moment more.
_MARGIN = 1.04


@dataclass(slots=True)
class _Rate:
    """Seconds per unit over the last observations.

    ``warms_up``: the very first one also pays for kernels and memory that all later ones find ready
    (a fifth more was seen); it is believed only until there is another.
    """

    warms_up: bool = False
    seen: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_KEPT_OBSERVATIONS))

    @property
    def is_settled(self) -> bool:
        return bool(self.seen) and not self.warms_up

    def add(self, seconds: float, units: float) -> None:
        if units <= 0:
            return
        if self.warms_up and self.seen:
            self.seen.clear()
            self.warms_up = False
        self.seen.append((seconds, units))

    def per_unit(self, unknown: float = 0.0) -> float:
        return sum(s for s, _ in self.seen) / sum(u for _, u in self.seen) if self.seen else unknown


@dataclass(frozen=True, slots=True)
class FlowChunk:
    """Tokens ``start_tokens`` to ``end_tokens`` of an utterance after a prompt."""

    prompt_tokens: int
    start_tokens: int
    end_tokens: int


class Pace:
    """Measured costs of one loaded model on this machine; lasts as long as the model."""

    def __init__(self, flow: FlowConfig) -> None:
        self._flow_config = flow
        self._speech_lm = _Rate()
        self._flow = _Rate(warms_up=True)
        self._vocoder = _Rate(warms_up=True)
        self._speech_per_text = _Rate()

    def unseen(self) -> Pace:
        """Of the same model, without what was seen of it."""
        return Pace(self._flow_config)

    @property
    def is_settled(self) -> bool:
        """Whether the flow was seen at its usual pace: a prediction can be relied on."""
        return self._flow.is_settled

    def saw_speech_lm(self, seconds: float, num_tokens: int) -> None:
        self._speech_lm.add(seconds, num_tokens)

    def saw_flow(self, seconds: float, chunk: FlowChunk) -> None:
        self._flow.add(seconds, flow_work(self._flow_config, *self._computed(chunk)))

    def saw_vocoder(self, seconds: float, num_frames: int) -> None:
        self._vocoder.add(seconds, num_frames)

    def saw_sentence(self, num_text_tokens: int, num_speech_tokens: int) -> None:
        """How talkative the voice is: ``tokens_for`` predicts from it."""
        self._speech_per_text.add(num_speech_tokens, num_text_tokens)

    def tokens_for(self, num_text_tokens: int) -> int:
        """Speech tokens a text will probably give; the models' own limits are 2 and 20 a text token."""
        return round(num_text_tokens * self._speech_per_text.per_unit(unknown=_SPEECH_PER_TEXT_TOKEN))

    def speech_lm_seconds(self, num_tokens: int) -> float:
        return num_tokens * self._speech_lm.per_unit()

    def decode_seconds(self, chunk: FlowChunk) -> float:
        """Flow and vocoder for ``chunk``."""
        work = flow_work(self._flow_config, *self._computed(chunk))
        num_frames = self._flow_config.frames_per_token * (chunk.end_tokens - chunk.start_tokens)
        return work * self._flow.per_unit() + num_frames * self._vocoder.per_unit()

    def _computed(self, chunk: FlowChunk) -> tuple[int, int]:
        """The frames the flow computes for ``chunk``, and those it sees before them."""
        start = chunk.prompt_tokens + chunk.start_tokens
        if chunk.start_tokens == 0:
            start -= unfinished_prompt_tokens(chunk.prompt_tokens, self._flow_config)
        end = chunk.prompt_tokens + chunk.end_tokens
        ratio = self._flow_config.frames_per_token
        return ratio * (end - start), ratio * start


def unfinished_prompt_tokens(prompt_tokens: int, config: FlowConfig) -> int:
    """The prompt's last tokens, whose block or look-ahead reaches into the utterance: made with its first chunk."""
    whole_blocks = max(0, prompt_tokens - config.look_ahead_tokens) // config.grid_tokens
    return prompt_tokens - config.grid_tokens * whole_blocks


def flow_work(config: FlowConfig, num_frames: int, context_frames: int) -> float:
    """Multiplications of one estimator call for ``num_frames`` after ``context_frames``, attention included.

    Only ratios matter: how cost grows with context is known from the architecture, how fast this
    machine is from what it did.
    """
    seen_frames = context_frames + num_frames / 2
    if config.dit is not None:
        size, attention = config.dit.size, config.dit.num_heads * config.dit.head_size
        linear = config.dit.depth * (4 * size * attention + 2 * config.dit.feed_forward_ratio * size * size)
        blocks = config.dit.depth
    else:
        assert config.unet is not None
        size, attention = config.unet.channels, config.unet.num_heads * config.unet.head_size
        num_resnets = config.unet.num_mid_blocks + 2
        blocks = num_resnets * config.unet.num_transformer_blocks
        linear = blocks * (4 * size * attention + 8 * size * size) + num_resnets * 7 * size * size
    return num_frames * (linear + blocks * 2 * attention * seen_frames)


@dataclass(frozen=True, slots=True)
class ComingChunk:
    """A chunk not yet made: what it will cost, and what it will give."""

    production_seconds: float
    audio_seconds: float


def gapless_start_seconds(now_seconds: float, ready_audio_seconds: float, coming: Iterable[ComingChunk]) -> float:
    """The earliest start of play, on the clock of ``now_seconds``, from which no chunk comes too late.

    A chunk must be ready when everything before it has been played. ``now_seconds`` itself is returned
    where play may begin at once.
    """
    start = now_seconds
    ready_at, position = now_seconds, ready_audio_seconds
    for chunk in coming:
        ready_at += chunk.production_seconds * _MARGIN
        start = max(start, ready_at - position)
        position += chunk.audio_seconds
    return start
