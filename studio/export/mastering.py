"""Processing of the audio of a line for its file: trimming, resampling, loudness and limiting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.audio.edits import rising_gains
from studio.audio.encoding import SoundEncoding
from studio.audio.resampling import Samples, resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import UnusableSetting
from studio.export.loudness import limit, loudness_lufs, to_amplitude
from studio.voices.loudness import FRAME_SECONDS, SILENCE_DBFS, frame_levels, loud_level

MAX_LUFS, MIN_LUFS = -5.0, -40.0
# Audio that needs more gain is a breath or a hum, not quiet speech.
_MAX_GAIN_DB = 24.0
_CLOSE_ENOUGH_LU = 0.05
_MAX_CORRECTIONS = 4
# The limit for formats that clip at full scale, if no other limit is set.
_FULL_SCALE_DBTP = -0.1
# Speech fades out: frames up to this much quieter than the loud syllables are still speech.
_SPEECH_RANGE_DB = 50.0
_KEPT_HEAD_SECONDS = 0.05
_KEPT_TAIL_SECONDS = 0.15
_FADE_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class LoudnessTarget:
    """The integrated loudness of each file, and its true-peak limit. Raises ``UnusableSetting``."""

    lufs: float = -16.0
    true_peak_dbtp: float = -1.0

    def __post_init__(self) -> None:
        if not MIN_LUFS <= self.lufs <= MAX_LUFS:
            raise UnusableSetting(
                "The loudness {lufs:g} LUFS is out of range.",
                remedy="Choose {quietest:g} to {loudest:g}; -16 is usual for podcasts, -19 for audiobooks.",
                lufs=self.lufs,
                quietest=MIN_LUFS,
                loudest=MAX_LUFS,
            )
        if not -20.0 <= self.true_peak_dbtp <= 0.0:
            raise UnusableSetting(
                "The true-peak limit {peak:g} dBTP is out of range.",
                remedy="Choose -20 to 0; -1 is usual.",
                peak=self.true_peak_dbtp,
            )


def resample_and_trim(waveform: Waveform, sample_rate: int, *, is_trimmed: bool) -> Samples:
    """Return the audio at ``sample_rate``.

    It has ceil(n * sample_rate / waveform.sample_rate) samples, where n is the number of samples after trimming.
    """
    if is_trimmed:
        waveform = trim(waveform)
    if waveform.sample_rate == sample_rate:
        return waveform.samples
    return resample_steeply(waveform.samples, waveform.sample_rate, sample_rate)


def trim(waveform: Waveform) -> Waveform:
    """Remove silence before and after the speech, with margins and fades. Leave all-silent audio unchanged."""
    levels = frame_levels(waveform.samples, waveform.sample_rate)
    gate = max(SILENCE_DBFS, loud_level(levels) - _SPEECH_RANGE_DB)
    (sounding,) = np.nonzero(levels > gate)
    if not len(sounding):
        return waveform
    rate = waveform.sample_rate
    frame = FRAME_SECONDS * rate
    start = max(0, round(sounding[0] * frame - _KEPT_HEAD_SECONDS * rate))
    end = min(len(waveform.samples), round((sounding[-1] + 1) * frame + _KEPT_TAIL_SECONDS * rate))
    samples = waveform.samples[start:end].copy()
    num_fade = min(round(_FADE_SECONDS * rate), len(samples) // 2)
    ramp = np.linspace(0.0, 1.0, num_fade, endpoint=False, dtype=np.float32)
    if start > 0:
        samples[:num_fade] *= ramp
    if end < len(waveform.samples):
        samples[len(samples) - num_fade :] *= ramp[::-1]
    return Waveform(samples, rate)


def soften_ends(samples: Samples, sample_rate: int) -> Samples:
    """Return ``samples`` with short fades at both ends, so that joining them with silence causes no click."""
    samples = samples.copy()
    num_fade = min(round(_FADE_SECONDS * sample_rate), len(samples) // 2)
    ramp = rising_gains(num_fade)
    samples[:num_fade] *= ramp
    samples[len(samples) - num_fade :] *= ramp[::-1]
    return samples


def apply_loudness(
    samples: Samples,
    sample_rate: int,
    target: LoudnessTarget | None,
    encoding: SoundEncoding,
    *,
    extra_gain_db: float = 0.0,
) -> Samples:
    """Return ``samples`` with the loudness and true peak of ``target``.

    If there is no target, the samples are unchanged, or limited to full scale if the format requires it.
    ``extra_gain_db`` is added to every line, so that all lines together reach the target.
    """
    if target is None:
        must_limit = not encoding.is_float and np.abs(samples).max(initial=0.0) > 1.0
        return limit(samples, sample_rate, _FULL_SCALE_DBTP) if must_limit else samples
    loudness = loudness_lufs(samples, sample_rate)
    if loudness is None:
        return samples
    aim = target.lufs + extra_gain_db
    gain_db = min(_MAX_GAIN_DB, aim - loudness)
    result = samples
    for _ in range(_MAX_CORRECTIONS):
        amplified = samples * np.float32(to_amplitude(gain_db))
        result = limit(amplified, sample_rate, target.true_peak_dbtp)
        reached = loudness_lufs(result, sample_rate)
        # Compensate for loudness lost in the limiter.
        if result is amplified or reached is None or abs(aim - reached) < _CLOSE_ENOUGH_LU:
            break
        gain_db = min(_MAX_GAIN_DB, gain_db + aim - reached)
    return result


def limit_mix(samples: Samples, *, rate: int, target: LoudnessTarget | None, encoding: SoundEncoding) -> Samples:
    """Return the sum of several lines with the true peak of ``target`` or, if there is none, limited to full scale."""
    if target is not None:
        return limit(samples, rate, target.true_peak_dbtp)
    return apply_loudness(samples, rate, None, encoding)
