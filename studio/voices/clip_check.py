"""Check whether a clip can be used as a voice prompt: an error for an unusable clip, warnings for a poor one.

The speech tokenizer accepts at most 30 s. Half a second of speech is a dozen tokens, which is too few to identify a
voice. Below 16 kHz, half of the spectrum that the networks use is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.errors import BrokenClip, ClipTooLong, ClipTooShort, LowSampleRate, SilentClip
from studio.voices.loudness import (
    FRAME_SECONDS,
    SILENCE_DBFS,
    FloatArray,
    differentiated,
    frame_levels,
    loud_level,
    speech_frames,
)

MIN_SAMPLE_RATE = 16_000
MAX_SECONDS = 30.0
MIN_SOUND_SECONDS = 0.5

_COMFORTABLE_SECONDS = 3.0
_QUIET_DBFS = -40.0
_MIN_SPEECH_SHARE = 0.4
# Unscaled 16-bit values in a float file reach 32 768. Decoders exceed 1 only slightly.
_MAX_SAMPLE = 8.0

_CLIPPED_ABOVE = 0.99
_CLIPPED_RUN_SAMPLES = 3
_CLIPPED_SHARE = 1e-4

_VOICE_BAND_HZ = (100.0, 4000.0)
_BAND_ABOVE_HZ = (4600.0, 7600.0)  # the gap allows for resamplers without a steep edge
_TELEPHONE_DB = -50.0
_SPECTRUM_SAMPLES = 1024

# This much is kept after the last speech frame, for a fading vowel, an unreleased consonant or reverberation.
_HANGOVER_SECONDS = 0.2
_SILENT_BELOW_SPEECH_DB = 45.0
_SILENT_ABOVE_FLOOR_DB = 4.0
# If the noise is closer to the speech level than this, weak consonants cannot be distinguished from it. They are
# 30 dB weaker than vowels, but almost as strong after differentiation.
_FLOOR_BELOW_SPEECH_DB = 30.0
_FLOOR_BELOW_BRIGHT_SPEECH_DB = 18.0


@dataclass(frozen=True, slots=True)
class ClipVerdict:
    """Result for a usable clip: the seconds of speech, and warnings as sentences."""

    speech_seconds: float
    warnings: tuple[str, ...] = ()


def check_prompt_clip(waveform: Waveform) -> ClipVerdict:
    """Check a clip as read from its file, before resampling.

    Raises ``BrokenClip``, ``LowSampleRate``, ``ClipTooLong``, ``ClipTooShort``, ``SilentClip``.
    """
    require_sound(waveform)
    if waveform.seconds > MAX_SECONDS:
        raise ClipTooLong(
            "The clip lasts {seconds:.1f} s; at most {longest:.0f} s can be used.",
            remedy="Cut out 3 to 10 s of continuous speech.",
            seconds=waveform.seconds,
            longest=MAX_SECONDS,
        )
    levels = frame_levels(waveform.samples, waveform.sample_rate)
    speech_seconds = min(float(speech_frames(levels).sum()) * FRAME_SECONDS, waveform.seconds)
    if speech_seconds < MIN_SOUND_SECONDS:
        raise ClipTooShort(
            "The clip contains only {seconds:.2f} s of speech; at least {least} s are needed, 3 to 10 s work best.",
            remedy="Choose a longer recording.",
            seconds=speech_seconds,
            least=MIN_SOUND_SECONDS,
        )
    return ClipVerdict(speech_seconds, tuple(_warnings(waveform, loud_level(levels), speech_seconds)))


def require_sound(waveform: Waveform) -> None:
    """Check a recording of any length for valid, audible samples.

    Raises ``BrokenClip``, ``LowSampleRate``, ``ClipTooShort`` (no samples), ``SilentClip``.
    """
    if len(waveform.samples) == 0:
        raise ClipTooShort("The clip is empty.", remedy="Choose a longer recording.")
    largest = float(np.abs(waveform.samples).max())
    if not np.isfinite(largest):
        raise BrokenClip(
            "The clip contains invalid samples (NaN or infinity).",
            remedy="Export the recording again, for example as 16-bit WAV.",
        )
    if largest > _MAX_SAMPLE:
        raise BrokenClip(
            "The clip's samples reach {largest:.0f}; full scale is 1.",
            remedy="Export the recording again, for example as 16-bit WAV.",
            largest=largest,
        )
    if waveform.sample_rate < MIN_SAMPLE_RATE:
        raise LowSampleRate(
            "The clip has a sample rate of {sample_rate} Hz; at least {lowest} Hz is needed.",
            remedy="Use a recording of better quality; converting the file does not help.",
            sample_rate=waveform.sample_rate,
            lowest=MIN_SAMPLE_RATE,
        )
    if frame_levels(waveform.samples, waveform.sample_rate).max() <= SILENCE_DBFS:
        raise SilentClip("The clip is silent.", remedy="Check the microphone and record again.")


def trailing_silence_seconds(waveform: Waveform) -> float:
    """Return a conservative estimate of the time that can be cut from the end without cutting speech."""
    return max(0.0, waveform.seconds - last_sound_seconds(waveform) - _HANGOVER_SECONDS)


def last_sound_seconds(waveform: Waveform) -> float:
    """Return an estimate of the end of the last speech, which may be too late but not too early.

    From there on, both the waveform and its derivative are at the noise floor of the clip. If the floor is not far
    below the speech level, return the length of the clip.
    """
    return max(
        _last_sound_seconds(waveform, _FLOOR_BELOW_SPEECH_DB),
        _last_sound_seconds(differentiated(waveform), _FLOOR_BELOW_BRIGHT_SPEECH_DB),
    )


def _last_sound_seconds(waveform: Waveform, floor_below_speech_db: float) -> float:
    # Frames are counted from the end, so that the last one is complete.
    levels = frame_levels(waveform.samples[::-1], waveform.sample_rate)
    loud = loud_level(levels)
    floor = float(np.quantile(levels, 0.05)) if len(levels) else loud
    gate = max(loud - _SILENT_BELOW_SPEECH_DB, floor + _SILENT_ABOVE_FLOOR_DB)
    sounding = np.flatnonzero(levels > min(gate, loud - floor_below_speech_db))
    return waveform.seconds - float(sounding[0]) * FRAME_SECONDS if len(sounding) else 0.0


def _warnings(waveform: Waveform, loud_dbfs: float, speech_seconds: float) -> list[str]:
    found = []
    if speech_seconds < _COMFORTABLE_SECONDS:
        found.append(f"The clip contains only {speech_seconds:.1f} s of speech; 3 to 10 s give a closer likeness.")
    elif speech_seconds < _MIN_SPEECH_SHARE * waveform.seconds:
        found.append("The clip is mostly silence; the voice may pause a lot.")
    if loud_dbfs < _QUIET_DBFS:
        found.append("The clip is very quiet; noise becomes part of the voice.")
    if clipped_samples(waveform).sum() > _CLIPPED_SHARE * len(waveform.samples):
        found.append("The clip is distorted: its peaks are clipped.")
    if sounds_like_a_telephone(waveform):
        found.append("The clip sounds like a telephone call: there is almost nothing above 4 kHz.")
    return found


def clipped_samples(waveform: Waveform) -> npt.NDArray[np.bool_]:
    """Return (n,): whether a run of samples at full scale starts at each sample."""
    is_full = np.abs(waveform.samples) >= _CLIPPED_ABOVE
    num_starts = max(0, len(is_full) - _CLIPPED_RUN_SAMPLES + 1)
    begins_run = np.zeros(len(is_full), bool)
    begins_run[:num_starts] = True
    for offset in range(_CLIPPED_RUN_SAMPLES):
        begins_run[:num_starts] &= is_full[offset : offset + num_starts]
    return begins_run


def sounds_like_a_telephone(waveform: Waveform) -> bool:
    """Return whether the mean power above 4.6 kHz is far below the mean power under 4 kHz."""
    hertz, power = mean_spectrum(waveform)
    if not len(power):
        return False
    below, above = (
        float(power[(low < hertz) & (hertz < high)].mean()) for low, high in (_VOICE_BAND_HZ, _BAND_ABOVE_HZ)
    )
    return bool(above < below * 10.0 ** (_TELEPHONE_DB / 10.0))


def mean_spectrum(waveform: Waveform) -> tuple[FloatArray, FloatArray]:
    """Return (bins,) frequencies in Hz and (bins,) mean power over the clip, both empty if it is shorter than a frame."""
    if len(waveform.samples) < _SPECTRUM_SAMPLES:
        return np.zeros(0), np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(waveform.samples, _SPECTRUM_SAMPLES)[:: _SPECTRUM_SAMPLES // 2]
    power = np.abs(np.fft.rfft(frames * np.hanning(_SPECTRUM_SAMPLES))) ** 2
    hertz = np.arange(power.shape[1]) * (waveform.sample_rate / _SPECTRUM_SAMPLES)
    return hertz.astype(np.float64), power.mean(axis=0).astype(np.float64)
