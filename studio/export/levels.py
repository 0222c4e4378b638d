"""Levels of finished audio, measured piece by piece: RMS, peaks, noise floor, loudness, and silence at both ends.

The noise floor is the RMS level of the quietest half second, as measured by the ACX Check plug-in of Audacity. Digital
silence counts as the floor, with -120 dBFS.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studio.audio.files import read_audio_blocks
from studio.audio.resampling import Samples
from studio.errors import UnreadableClip
from studio.export.loudness import FloatArray, LoudnessMeter, TruePeakMeter, to_decibels

FRAMES_PER_SECOND = 100
_FLOOR_FRAMES = 50
# Frames quieter than the average by more than this are silence or room tone, not speech.
_SPEECH_RANGE_DB = 30.0
_SILENCE_RMS = 1e-6  # -120 dBFS


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels of a piece of audio.

    Attributes:
        rms_dbfs: None for silence.
        peak_dbfs: The largest sample.
        floor_dbfs: The level of the quietest half second.
        loudness_lufs: None for silence.
        head_seconds, tail_seconds: The time before and after the speech.
    """

    seconds: float
    sample_rate: int
    rms_dbfs: float | None
    peak_dbfs: float
    true_peak_dbtp: float
    floor_dbfs: float
    loudness_lufs: float | None
    head_seconds: float
    tail_seconds: float


class AudioLevelMeter:
    """Meter of the levels of consecutive pieces of audio."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._loudness = LoudnessMeter(sample_rate)
        self._true_peak = TruePeakMeter()
        self._frames = FramePowers(sample_rate)
        self._peak = 0.0

    def add(self, samples: Samples) -> None:
        self._loudness.add(samples)
        self._true_peak.add(samples)
        self._frames.add(samples)
        self._peak = max(self._peak, float(np.abs(samples).max(initial=0.0)))

    def finish(self) -> Levels:
        """Return the levels of all pieces. No piece can be added afterwards."""
        frames = self._frames
        rms = frames.rms
        head, tail = _silence_at_ends(frames.powers(), rms)
        return Levels(
            seconds=frames.num_samples / self._sample_rate,
            sample_rate=self._sample_rate,
            rms_dbfs=to_decibels(rms) if rms > _SILENCE_RMS else None,
            peak_dbfs=to_decibels(self._peak),
            true_peak_dbtp=self._true_peak.finish(),
            floor_dbfs=_floor_dbfs(frames.powers()),
            loudness_lufs=self._loudness.integrated_lufs,
            head_seconds=head,
            tail_seconds=tail,
        )


class FramePowers:
    """Mean squares of the frames of consecutive pieces of audio, each a hundredth of a second long."""

    def __init__(self, sample_rate: int) -> None:
        self.frame_samples = max(1, round(sample_rate / FRAMES_PER_SECOND))
        self.num_samples = 0
        self._powers: list[FloatArray] = []
        self._rest = np.zeros(0)

    def add(self, samples: Samples) -> None:
        self.num_samples += len(samples)
        squares = np.concatenate([self._rest, samples.astype(np.float64) ** 2])
        num_whole = len(squares) // self.frame_samples * self.frame_samples
        self._powers.append(squares[:num_whole].reshape(-1, self.frame_samples).mean(axis=1))
        self._rest = squares[num_whole:]

    def powers(self) -> FloatArray:
        """Return (frames,): the mean squares. An incomplete last frame is averaged over its own samples."""
        last = [np.array([self._rest.mean()])] if len(self._rest) else []
        return np.concatenate([np.zeros(0), *self._powers, *last])

    @property
    def rms(self) -> float:
        total = sum(float(each.sum()) for each in self._powers) * self.frame_samples + float(self._rest.sum())
        return float(np.sqrt(total / self.num_samples)) if self.num_samples else 0.0


def _floor_dbfs(powers: FloatArray) -> float:
    if not len(powers):
        return to_decibels(0.0)
    width = min(_FLOOR_FRAMES, len(powers))
    sums = np.concatenate([[0.0], np.cumsum(powers)])
    windows = (sums[width:] - sums[:-width]) / width
    return to_decibels(float(np.sqrt(max(0.0, windows.min()))))


def _silence_at_ends(powers: FloatArray, rms: float) -> tuple[float, float]:
    """Return the seconds before the first and after the last frame with speech."""
    gate = rms**2 * 10.0 ** (-_SPEECH_RANGE_DB / 10.0)
    (sounding,) = np.nonzero(powers > gate)
    if not len(sounding):
        return len(powers) / FRAMES_PER_SECOND, len(powers) / FRAMES_PER_SECOND
    return float(sounding[0]) / FRAMES_PER_SECOND, float(len(powers) - 1 - sounding[-1]) / FRAMES_PER_SECOND


def measure_file(path: Path) -> Levels:
    """Return the levels of an audio file. Raise ``UnreadableClip`` and ``BrokenClip``."""
    meter: AudioLevelMeter | None = None
    for samples, sample_rate in read_audio_blocks(path):
        meter = meter or AudioLevelMeter(sample_rate)
        meter.add(samples)
    if meter is None:
        raise UnreadableClip("{file} contains no audio.", remedy="Record or save it again.", file=path.name)
    return meter.finish()
