"""Pauses in a recording, and cuts that shorten them. All samples outside the cuts and their crossfades are unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from studio.audio.joining import (
    CROSSFADE_SECONDS,
    FRAME_SECONDS,
    MARGIN_SECONDS,
    SILENT_DBFS,
    SPEECH_RANGE_DB,
    frame_levels,
    joined,
)
from studio.audio.resampling import Samples

DEFAULT_PAUSE_SECONDS = 0.3
DEFAULT_ENDS_SECONDS = 0.1
MIN_KEPT_SECONDS = 0.05
MAX_KEPT_SECONDS = 5.0
# Between two words, breaths and noise are also part of the pause.
_RANGE_BETWEEN_WORDS_DB = 25.0
# 95 % of the word times are at least this accurate.
_WORD_ERROR_SECONDS = 0.12
_MIN_CUT_SECONDS = CROSSFADE_SECONDS
_TIE = 1.05  # places whose powers differ by less than this factor are equally quiet


@dataclass(frozen=True, slots=True)
class SilenceLimits:
    """How much silence is kept.

    Attributes:
        pause_seconds: The longest pause between words.
        ends_seconds: The longest silence at each end of the recording.
    """

    pause_seconds: float = DEFAULT_PAUSE_SECONDS
    ends_seconds: float = DEFAULT_ENDS_SECONDS

    def __post_init__(self) -> None:
        assert min(self.pause_seconds, self.ends_seconds) >= MIN_KEPT_SECONDS


@dataclass(frozen=True, slots=True)
class Span:
    """A span of samples; ``end`` is the first one after it."""

    start: int
    end: int

    @property
    def num_samples(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of a recording, in order, including the silence at both ends."""

    spans: tuple[Span, ...]
    num_samples: int
    sample_rate: int

    def saved_seconds(self, limits: SilenceLimits) -> float:
        """Return by how much cuts with these limits shorten the recording."""
        return sum(self._num_cut(span, limits) for span in self.spans) / self.sample_rate

    def cuts(self, samples: Samples, limits: SilenceLimits) -> SilenceCuts:
        """Return the cuts at the quietest samples of each pause that is longer than its limit."""
        power = np.concatenate([[0.0], np.cumsum(samples.astype(np.float64) ** 2)])
        cuts = []
        for span in self.spans:
            length = self._num_cut(span, limits)
            if length and span.start == 0:
                cuts.append(Span(0, length))
            elif length and span.end == self.num_samples:
                cuts.append(Span(span.end - length, span.end))
            elif length:
                start = self._quietest_start(power, span, length)
                cuts.append(Span(start, start + length))
        return SilenceCuts(tuple(cuts), self.num_samples, self.sample_rate)

    def _num_cut(self, span: Span, limits: SilenceLimits) -> int:
        is_end = span.start == 0 or span.end == self.num_samples
        kept = round((limits.ends_seconds if is_end else limits.pause_seconds) * self.sample_rate)
        length = span.num_samples - kept
        return length if length >= _MIN_CUT_SECONDS * self.sample_rate else 0

    def _quietest_start(self, power: np.ndarray[tuple[int], np.dtype[np.float64]], span: Span, length: int) -> int:
        """Return where to cut ``length`` samples so that both edges are quiet, if possible in the middle of the pause.

        ``power`` is the sum of the squares of all samples before each sample.
        """
        half = _num_fade(self.sample_rate) // 2
        num_kept = span.num_samples - length
        margin = min(round(MARGIN_SECONDS * self.sample_rate), num_kept // 2)
        starts = np.arange(span.start + margin, max(span.start + margin, span.end - length - margin) + 1)
        before = power[starts + half] - power[starts - half]
        after = power[starts + length + half] - power[starts + length - half]
        powers = before + after
        quiet = starts[powers <= _TIE * powers.min() + 1e-12]
        return int(quiet[np.argmin(np.abs(quiet - (span.start + num_kept // 2)))])


@dataclass(frozen=True, slots=True)
class SilenceCuts:
    """Spans to remove from a recording of ``num_samples``, in order."""

    spans: tuple[Span, ...]
    num_samples: int
    sample_rate: int

    def apply(self, samples: Samples) -> Samples:
        """Return the samples without the cuts. Cuts at the ends are faded, all others crossfaded."""
        half = _num_fade(self.sample_rate) // 2
        pieces = []
        start = 0
        for span in self.spans:
            if span.start > 0:
                pieces.append(samples[start : span.start + (half if span.end < self.num_samples else 0)])
            start = span.end - (half if span.start > 0 else 0)
        if not self.spans or self.spans[-1].end < self.num_samples:
            pieces.append(samples[start:])
        whole = joined(tuple(pieces), 2 * half)
        rising = np.linspace(0.0, 1.0, min(half, len(whole)), dtype=np.float32)
        if self.spans and self.spans[0].start == 0:
            whole[: len(rising)] *= rising
        if self.spans and self.spans[-1].end == self.num_samples:
            whole[len(whole) - len(rising) :] *= rising[::-1]
        return whole

    def time_after(self, seconds: float) -> float:
        """Return the time after the cuts of a time in the recording. Within a cut, this is the time of the cut."""
        at = seconds * self.sample_rate
        removed = sum(min(max(0.0, at - span.start), span.num_samples) for span in self.spans)
        return (at - removed) / self.sample_rate


def find_pauses(samples: Samples, sample_rate: int, words: Sequence[tuple[float, float]] = ()) -> Pauses:
    """Return the pauses of a recording (n,). ``words`` are the times of its words in seconds, in order, if known.

    With word times, a quiet place within a word is not a pause, and a breath between two words belongs to the pause.
    """
    levels = frame_levels(samples, sample_rate)
    loudest = levels.max() if len(levels) else SILENT_DBFS
    if loudest <= SILENT_DBFS:  # there is no speech
        return Pauses((), len(samples), sample_rate)
    is_quiet = levels <= max(SILENT_DBFS, loudest - SPEECH_RANGE_DB)
    num_of_frame = round(FRAME_SECONDS * sample_rate)
    frame_seconds = num_of_frame / sample_rate
    middles = (np.arange(len(levels)) + 0.5) * frame_seconds
    for (_, end), (start, _) in pairwise(words):
        is_quiet |= (end < middles) & (middles < start) & (levels <= loudest - _RANGE_BETWEEN_WORDS_DB)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_quiet, [False]]).astype(np.int8)))
    spans = (
        Span(int(first) * num_of_frame, min(int(last) * num_of_frame, len(samples)))
        for first, last in edges.reshape(-1, 2)
        if not _is_within_word(first * frame_seconds, last * frame_seconds, words)
    )
    return Pauses(tuple(spans), len(samples), sample_rate)


def _is_within_word(start: float, end: float, words: Sequence[tuple[float, float]]) -> bool:
    return any(first + _WORD_ERROR_SECONDS < start and end < last - _WORD_ERROR_SECONDS for first, last in words)


def _num_fade(sample_rate: int) -> int:
    return round(CROSSFADE_SECONDS * sample_rate)
