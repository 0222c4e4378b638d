"""Selection of the best prompt segment of a recording, and cutting of the segment.

A good prompt is 3 to 10 seconds of one speaker. It starts and ends in pauses, and contains much speech, little silence
and no clipping.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.voices.clip_check import MAX_SECONDS, clipped_samples, last_sound_seconds
from studio.voices.loudness import FRAME_SECONDS, FloatArray, frame_levels, loud_level, speech_frames

MIN_GOOD_SECONDS = 3.0
MAX_GOOD_SECONDS = 10.0
# The official program ends each prompt with this silence. For the language model, it marks the end of the sentence.
TAIL_SECONDS = 0.2
LEAD_SECONDS = 0.1

_PAUSE_SECONDS = 0.3
_CLICK_SECONDS = 0.08
_FADE_SECONDS = 0.01
# With more speech than this, a longer segment gains little and delays the first audio.
_ENOUGH_SPEECH_SECONDS = 6.0
_TOLERATED_SILENCE_SHARE = 0.15
_CUT_PENALTY = 0.3
_CLIPPING_WEIGHT = 20.0
# Of otherwise equal segments, the earlier one is preferred.
_LATENESS_WEIGHT = 0.02
_FLOOR_QUANTILE = 0.05
_GATE_ABOVE_FLOOR_DB = 6.0
_GATE_BELOW_LOUD_DB = 12.0


@dataclass(frozen=True, slots=True)
class PromptWindow:
    """A segment of a recording, in seconds from its start."""

    start_seconds: float
    end_seconds: float

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Speech between two pauses, or a part of it if ``is_cut``, in frames of 20 ms."""

    start: int
    end: int
    is_cut: bool = False


def best_segment(waveform: Waveform, max_seconds: float = MAX_GOOD_SECONDS) -> PromptWindow:
    """Return the best 3 to ``max_seconds`` seconds, or less if there is less speech.

    If there is no speech, return the start of the recording.
    """
    best = best_segments(waveform, 1, max_seconds)
    return best[0] if best else PromptWindow(0.0, min(waveform.seconds, max_seconds))


def best_segments(waveform: Waveform, count: int, max_seconds: float = MAX_GOOD_SECONDS) -> list[PromptWindow]:
    """Return at most ``count`` segments that do not overlap, best first; none without speech.

    An hour takes seconds: the recording is measured once, and segments are scored by sums over its frames.
    """
    levels = frame_levels(waveform.samples, waveform.sample_rate)
    is_speech = speech_mask(levels)
    phrases = _phrases(is_speech, levels, max_seconds)
    if not phrases:
        return []
    scorer = _SegmentScorer(waveform, is_speech)
    chosen: list[PromptWindow] = []
    for window, _ in sorted(_candidates(phrases, waveform.seconds, max_seconds), key=scorer.score, reverse=True):
        if len(chosen) == count:
            break
        if all(window.end_seconds <= each.start_seconds or window.start_seconds >= each.end_seconds for each in chosen):
            chosen.append(window)
    return chosen


