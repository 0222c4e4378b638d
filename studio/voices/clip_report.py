"""Quality report of a prompt clip: length, level, clipping, noise, bandwidth and silence, each with a grade and advice.

``clip_check`` decides which clips are unusable; the report grades the others. Sentences and values are stored
separately, so that the window can translate the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from studio.audio.waveform import Waveform
from studio.errors import StudioError
from studio.voices.best_segment import MAX_GOOD_SECONDS, MIN_GOOD_SECONDS, speech_mask
from studio.voices.clip_check import (
    MAX_SECONDS,
    MIN_SAMPLE_RATE,
    check_prompt_clip,
    clipped_samples,
    mean_spectrum,
    sounds_like_a_telephone,
)
from studio.voices.features import WHISPER_SAMPLE_RATE, whisper_log_mel
from studio.voices.loudness import FRAME_SECONDS, frame_levels, loud_level
from studio.voices.voice import Grade


class Aspect(Enum):
    LENGTH = "length"
    LEVEL = "level"
    CLIPPING = "clipping"
    NOISE = "noise"
    BANDWIDTH = "bandwidth"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class GradeText:
    """A grade with its explanation. ``sentence`` and ``advice`` may contain fields such as ``{seconds:.1f}``."""

    grade: Grade
    sentence: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ClipIssue:
    """The verdict on one aspect of a clip, and the values for the fields of its texts."""

    aspect: Aspect
    verdict: GradeText
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def grade(self) -> Grade:
        return self.verdict.grade

    @property
    def sentence(self) -> str:
        return self.verdict.sentence.format(**self.values)

    @property
    def advice(self) -> str:
        return self.verdict.advice.format(**self.values)


@dataclass(frozen=True, slots=True)
class ClipReport:
    """The findings on all aspects of a clip. ``refusal`` is the error of an unusable clip, or None."""

    findings: tuple[ClipIssue, ...]
    refusal: StudioError | None = None

    @property
    def quality(self) -> Grade:
        if self.refusal is not None:
            return Grade.POOR
        return Grade.worst([finding.grade for finding in self.findings])


VERDICTS: Mapping[tuple[Aspect, str], GradeText] = {
    (Aspect.LENGTH, "none"): GradeText(
        Grade.POOR,
        "It contains almost no speech.",
        "Select another part, or record again closer to the microphone.",
    ),
    (Aspect.LENGTH, "short"): GradeText(
        Grade.FAIR,
        "It contains only {seconds:.1f} seconds of speech.",
        "Select a longer part if possible: 3 to 10 seconds give a closer likeness.",
    ),
    (Aspect.LENGTH, "good"): GradeText(Grade.GOOD, "{seconds:.1f} s of speech."),
    (Aspect.LENGTH, "long"): GradeText(
        Grade.FAIR,
        "It lasts {total:.1f} seconds, longer than a voice needs.",
        "Select 3 to 10 seconds: speech then starts sooner.",
    ),
    (Aspect.LENGTH, "too long"): GradeText(
        Grade.POOR,
        "It lasts {total:.1f} seconds; the models accept at most 30.",
        "Move the handles to select 3 to 10 seconds.",
    ),
    (Aspect.LEVEL, "good"): GradeText(Grade.GOOD, "The level is good."),
    (Aspect.LEVEL, "low"): GradeText(
        Grade.FAIR, "The level is low.", "For a new recording, move closer to the microphone or raise its level."
    ),
    (Aspect.LEVEL, "very low"): GradeText(
        Grade.POOR,
        "The level is very low, so noise becomes part of the voice.",
        "Record again, closer to the microphone or at a higher level.",
    ),
    (Aspect.CLIPPING, "good"): GradeText(Grade.GOOD, "No clipping."),
    (Aspect.CLIPPING, "some"): GradeText(
        Grade.FAIR, "Some peaks are clipped.", "Select a part without clipping, or record again at a lower level."
    ),
    (Aspect.CLIPPING, "much"): GradeText(
        Grade.POOR,
        "The recording is distorted: its peaks are clipped.",
        "Record again at a lower level; clipping cannot be repaired well.",
    ),
    (Aspect.NOISE, "good"): GradeText(Grade.GOOD, "The background is quiet."),
    (Aspect.NOISE, "some"): GradeText(
        Grade.FAIR,
        "There is some background noise.",
        "Select a quieter part, or record in a quieter place: noise is cloned too.",
    ),
    (Aspect.NOISE, "much"): GradeText(
        Grade.POOR,
        "There is loud noise, music or another voice in the background.",
        "Use a recording of this speaker alone: everything else is cloned too.",
    ),
    (Aspect.BANDWIDTH, "good"): GradeText(Grade.GOOD, "The full frequency range is present."),
    (Aspect.BANDWIDTH, "dull"): GradeText(
        Grade.FAIR,
        "It sounds dull: there is almost nothing above {kilohertz:.1f} kHz.",
        "Use a better copy of the recording if you have one.",
    ),
    (Aspect.BANDWIDTH, "telephone"): GradeText(
        Grade.POOR,
        "It sounds like a telephone call: there is almost nothing above 4 kHz.",
        "Use a recording made with a microphone; converting the file does not help.",
    ),
    (Aspect.BANDWIDTH, "rate"): GradeText(
        Grade.POOR,
        "The sample rate is {rate:.0f} Hz; at least 16000 Hz is needed.",
        "Use a recording of better quality; converting the file does not help.",
    ),
    (Aspect.SILENCE, "good"): GradeText(Grade.GOOD, "There are few pauses."),
    (Aspect.SILENCE, "some"): GradeText(
        Grade.FAIR,
        "{percent:.0f}% is silence.",
        "Select a part with continuous speech; otherwise the voice may pause a lot.",
    ),
    (Aspect.SILENCE, "much"): GradeText(
        Grade.POOR,
        "It is mostly silence ({percent:.0f}%).",
        "Select a part with continuous speech; otherwise the voice may pause a lot.",
    ),
}

_MIN_SPEECH_SECONDS = 0.5
LOW_DBFS, _VERY_LOW_DBFS = -32.0, -40.0
_SOME_CLIPPED_SHARE, _MUCH_CLIPPED_SHARE = 1e-5, 1e-4
_SOME_NOISE_DB, _MUCH_NOISE_DB = 20.0, 12.0
_FLOOR_QUANTILE = 0.05
_LOUD_QUANTILE, _GAP_QUANTILE = 0.95, 0.25
_DECIBELS_PER_LOG_MEL = 40.0
_MIN_PAUSES_SECONDS = 0.2
_DULL_BELOW_HZ = 6500.0
_EDGE_DB = -60.0
_SPEECH_POWER_HZ = (100.0, 4000.0)
_SOME_SILENCE_SHARE, _MUCH_SILENCE_SHARE = 0.4, 0.6


def assess_clip(clip: Waveform, *, speech_above_noise_db: float | None = None) -> ClipReport:
    """Assess ``clip``. An error of ``check_prompt_clip`` is stored in ``refusal``, not raised.

    ``speech_above_noise_db`` is the value of :func:`speech_above_noise` for the whole recording. If it is None, the
    value for the clip is used.
    """
    refusal: StudioError | None = None
    try:
        check_prompt_clip(clip)
    except StudioError as error:
        refusal = error
    if not len(clip.samples) or not np.isfinite(clip.samples).all():
        return ClipReport((), refusal)
    levels = frame_levels(clip.samples, clip.sample_rate)
    is_speech = speech_mask(levels)
    loud_dbfs = loud_level(levels)
    noise_db = speech_above_noise(clip) if speech_above_noise_db is None else speech_above_noise_db
    clipped_share = float(clipped_samples(clip).mean())
    silence_share = 1.0 - float(is_speech.mean())
    clipping = _amount(clipped_share, some=_SOME_CLIPPED_SHARE, much=_MUCH_CLIPPED_SHARE)
    noise = _amount(-noise_db, some=-_SOME_NOISE_DB, much=-_MUCH_NOISE_DB)
    silence = _amount(silence_share, some=_SOME_SILENCE_SHARE, much=_MUCH_SILENCE_SHARE)
    findings = (
        _length(clip, float(is_speech.sum()) * FRAME_SECONDS),
        _finding(Aspect.LEVEL, "very low" if loud_dbfs < _VERY_LOW_DBFS else "low" if loud_dbfs < LOW_DBFS else "good"),
        _finding(Aspect.CLIPPING, clipping),
        _finding(Aspect.NOISE, noise),
        _bandwidth(clip),
        _finding(Aspect.SILENCE, silence, percent=100 * silence_share),
    )
    return ClipReport(findings, refusal)


def speech_above_noise(recording: Waveform) -> float:
    """Return the distance between the speech level and the noise in the pauses, in decibels.

    For a recording without pauses, the distance is infinite, unless even the quietest frames are so loud that they must
    be noise.
    """
    levels = frame_levels(recording.samples, recording.sample_rate)
    if not len(levels):
        return 0.0
    pauses = levels[~speech_mask(levels)]
    if len(pauses) * FRAME_SECONDS >= _MIN_PAUSES_SECONDS:
        return loud_level(levels) - float(np.median(pauses))
    distance_db = loud_level(levels) - float(np.quantile(levels, _FLOOR_QUANTILE))
    return distance_db if distance_db < _MUCH_NOISE_DB else float("inf")


def modulation_depth(clip: Waveform) -> float:
    """Return how far the level of each mel band falls between sounds, in decibels, on average over the bands.

    Noise, music, another voice and reverberation fill these gaps. Good recordings have 20 to 45 dB, so values are only
    comparable within one recording. It is 0 for a clip that is too short.
    """
    if clip.seconds < _MIN_SPEECH_SECONDS:
        return 0.0
    levels_db = _DECIBELS_PER_LOG_MEL * whisper_log_mel(clip.resampled(WHISPER_SAMPLE_RATE))
    loud, quiet = np.quantile(levels_db, (_LOUD_QUANTILE, _GAP_QUANTILE), axis=1)
    return float((loud - quiet).mean())


def _finding(aspect: Aspect, kind: str, **values: float) -> ClipIssue:
    return ClipIssue(aspect, VERDICTS[aspect, kind], values)


def _amount(value: float, *, some: float, much: float) -> str:
    return "much" if value > much else "some" if value > some else "good"


def _length(clip: Waveform, speech_seconds: float) -> ClipIssue:
    if speech_seconds < _MIN_SPEECH_SECONDS:
        return _finding(Aspect.LENGTH, "none")
    if clip.seconds > MAX_SECONDS:
        return _finding(Aspect.LENGTH, "too long", total=clip.seconds)
    if clip.seconds > 1.25 * MAX_GOOD_SECONDS:
        return _finding(Aspect.LENGTH, "long", total=clip.seconds)
    kind = "good" if clip.seconds >= MIN_GOOD_SECONDS and speech_seconds > 0.7 * MIN_GOOD_SECONDS else "short"
    return _finding(Aspect.LENGTH, kind, seconds=speech_seconds)


def _bandwidth(clip: Waveform) -> ClipIssue:
    if clip.sample_rate < MIN_SAMPLE_RATE:
        return _finding(Aspect.BANDWIDTH, "rate", rate=clip.sample_rate)
    if sounds_like_a_telephone(clip):
        return _finding(Aspect.BANDWIDTH, "telephone")
    edge_hertz = _upper_edge_hertz(clip)
    if edge_hertz < _DULL_BELOW_HZ:
        return _finding(Aspect.BANDWIDTH, "dull", kilohertz=edge_hertz / 1000)
    return _finding(Aspect.BANDWIDTH, "good")


def _upper_edge_hertz(clip: Waveform) -> float:
    """Return the highest frequency with significant power."""
    hertz, power = mean_spectrum(clip)
    if not len(power):
        return clip.sample_rate / 2
    low, high = _SPEECH_POWER_HZ
    reference = float(power[(low < hertz) & (hertz < high)].mean())
    (sounding,) = np.nonzero(power > reference * 10.0 ** (_EDGE_DB / 10.0))
    return float(hertz[sounding[-1]]) if len(sounding) else 0.0
