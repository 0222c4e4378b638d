"""Comparison of a flow or a vocoder with the exact one, in this process, on pieces of two seconds of speech."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from studio.model.limits import MAX_TIME_SHARE
from studio.model.measurements import Timing, Verification, compare
from studio.model.mel_distance import mel_distance_db
from studio.model.stages import FloatArray, FlowDecoder, FlowPrompt
from studio.pipeline.request import RequestControl

# Length of the speech that is measured, and of the prompt before it, in speech tokens (two seconds, and one).
_MEASURED_TOKENS = 50
_PROMPT_TOKENS = 25
# The time of a shorter run is measured a second time.
_SHORT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class MeasuredSpeech:
    """The speech with which a flow is measured: tokens of a clip, after a part of the clip as prompt."""

    prompt: FlowPrompt
    tokens: tuple[int, ...]

    @classmethod
    def of(cls, prompt: FlowPrompt, flow: FlowDecoder) -> MeasuredSpeech:
        """Divide the clip of ``prompt``."""
        tokens = prompt.speech_tokens
        middle = max(len(tokens) - _MEASURED_TOKENS, len(tokens) // 3)
        start = max(0, middle - _PROMPT_TOKENS)
        frames = slice(flow.frames_of_tokens(start), flow.frames_of_tokens(middle))
        return cls(FlowPrompt(tokens[start:middle], prompt.mel[frames], prompt.embedding), tokens[middle:])

    def decode(self, flow: FlowDecoder) -> torch.Tensor:
        """Return the mel (mel_bins, frames), in the shortest chunks of a stream, so that its caches are measured too."""
        if not flow.streams_exactly:
            return flow.decode_whole(self.prompt, self.tokens)
        first = -len(self.prompt.speech_tokens) % flow.chunk_tokens or flow.chunk_tokens
        inner = range(first, len(self.tokens) - flow.lookahead_tokens + 1, flow.chunk_tokens)
        edges = (0, *inner, len(self.tokens))
        with closing(flow.open_stream(flow.prepare_prompt(self.prompt))) as stream:
            mels = [
                stream.decode(
                    self.tokens[start:stop],
                    self.tokens[stop : stop + flow.lookahead_tokens] if stop != edges[-1] else (),
                )
                for start, stop in pairwise(edges)
            ]
        return torch.cat(mels, dim=1)


@dataclass(frozen=True, slots=True)
class TimedMel:
    """A mel (mel_bins, frames), and the seconds that it took."""

    mel: FloatArray
    seconds: float


def timed_flow(flow: FlowDecoder, speeches: Sequence[MeasuredSpeech], control: RequestControl) -> TimedMel:
    """Return the mel of all ``speeches`` in a row, and its time. Raise ``Cancelled``."""
    parts = [timed(partial(speech.decode, flow), control) for speech in speeches]
    return TimedMel(np.concatenate([mel for mel, _ in parts], axis=1), sum(seconds for _, seconds in parts))


def timed(run: Callable[[], torch.Tensor], control: RequestControl) -> tuple[FloatArray, float]:
    """Return the result of ``run`` and its time. Raise ``Cancelled``.

    A short run is timed twice, and the shorter time counts.
    """
    shortest = math.inf
    while True:
        control.raise_if_cancelled()
        started = time.perf_counter()
        result: FloatArray = run().numpy(force=True)
        seconds = time.perf_counter() - started
        if seconds > _SHORT_SECONDS or shortest < math.inf:
            return result, min(shortest, seconds)
        shortest = seconds


def compare_timed(exact: TimedMel, found: TimedMel, frame_rate: float) -> tuple[Verification, Timing]:
    audio_seconds = max(1, exact.mel.shape[1]) / frame_rate
    verification = replace(compare(exact.mel, found.mel), mel_distance_db=mel_distance_db(exact.mel, found.mel))
    return verification, Timing(found.seconds / audio_seconds, exact.seconds / audio_seconds, found.seconds, 1)


def is_faster(timing: Timing) -> bool:
    """Return whether the gain is larger than the variation of these short measurements."""
    return timing.speedup * MAX_TIME_SHARE >= 1.0