def cut_prompt(waveform: Waveform, window: PromptWindow) -> Waveform:
    """Return the audio in ``window`` without silence at its ends, except for a tail of ``TAIL_SECONDS``.

    If the tail is missing, it is added. The result is at most ``MAX_SECONDS`` long.
    """
    rate = waveform.sample_rate
    chosen = Waveform(waveform.samples[round(window.start_seconds * rate) : round(window.end_seconds * rate)], rate)
    last_sound = last_sound_seconds(chosen)
    if last_sound <= 0:
        return chosen
    backwards = Waveform(np.ascontiguousarray(chosen.samples[::-1]), rate)
    start = max(0, round((chosen.seconds - last_sound_seconds(backwards) - LEAD_SECONDS) * rate))
    end = round((last_sound + TAIL_SECONDS) * rate)
    samples = chosen.samples[start:end].copy()
    fade = min(len(samples) // 2, round(_FADE_SECONDS * rate))
    samples[:fade] *= np.linspace(0.0, 1.0, fade, dtype=np.float32)
    samples[len(samples) - fade :] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
    num_missing = max(0, end - len(chosen.samples))
    return Waveform(np.pad(samples, (0, num_missing))[: int(MAX_SECONDS * rate)], rate)


def speech_mask(levels: FloatArray) -> npt.NDArray[np.bool_]:
    """Return (frames,): whether a frame is speech or a short gap between syllables or words.

    Unlike in :func:`speech_frames`, the threshold also depends on the noise floor of the recording.
    """
    if not len(levels):
        return np.zeros(0, bool)
    floor, loud = float(np.quantile(levels, _FLOOR_QUANTILE)), loud_level(levels)
    gate = min(floor + _GATE_ABOVE_FLOOR_DB, loud - _GATE_BELOW_LOUD_DB)
    is_speech: npt.NDArray[np.bool_] = speech_frames(levels) & (levels > gate)
    starts, ends = _runs(is_speech)
    for gap_start, gap_end in zip(ends[:-1], starts[1:], strict=True):
        if gap_end - gap_start < _PAUSE_SECONDS / FRAME_SECONDS:
            is_speech[gap_start:gap_end] = True
    return is_speech


def _runs(mask: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Return the start of each run of true values and the index after its end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return edges[::2].tolist(), edges[1::2].tolist()


def _phrases(is_speech: npt.NDArray[np.bool_], levels: FloatArray, max_seconds: float) -> list[_Phrase]:
    """Return the phrases in order. Phrases that are too long for a segment are cut at a quiet frame."""
    sounding = [
        (start, end)
        for start, end in zip(*_runs(is_speech), strict=True)
        if end - start >= _CLICK_SECONDS / FRAME_SECONDS
    ]
    return [phrase for start, end in sounding for phrase in _cut(start, end, levels, max_seconds)]


def _cut(start: int, end: int, levels: FloatArray, max_seconds: float) -> list[_Phrase]:
    longest = int((max_seconds - LEAD_SECONDS - TAIL_SECONDS) / FRAME_SECONDS)
    pieces = []
    while end - start > longest:
        middle = start + longest // 2 + int(np.argmin(levels[start + longest // 2 : start + longest]))
        pieces.append(_Phrase(start, middle, is_cut=True))
        start = middle
    return [*pieces, _Phrase(start, end, is_cut=bool(pieces))]


def _candidates(phrases: list[_Phrase], total_seconds: float, max_seconds: float) -> list[tuple[PromptWindow, bool]]:
    """Return all runs of phrases that are short enough, and all single phrases, each with whether it cuts speech."""
    found = []
    for number, first in enumerate(phrases):
        for last in phrases[number:]:
            start = max(0.0, first.start * FRAME_SECONDS - (0.0 if first.is_cut else LEAD_SECONDS))
            end = min(total_seconds, last.end * FRAME_SECONDS + (0.0 if last.is_cut else TAIL_SECONDS))
            if end - start > max_seconds and last is not first:
                break
            found.append((PromptWindow(start, end), first.is_cut or last.is_cut))
    return found


class _SegmentScorer:
    """Computes scores of segments of one recording from cumulative sums over its frames."""

    def __init__(self, waveform: Waveform, is_speech: npt.NDArray[np.bool_]) -> None:
        self._total_seconds = waveform.seconds
        self._speech_until = np.concatenate([[0.0], np.cumsum(is_speech)]) * FRAME_SECONDS
        frame = max(1, round(FRAME_SECONDS * waveform.sample_rate))
        clipped = np.add.reduceat(
            clipped_samples(waveform).astype(np.float64), np.arange(0, len(waveform.samples), frame)
        )
        self._clipped_until = np.concatenate([[0.0], np.cumsum(clipped)]) / waveform.sample_rate

    def score(self, candidate: tuple[PromptWindow, bool]) -> float:
        window, is_cut = candidate
        speech = _between(self._speech_until, window)
        silence_share = 1.0 - speech / window.seconds
        clipped_share = _between(self._clipped_until, window) / window.seconds
        return (
            min(speech, _ENOUGH_SPEECH_SECONDS) / _ENOUGH_SPEECH_SECONDS
            - max(0.0, silence_share - _TOLERATED_SILENCE_SHARE)
            - min(1.0, _CLIPPING_WEIGHT * clipped_share)
            - (_CUT_PENALTY if is_cut else 0.0)
            - _LATENESS_WEIGHT * window.start_seconds / max(1.0, self._total_seconds)
        )


def _between(sums: FloatArray, window: PromptWindow) -> float:
    last = len(sums) - 1
    start, end = (min(last, round(moment / FRAME_SECONDS)) for moment in (window.start_seconds, window.end_seconds))
    return float(sums[end] - sums[start])
