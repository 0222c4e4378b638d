"""Faults of the sound: silence, noise, clipping, cut ends, and a level or bandwidth unlike the voice's other takes.

Each limit is the middle of a ramp: at the limit, a problem has a confidence of 0.5. Measured values are from takes of
studio-mini and the bundled voices; see ``packaging/measure.py take-checks``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studio.take_checks.confidence import MIN_EARLIER_TAKES, median_and_deviation, ramp
from studio.take_checks.records import Problem, ProblemKind, TakeMeasures
from studio.take_checks.sound import FRAME_SECONDS, BoolArray, Sound, runs

# Silence within a phrase. Closures of stops last up to 0.2 s, and hesitations of studio-mini up to 0.45 s.
_SILENCE_SECONDS, _CERTAIN_SILENCE_SECONDS = 0.65, 1.2
# At punctuation, actors pause for up to a second.
_PAUSE_SECONDS, _CERTAIN_PAUSE_SECONDS = 1.3, 2.5
# A shorter silence is the closure of a stop.
_MIN_PAUSE_SECONDS = 0.12
# Silence at the start and end, which delays playback.
_OUTER_SILENCE_SECONDS, _CERTAIN_OUTER_SILENCE_SECONDS = 1.5, 3.0

# Noise: frames nearly as loud as the syllables, not periodic, with power in all bands. Fricatives are like that, but
# shorter: at most 0.18 s (flatness -9 dB) and 0.1 s (-5 dB) in 80 good takes.
_NOISE_RANGE_DB = 15.0
_NOISE_PERIODICITY = 0.8
_NOISE_RUNS = ((-9.0, 0.25), (-7.0, 0.22), (-5.0, 0.15))
_CERTAIN_NOISE_FACTOR = 1.6
# In whispered takes, all frames have these properties.
_MAX_NOISE_SHARE = 0.4

# The last 30 ms of a complete take are 60 dB below its syllables or more; the middle of a word is less than 20 dB below.
_END_SECONDS = 0.03
_CUT_END_DB, _CERTAIN_CUT_END_DB = -28.0, -15.0
# Some complete takes begin with a plosive or vowel at full level, so this alone is not certain.
_CUT_START_DB, _CERTAIN_CUT_START_DB = 0.0, 12.0

_CLIPPED_LEVEL = 0.999
_CLIPPED_RUN_SAMPLES = 3
_CLIPPED_RUNS, _CERTAIN_CLIPPED_RUNS = 3, 30
_DC_SHARE, _CERTAIN_DC_SHARE = 0.1, 0.3  # relative to the amplitude of the loud syllables
_SILENT_TAKE_DBFS = -55.0

# A difference from the median of the voice's other takes: at least this much, and this many times the usual deviation.
_LEVEL_DB, _LEVEL_DEVIATIONS = 6.0, 5.0
_BANDWIDTH_OCTAVES, _BANDWIDTH_DEVIATIONS = 0.7, 5.0


def sound_problems(
    sound: Sound, phrases: Sequence[tuple[float, float]], pauses: Sequence[float], earlier: Sequence[TakeMeasures]
) -> list[Problem]:
    """Return the problems of the sound.

    Args:
        phrases: Start and end of each sentence in seconds. Silence between them is intended.
        pauses: Times at which punctuation allows a pause.
        earlier: Measures of the voice's other takes.
    """
    if not sound.is_sounding.any() or sound.loud_dbfs < _SILENT_TAKE_DBFS:
        return [Problem(ProblemKind.LONG_SILENCE, 0.0, sound.seconds, confidence=0.99)]
    found = [*_silences(sound, phrases, pauses), *_noises(sound), *_cuts(sound)]
    found += [*_clipping(sound), *_dc_offset(sound), *_unlike_others(sound, earlier)]
    return found


def _silences(sound: Sound, phrases: Sequence[tuple[float, float]], pauses: Sequence[float]) -> list[Problem]:
    found = []
    for start, end in phrases or [(0.0, sound.seconds)]:
        first, last = round(start / FRAME_SECONDS), min(round(end / FRAME_SECONDS), len(sound.is_sounding))
        for a, b in runs(~sound.is_sounding[first:last]):
            seconds = (b - a) * FRAME_SECONDS
            place = ((first + a) * FRAME_SECONDS, (first + b) * FRAME_SECONDS)
            if a == 0 or b == last - first:
                limits = (_OUTER_SILENCE_SECONDS, _CERTAIN_OUTER_SILENCE_SECONDS)
            elif any(place[0] - 0.15 <= pause <= place[1] + 0.15 for pause in pauses):
                limits = (_PAUSE_SECONDS, _CERTAIN_PAUSE_SECONDS)
            else:
                limits = (_SILENCE_SECONDS, _CERTAIN_SILENCE_SECONDS)
            confidence = ramp(seconds, *limits)
            if confidence > 0.25:
                found.append(Problem(ProblemKind.LONG_SILENCE, *place, confidence=confidence))
    return found


def inner_pauses(sound: Sound) -> list[float]:
    """Return the lengths in seconds of the pauses after the first and before the last sound."""
    inner = [(a, b) for a, b in runs(~sound.is_sounding) if a > 0 and b < len(sound.is_sounding)]
    lengths = [(b - a) * FRAME_SECONDS for a, b in inner]
    return [seconds for seconds in lengths if seconds >= _MIN_PAUSE_SECONDS]


def _noises(sound: Sound) -> list[Problem]:
    is_loud = sound.levels > sound.loud_dbfs - _NOISE_RANGE_DB
    flattest = min(flatness for flatness, _ in _NOISE_RUNS)
    is_periodic = sound.is_periodic(is_loud & (sound.flatness > flattest), _NOISE_PERIODICITY)
    best: dict[tuple[int, int], float] = {}
    for flatness, seconds in _NOISE_RUNS:
        is_noise = is_loud & ~is_periodic & (sound.flatness > flatness)
        if is_noise.sum() > _MAX_NOISE_SHARE * max(1, is_loud.sum()):
            continue
        for a, b in runs(_without_gaps(is_noise)):
            confidence = ramp((b - a) * FRAME_SECONDS, seconds, _CERTAIN_NOISE_FACTOR * seconds)
            if confidence > 0.25:
                best[a, b] = max(confidence, best.get((a, b), 0.0))
    found: list[Problem] = []
    for (a, b), confidence in sorted(best.items(), key=lambda item: -item[1]):
        start, end = a * FRAME_SECONDS, b * FRAME_SECONDS
        if not any(start < other.to_seconds and other.from_seconds < end for other in found):
            found.append(Problem(ProblemKind.NOISE, start, end, confidence=confidence))
    return found


def _without_gaps(flags: BoolArray) -> BoolArray:
    """Return ``flags`` with single false frames between true ones set."""
    filled = flags.copy()
    filled[1:-1] |= flags[:-2] & flags[2:]
    return filled


def _cuts(sound: Sound) -> list[Problem]:
    found = []
    num_samples = round(_END_SECONDS * sound.sample_rate)
    end = _level(sound.samples[-num_samples:]) - sound.loud_dbfs
    start = _level(sound.samples[:num_samples]) - sound.loud_dbfs
    if (confidence := ramp(end, _CUT_END_DB, _CERTAIN_CUT_END_DB)) > 0.25:
        place = (max(0.0, sound.seconds - 0.3), sound.seconds)
        found.append(Problem(ProblemKind.CUT_END, *place, confidence=confidence))
    if (confidence := ramp(start, _CUT_START_DB, _CERTAIN_CUT_START_DB)) > 0.25:
        found.append(Problem(ProblemKind.CUT_START, 0.0, min(0.3, sound.seconds), confidence=confidence))
    return found


def _level(samples: np.ndarray) -> float:
    return float(10.0 * np.log10(np.square(samples, dtype=np.float64).mean() + 1e-10))


def _clipping(sound: Sound) -> list[Problem]:
    clipped = runs(np.abs(sound.samples) >= _CLIPPED_LEVEL)
    long = [(a, b) for a, b in clipped if b - a >= _CLIPPED_RUN_SAMPLES]
    if not long:
        return []
    confidence = ramp(len(long), _CLIPPED_RUNS, _CERTAIN_CLIPPED_RUNS)
    place = (long[0][0] / sound.sample_rate, long[-1][1] / sound.sample_rate)
    return [Problem(ProblemKind.CLIPPING, *place, confidence=confidence)]


def _dc_offset(sound: Sound) -> list[Problem]:
    amplitude = 10.0 ** (sound.loud_dbfs / 20.0)
    confidence = ramp(abs(float(sound.samples.mean())) / amplitude, _DC_SHARE, _CERTAIN_DC_SHARE)
    return [Problem(ProblemKind.DC_OFFSET, 0.0, sound.seconds, confidence=confidence)] if confidence > 0.35 else []


def _unlike_others(sound: Sound, earlier: Sequence[TakeMeasures]) -> list[Problem]:
    if len(earlier) < MIN_EARLIER_TAKES:
        return []
    level = _oddness(
        sound.loud_dbfs, [take.level_dbfs for take in earlier], least=_LEVEL_DB, deviations=_LEVEL_DEVIATIONS
    )
    octaves = [float(np.log2(max(take.bandwidth_hz, 1.0))) for take in earlier]
    bandwidth = _oddness(
        float(np.log2(max(sound.bandwidth_hz, 1.0))),
        octaves,
        least=_BANDWIDTH_OCTAVES,
        deviations=_BANDWIDTH_DEVIATIONS,
    )
    return [
        Problem(kind, 0.0, sound.seconds, confidence=confidence)
        for kind, confidence in ((ProblemKind.ODD_LEVEL, level), (ProblemKind.ODD_BANDWIDTH, bandwidth))
        if confidence > 0.25
    ]


def _oddness(value: float, others: Sequence[float], *, least: float, deviations: float) -> float:
    """Return the confidence that ``value`` does not belong to ``others``."""
    median, deviation = median_and_deviation(others)
    limit = max(least, deviations * deviation)
    return ramp(abs(value - median), limit, 2 * limit)
