"""Splitting of recordings for voice conversion at quiet places: the speech tokenizer accepts at most 30 s."""

from __future__ import annotations

import numpy as np

from studio.audio.waveform import Waveform

_LONGEST_SECONDS = 29.5
_EARLIEST_CUT_SECONDS = 15.0
_WINDOW_SECONDS = 0.2


def split_at_silence(waveform: Waveform) -> list[Waveform]:
    """Split ``waveform`` at its quietest 0.2 s into pieces of at most 29.5 s."""
    pieces = []
    rest = waveform
    while rest.seconds > _LONGEST_SECONDS:
        cut = _quietest_sample(rest)
        pieces.append(Waveform(rest.samples[:cut], rest.sample_rate))
        rest = Waveform(rest.samples[cut:], rest.sample_rate)
    return [*pieces, rest]


def _quietest_sample(waveform: Waveform) -> int:
    rate = waveform.sample_rate
    window = int(_WINDOW_SECONDS * rate)
    start, end = int(_EARLIEST_CUT_SECONDS * rate), int(_LONGEST_SECONDS * rate)
    energy = np.cumsum(np.square(waveform.samples[start:end], dtype=np.float64))
    loudness = energy[window:] - energy[:-window]
    return start + int(np.argmin(loudness)) + window // 2
