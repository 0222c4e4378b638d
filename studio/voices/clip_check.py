"""Is this clip fit to learn a voice from? What makes it useless is an error, what makes it poor a warning.

Limits: the speech tokenizer hears at most 30 s. Less than half a second of sound is a dozen tokens,
from which no voice can be told. Below 16 kHz half of what the networks look at does not exist.
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
    frame_levels,
    loud_level,
    spectral_centroid,
    speech_frames,
)

LOWEST_SAMPLE_RATE = 16_000
LONGEST_SECONDS = 30.0
LEAST_SOUND_SECONDS = 0.5

_COMFORTABLE_SECONDS = 3.0
_QUIET_DBFS = -40.0
_LEAST_SPEECH_SHARE = 0.4
# Float files of 16-bit numbers that were never scaled reach 32 768; decoders overshoot 1 by a little.
_LARGEST_SAMPLE = 8.0

_CLIPPED_ABOVE = 0.99
_CLIPPED_RUN_SAMPLES = 3
_CLIPPED_SHARE = 1e-4

_VOICE_BAND_HZ = (100.0, 4000.0)
_BAND_ABOVE_HZ = (4600.0, 7600.0)  # room between them for resamplers without a steep edge
_TELEPHONE_DB = -50.0
_SPECTRUM_SAMPLES = 1024

# What is kept after the last sound: a fading vowel, an unreleased consonant, the room.
_HANGOVER_SECONDS = 0.2
_SILENT_BELOW_SPEECH_DB = 45.0
_SILENT_ABOVE_FLOOR_DB = 4.0
# Where noise is nearer to speech than this, a weak consonant cannot be told from it. Weak consonants are
# 30 dB below vowels, but hardly weaker than them in brightness.
_FLOOR_BELOW_SPEECH_DB = 30.0
_FLOOR_BELOW_BRIGHT_SPEECH_DB = 18.0


@dataclass(frozen=True, slots=True)
class ClipVerdict:
    """A usable clip: how much of it sounds, and what a person might want to improve, as sentences."""

    speech_seconds: float
    warnings: tuple[str, ...] = ()


def check_prompt_clip(waveform: Waveform) -> ClipVerdict:
    """Judges a clip as read from its file, before resampling.

    Raises ``BrokenClip``, ``LowSampleRate``, ``ClipTooLong``, ``ClipTooShort``, ``SilentClip``.
    """
    require_sound(waveform)
    if waveform.seconds > LONGEST_SECONDS:
        raise ClipTooLong(
            "The clip lasts {seconds:.1f} s; a voice is learnt from at most {longest:.0f} s.",
            remedy="Cut out 3 to 10 s in which the voice speaks without a break.",
            seconds=waveform.seconds,
            longest=LONGEST_SECONDS,
        )
    levels = frame_levels(waveform.samples, waveform.sample_rate)
    speech_seconds = min(float(speech_frames(levels).sum()) * FRAME_SECONDS, waveform.seconds)
    if speech_seconds < LEAST_SOUND_SECONDS:
        raise ClipTooShort(
            "The clip holds only {seconds:.2f} s of sound; a voice needs at least {least} s, and 3 to 10 s to be learnt well.",
            remedy="Choose a longer recording.",
            seconds=speech_seconds,
            least=LEAST_SOUND_SECONDS,
        )
    return ClipVerdict(speech_seconds, tuple(_warnings(waveform, loud_level(levels), speech_seconds)))


def require_sound(waveform: Waveform) -> None:
    """What every recording must be that a network is to hear, of any length.

    Raises ``BrokenClip``, ``LowSampleRate``, ``ClipTooShort`` (no samples), ``SilentClip``.
    """
    if len(waveform.samples) == 0:
        raise ClipTooShort("The clip is empty.", remedy="Choose a longer recording.")
    largest = float(np.abs(waveform.samples).max())
    if not np.isfinite(largest):
        raise BrokenClip(
            "The clip holds numbers that are not sound (NaN or infinity).",
            remedy="The program that wrote it failed: export it again, as 16-bit WAV for example.",
        )
    if largest > _LARGEST_SAMPLE:
        raise BrokenClip(
            "The clip's samples reach {largest:.0f} where 1 is the loudest there is.",
            remedy="It was saved without scaling: export it again, as 16-bit WAV for example.",
            largest=largest,
        )
    if waveform.sample_rate < LOWEST_SAMPLE_RATE:
        raise LowSampleRate(
            "The clip has {sample_rate} samples a second; at least {lowest} are needed.",
            remedy="Use a recording of better quality, not one from a telephone. Converting the file does not help.",
            sample_rate=waveform.sample_rate,
            lowest=LOWEST_SAMPLE_RATE,
        )
    if frame_levels(waveform.samples, waveform.sample_rate).max() <= SILENCE_DBFS:
        raise SilentClip("The clip is silent.", remedy="Check the microphone and record it again.")


def trailing_silence_seconds(waveform: Waveform) -> float:
    """How much may be cut from the end without touching speech; careful: rather too little."""
    return max(0.0, waveform.seconds - last_sound_seconds(waveform) - _HANGOVER_SECONDS)


def last_sound_seconds(waveform: Waveform) -> float:
    """Where the last speech ends; careful: rather too late.

    Both the sound and its hiss must have fallen to the clip's noise floor, which must lie far below its
    speech. The end of the clip where that cannot be told.
    """
    return max(
        _last_sound_seconds(waveform, _FLOOR_BELOW_SPEECH_DB),
        _last_sound_seconds(spectral_centroid(waveform), _FLOOR_BELOW_BRIGHT_SPEECH_DB),
    )


def _last_sound_seconds(waveform: Waveform, floor_below_speech_db: float) -> float:
    # Counted from the end, so that the last frame is whole.
    levels = frame_levels(waveform.samples[::-1], waveform.sample_rate)
    loud = loud_level(levels)
    floor = float(np.quantile(levels, 0.05)) if len(levels) else loud
    gate = max(loud - _SILENT_BELOW_SPEECH_DB, floor + _SILENT_ABOVE_FLOOR_DB)
    sounding = np.flatnonzero(levels > min(gate, loud - floor_below_speech_db))
    return waveform.seconds - float(sounding[0]) * FRAME_SECONDS if len(sounding) else 0.0


def _warnings(waveform: Waveform, loud_dbfs: float, speech_seconds: float) -> list[str]:
    found = []
    if speech_seconds < _COMFORTABLE_SECONDS:
        found.append(f"The clip holds only {speech_seconds:.1f} s of speech; 3 to 10 s make a better likeness.")
    elif speech_seconds < _LEAST_SPEECH_SHARE * waveform.seconds:
        found.append("The clip is mostly silence; a voice learnt from it may pause a lot.")
    if loud_dbfs < _QUIET_DBFS:
        found.append("The clip is very quiet; its noise is learnt along with the voice.")
    if _is_clipped(waveform):
        found.append("The clip is distorted: its loud parts are cut off (recorded too loud).")
    if sounds_like_a_telephone(waveform):
        found.append("The clip sounds like a telephone: above 4 kHz there is next to nothing.")
    return found


def clipped_samples(waveform: Waveform) -> npt.NDArray[np.bool_]:
    """(n,): where samples stay at full scale, several in a row."""
    is_full = np.abs(waveform.samples) >= _CLIPPED_ABOVE
    num_starts = max(0, len(is_full) - _CLIPPED_RUN_SAMPLES + 1)
    begins_run = np.zeros(len(is_full), bool)
    begins_run[:num_starts] = True
    for offset in range(_CLIPPED_RUN_SAMPLES):
        begins_run[:num_starts] &= is_full[offset : offset + num_starts]
    return begins_run


def _is_clipped(waveform: Waveform) -> bool:
    """Whether samples often stay at full scale, several in a row."""
    return bool(clipped_samples(waveform).sum() > _CLIPPED_SHARE * len(waveform.samples))


def sounds_like_a_telephone(waveform: Waveform) -> bool:
    """Whether what lies above 4.6 kHz is far below what lies under 4 kHz, over the whole clip."""
    hertz, power = mean_spectrum(waveform)
    if not len(power):
        return False
    below, above = (
        float(power[(low < hertz) & (hertz < high)].mean()) for low, high in (_VOICE_BAND_HZ, _BAND_ABOVE_HZ)
    )
    return bool(above < below * 10.0 ** (_TELEPHONE_DB / 10.0))


def mean_spectrum(waveform: Waveform) -> tuple[FloatArray, FloatArray]:
    """(bins,) frequencies in hertz and (bins,) mean power over the whole clip; empty for less than a frame."""
    if len(waveform.samples) < _SPECTRUM_SAMPLES:
        return np.zeros(0), np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(waveform.samples, _SPECTRUM_SAMPLES)[:: _SPECTRUM_SAMPLES // 2]
    power = np.abs(np.fft.rfft(frames * np.hanning(_SPECTRUM_SAMPLES))) ** 2
    hertz = np.arange(power.shape[1]) * (waveform.sample_rate / _SPECTRUM_SAMPLES)
    return hertz.astype(np.float64), power.mean(axis=0).astype(np.float64)
