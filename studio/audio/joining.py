"""Joining of recordings at quiet places, without clicks."""

from __future__ import annotations

import numpy as np

from studio.audio.edits import rising_gains
from studio.audio.resampling import Samples

CROSSFADE_SECONDS = 0.02
MAX_CROSSFADE_SECONDS = 1.0
FRAME_SECONDS = 0.01
# Frames that are this much quieter than the loudest ones are pauses.
SPEECH_RANGE_DB = 35.0
SILENT_DBFS = -60.0
_SEARCH_SECONDS = 0.15
# Length of the overlap of two readings of the same speech, and the longest period of a voice.
_SWITCH_SECONDS = 0.005
_PERIOD_SECONDS = 0.0125
# A place this far from the requested one must be this much quieter to be preferred.
_DISTANCE_DB = 6.0
MARGIN_SECONDS = 0.04  # length of the silence kept around speech
_MIN_SPEECH_SECONDS = 0.2
_MAX_GAIN_DB = 12.0
_MAX_PEAK = 0.99


def time_at_share(samples: Samples, sample_rate: int, share: float) -> float:
    """Return the time at which ``share``, 0 to 1, of the speech in a recording has passed. Pauses do not count."""
    is_speech = _is_speech(samples, sample_rate)
    if share <= 0.0 or not is_speech.any():
        return 0.0
    if share >= 1.0:
        return len(samples) / sample_rate
    spoken = np.cumsum(is_speech) / is_speech.sum()
    return float(np.searchsorted(spoken, share) * FRAME_SECONDS)


def share_at_time(samples: Samples, sample_rate: int, seconds: float) -> float:
    """Return the share of the speech in a recording, 0 to 1, that precedes a time: the inverse of ``time_at_share``."""
    is_speech = _is_speech(samples, sample_rate)
    num_frames = min(max(0, round(seconds / FRAME_SECONDS)), len(is_speech))
    return float(is_speech[:num_frames].sum() / max(1, is_speech.sum()))


def quiet_place(samples: Samples, sample_rate: int, near_seconds: float) -> float:
    """Return the quietest time close to ``near_seconds``, where a join is least audible."""
    levels = frame_levels(samples, sample_rate)
    if not len(levels):
        return 0.0
    wanted, reach = near_seconds / FRAME_SECONDS, _SEARCH_SECONDS / FRAME_SECONDS
    first, last = max(0, round(wanted - reach)), min(len(levels) - 1, round(wanted + reach))
    frames = np.arange(first, max(first, last) + 1).clip(0, len(levels) - 1)
    costs = levels[frames] + _DISTANCE_DB * np.abs(frames + 0.5 - wanted) / reach
    return float((frames[int(np.argmin(costs))] + 0.5) * FRAME_SECONDS)


def switched(
    first: Samples,
    second: Samples,
    sample_rate: int,
    *,
    first_span: tuple[float, float],
    second_span: tuple[float, float],
) -> tuple[Samples, float]:
    """Return ``first``, continued by ``second`` where both are most alike, and the time by which ``second`` moves.

    Both are readings of the same speech in the spans, which are equally long. They may differ by a period of the voice.
    """
    num_fade, reach = round(_SWITCH_SECONDS * sample_rate), round(_PERIOD_SECONDS * sample_rate)
    start, end = (round(seconds * sample_rate) for seconds in first_span)
    offset = round((second_span[0] - first_span[0]) * sample_rate)
    best = (np.inf, start, max(offset, -start))
    for at in range(start, max(start, end - num_fade) + 1, num_fade // 4):
        piece = first[at : at + num_fade]
        earliest = max(0, at + offset - reach)
        around = second[earliest : at + offset + reach + len(piece)]
        if len(piece) and len(around) >= len(piece):
            places = np.lib.stride_tricks.sliding_window_view(around, len(piece))
            costs = np.square(places - piece).sum(axis=1)
            place = int(np.argmin(costs))
            best = min(best, (float(costs[place]), at, earliest + place - at))
    _, at, offset = best
    return joined((first[: at + num_fade], second[at + offset :]), num_fade), -offset / sample_rate


def cross_over(
    first: Samples,
    second: Samples,
    sample_rate: int,
    *,
    end_seconds: float,
    start_seconds: float,
    fade_seconds: float = CROSSFADE_SECONDS,
) -> Samples:
    """Return ``first`` up to its end time, crossfaded into ``second`` from its start time, at the level of ``first``.

    The middle of the crossfade is at these times.
    """
    half = round(fade_seconds * sample_rate / 2)
    end, start = round(end_seconds * sample_rate), round(start_seconds * sample_rate)
    half = max(0, min(half, end, start, len(first) - end, len(second) - start))
    second = match_level(second, first, first, sample_rate=sample_rate)
    return joined((first[: end + half], second[start - half :]), 2 * half)


def joined(pieces: tuple[Samples, ...], num_fade: int) -> Samples:
    """Concatenate ``pieces``. Neighbours overlap by ``num_fade`` samples, or by the shorter of them."""
    whole = np.zeros(0, np.float32)
    for piece in pieces:
        overlap = min(num_fade, len(whole), len(piece))
        rising = rising_gains(overlap)
        seam = whole[len(whole) - overlap :] * rising[::-1] + piece[:overlap] * rising
        whole = np.concatenate([whole[: len(whole) - overlap], seam, piece[overlap:]])
    return whole


def match_level(part: Samples, rest: Samples, replaced: Samples, *, sample_rate: int) -> Samples:
    """Return ``part`` at the level of the speech in ``rest`` or, if there is too little, in ``replaced``."""
    wanted = _speech_level(rest, sample_rate) or _speech_level(replaced, sample_rate)
    level = _speech_level(part, sample_rate)
    if wanted is None or level is None:
        return part
    gain = 10 ** (np.clip(20 * np.log10(wanted / level), -_MAX_GAIN_DB, _MAX_GAIN_DB) / 20)
    peak = float(np.abs(part).max())
    scaled: Samples = (part * min(gain, _MAX_PEAK / peak)).astype(np.float32)
    return scaled


def _speech_level(samples: Samples, sample_rate: int) -> float | None:
    """Return the root mean square of the speech; None if there is too little speech to tell."""
    is_speech = _is_speech(samples, sample_rate)
    if is_speech.sum() * FRAME_SECONDS < _MIN_SPEECH_SECONDS:
        return None
    powers = 10 ** (frame_levels(samples, sample_rate)[is_speech] / 10)
    return float(np.sqrt(powers.mean()))


def _is_speech(samples: Samples, sample_rate: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    levels = frame_levels(samples, sample_rate)
    loudest = levels.max() if len(levels) else 0.0
    return levels > max(SILENT_DBFS, loudest - SPEECH_RANGE_DB)


def frame_levels(samples: Samples, sample_rate: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the level of each frame in dBFS, (frames,). The last frame may be incomplete."""
    length = round(FRAME_SECONDS * sample_rate)
    num_frames = -(-len(samples) // length)
    squares = np.zeros(num_frames * length)
    squares[: len(samples)] = samples.astype(np.float64) ** 2
    levels: np.ndarray[tuple[int], np.dtype[np.float64]] = 10 * np.log10(
        squares.reshape(num_frames, length).mean(axis=1) + 1e-12
    )
    return levels
