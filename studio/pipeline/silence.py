"""Silence: trimming it at the start of generated audio, and splitting recordings at quiet places.

A model may generate up to 0.4 s of leading silence. It adds to the latency, so all but a natural remainder is removed.
The result depends on the samples alone, not on their division into chunks, so streamed and whole audio are trimmed in
the same way.

Recordings are split for voice conversion, because the speech tokenizer accepts at most 30 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from studio.audio.waveform import Waveform
from studio.model.stages import FloatArray
from studio.pipeline.request import AUDIBLE_DBFS

_FRAME_SECONDS = 0.01
_KEPT_SECONDS = 0.05
_FADE_SECONDS = 0.005
# Frames below this level are always silent.
_SILENT_DBFS = -60.0
# The start of speech is determined this long after the first frame at the level of speech, or the first audible one.
_LOUD_DBFS = -40.0
_AFTER_LOUD_SECONDS = 0.1
_AFTER_AUDIBLE_SECONDS = 0.4
# Frames that are this much quieter than the loudest one are not speech; see voices/loudness.py.
_SPEECH_RANGE_DB = 35.0
# Splitting of recordings.
_MAX_PIECE_SECONDS = 29.5
_EARLIEST_CUT_SECONDS = 15.0
_WINDOW_SECONDS = 0.2


class LeadingSilence:
    """Holds back the beginning of a take until the start of speech is known."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._frame = round(_FRAME_SECONDS * sample_rate)
        self._held: FloatArray | None = np.zeros(0, np.float32)

    def process(self, samples: FloatArray) -> FloatArray:
        """Return the output for ``samples`` (n,): empty while the beginning is held back."""
        if self._held is None:
            return samples
        self._held = np.concatenate([self._held, samples])
        levels = self._levels()
        num_decisive = self._num_decisive(levels)
        if num_decisive is None or len(levels) < num_decisive:
            return self._held[:0]
        return self._release(levels[:num_decisive])

    def finish(self) -> FloatArray:
        """Return the rest. Audio without speech is returned in full."""
        return np.zeros(0, np.float32) if self._held is None else self._release(self._levels())

    def _levels(self) -> FloatArray:
        """Return the RMS level of each complete frame in dBFS, (num_frames,)."""
        assert self._held is not None
        num_frames = len(self._held) // self._frame
        frames = self._held[: num_frames * self._frame].reshape(num_frames, self._frame).astype(np.float64)
        levels: FloatArray = 10.0 * np.log10(np.square(frames).mean(axis=1) + 1e-12)
        return levels

    def _num_decisive(self, levels: FloatArray) -> int | None:
        """Return the number of frames needed for the decision, or None while all are silent."""
        ends = [
            int(np.argmax(levels > level)) + round(seconds / _FRAME_SECONDS)
            for level, seconds in ((_LOUD_DBFS, _AFTER_LOUD_SECONDS), (AUDIBLE_DBFS, _AFTER_AUDIBLE_SECONDS))
            if (levels > level).any()
        ]
        return min(ends, default=None)

    def _release(self, levels: FloatArray) -> FloatArray:
        held, self._held = self._held, None
        assert held is not None
        gate = max(_SILENT_DBFS, levels.max(initial=-np.inf) - _SPEECH_RANGE_DB)
        (sounding,) = np.nonzero(levels > gate)
        first = int(sounding[0]) * self._frame - round(_KEPT_SECONDS * self._sample_rate) if len(sounding) else 0
        if first <= 0:
            return held
        rest: FloatArray = held[first:].copy()
        num_fade = min(round(_FADE_SECONDS * self._sample_rate), len(rest))
        rest[:num_fade] *= np.linspace(0.0, 1.0, num_fade, endpoint=False, dtype=np.float32)
        return rest


def without_leading_silence(chunks: Iterable[FloatArray], sample_rate: int) -> Iterator[FloatArray]:
    """Trim the leading silence of ``chunks``. Chunks may become empty."""
    silence = LeadingSilence(sample_rate)
    for samples in chunks:
        yield silence.process(samples)
    yield silence.finish()


def split_at_silence(waveform: Waveform) -> list[Waveform]:
    """Split ``waveform`` at its quietest 0.2 s into pieces of at most 29.5 s."""
    pieces = []
    rest = waveform
    while rest.seconds > _MAX_PIECE_SECONDS:
        cut = _quietest_sample(rest)
        pieces.append(Waveform(rest.samples[:cut], rest.sample_rate))
        rest = Waveform(rest.samples[cut:], rest.sample_rate)
    return [*pieces, rest]


def _quietest_sample(waveform: Waveform) -> int:
    rate = waveform.sample_rate
    window = int(_WINDOW_SECONDS * rate)
    start, end = int(_EARLIEST_CUT_SECONDS * rate), int(_MAX_PIECE_SECONDS * rate)
    energy = np.cumsum(np.square(waveform.samples[start:end], dtype=np.float64))
    loudness = energy[window:] - energy[:-window]
    return start + int(np.argmin(loudness)) + window // 2
