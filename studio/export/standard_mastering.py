"""Mastering of a chapter to a standard: gain, limiter, quieter pauses, and room tone.

The chapter is read several times from a temporary file, in segments of about twenty seconds, because hours of audio do
not fit into memory. Segments end where the audio is quietest. The result is deterministic.

Pauses are attenuated to the noise floor of the standard. Room tone is added to the whole chapter, so that no pause is
digital silence. It is a recording, or generated noise whose power falls with the frequency, as in a quiet room.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from studio import paths
from studio.audio.files import read_audio
from studio.audio.resampling import Samples, resample_steeply
from studio.export.levels import FRAMES_PER_SECOND, FramePowers
from studio.export.loudness import FloatArray, LoudnessMeter, limit, to_amplitude, to_decibels
from studio.export.standards import AudioStandard
from studio.export.target_folder import writing

# Increase this after a change of the processing, so that all files are mastered again.
MASTERING_VERSION = 1
_SEGMENT_SECONDS = 20
_MIN_SEGMENT_SECONDS = 12
_MAX_PASSES = 6
_CLOSE_ENOUGH_DB = 0.05
_MAX_GAIN_DB = 40.0
# The quiet end of a word belongs to the word, so attenuation starts after it, and ends before the next word.
_AFTER_SPEECH_FRAMES, _BEFORE_SPEECH_FRAMES = 6, 4
_MIN_PAUSE_FRAMES = 20
_RAMP_FRAMES = 5
_PAUSE_BELOW_SPEECH_DB = (18.0, 30.0)
_PAUSE_ABOVE_FLOOR_DB = 8.0
_TONE_SECONDS = 10
_TONE_BAND_HZ = (40.0, 8_000.0)
_SEED = 2017
_MAX_TONE_SECONDS = 120.0


class SampleFile:
    """Temporary file of samples, removed at the end of the block."""

    def __init__(self, sample_rate: int) -> None:
        self._frames = FramePowers(sample_rate)
        folder = paths.cache_folder()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by __exit__
        self._path = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, samples: Samples) -> None:
        self._frames.add(samples)
        with writing(self._path):
            self._file.write(samples.astype("<f4", copy=False).tobytes())

    @property
    def num_samples(self) -> int:
        return self._frames.num_samples

    def segments(self) -> Iterator[tuple[int, Samples]]:
        """Yield the samples in segments, each with the position of its first sample."""
        cuts = [0, *_quiet_cuts(self.powers(), self._frames.frame_samples), self.num_samples]
        for start, end in pairwise(cuts):
            self._file.seek(4 * start)
            yield start, np.frombuffer(self._file.read(4 * (end - start)), "<f4")

    def powers(self) -> FloatArray:
        """Return (frames,): the mean square of each hundredth of a second."""
        return self._frames.powers()


def _quiet_cuts(powers: FloatArray, frame_samples: int) -> list[int]:
    cuts: list[int] = []
    start, longest, shortest = 0, _SEGMENT_SECONDS * FRAMES_PER_SECOND, _MIN_SEGMENT_SECONDS * FRAMES_PER_SECOND
    # Three frames: the limiter must have recovered from the peaks on both sides.
    levels = np.convolve(powers, np.ones(3), "same") if len(powers) > longest else powers
    while len(powers) - start > longest:
        start += shortest + int(np.argmin(levels[start + shortest : start + longest]))
        cuts.append(start * frame_samples + frame_samples // 2)
    return cuts


class StandardMastering:
    """Mastering of one chapter after another to ``standard``.

    ``room_tone`` (n,) is a recording; without one, or if it is empty, noise is generated. ``check`` is called for each
    segment and may raise.
    """

    def __init__(
        self,
        standard: AudioStandard,
        sample_rate: int,
        *,
        room_tone: Samples | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._standard = standard
        self._sample_rate = sample_rate
        self._check = check
        self._head = round(standard.head_seconds * sample_rate)
        self._tail = round(standard.tail_seconds * sample_rate)
        self._tone = np.zeros(1, np.float32)
        if standard.floor_dbfs is not None:
            # The attenuated pause and the room tone are equally loud, and together reach the floor.
            self._quiet = to_amplitude(standard.floor_dbfs - 3.0)
            self._tone = _at_level(_generated_tone(sample_rate) if room_tone is None else _loop(room_tone), self._quiet)

    def master(self, body: SampleFile) -> Iterator[Samples]:
        """Yield ``body`` with room tone before and after it."""
        gain_db = self._initial_gain_db(body)
        for _ in range(_MAX_PASSES):
            reached = self._level(self._output(body, gain_db))
            if reached is None or abs(self._standard.aim - reached) < _CLOSE_ENOUGH_DB:
                break
            gain_db = min(_MAX_GAIN_DB, gain_db + self._standard.aim - reached)
        yield from self._output(body, gain_db)

    def _initial_gain_db(self, body: SampleFile) -> float:
        powers = body.powers()
        rms = float(np.sqrt(powers.mean())) if len(powers) else 0.0
        return 0.0 if rms < 1e-6 else min(_MAX_GAIN_DB, self._standard.aim - to_decibels(rms))

    def _level(self, audio: Iterator[Samples]) -> float | None:
        if self._standard.aims_at_rms:
            frames = FramePowers(self._sample_rate)
            for samples in audio:
                frames.add(samples)
            return to_decibels(frames.rms) if frames.rms > 1e-6 else None
        meter = LoudnessMeter(self._sample_rate)
        for samples in audio:
            meter.add(samples)
        return meter.integrated_lufs

    def _output(self, body: SampleFile, gain_db: float) -> Iterator[Samples]:
        gain = np.float32(to_amplitude(gain_db))
        frame_gains = self._frame_gains(body.powers(), gain_db)
        frame_samples = max(1, round(self._sample_rate / FRAMES_PER_SECOND))
        if self._head:
            yield self._tone_at(0, self._head)
        for start, samples in body.segments():
            self._check()
            amplified = samples * gain
            if frame_gains is not None:
                centres = (np.arange(start, start + len(samples)) + 0.5) / frame_samples - 0.5
                amplified = amplified * np.interp(centres, np.arange(len(frame_gains)), frame_gains).astype(np.float32)
            limited = limit(amplified, self._sample_rate, self._standard.ceiling_dbtp)
            yield limited + self._tone_at(self._head + start, len(samples))
        if self._tail:
            yield self._tone_at(self._head + body.num_samples, self._tail)

    def _frame_gains(self, powers: FloatArray, gain_db: float) -> FloatArray | None:
        """Return (frames,): gains that attenuate the pauses, or None if the standard has no noise floor."""
        if self._standard.floor_dbfs is None or not len(powers):
            return None
        gains = np.ones(len(powers))
        aim = self._quiet**2 / to_amplitude(gain_db) ** 2
        for start, end in _pauses(powers):
            power = float(powers[start:end].mean())
            if power > aim:
                gains[start:end] = np.sqrt(aim / power)
        padded = np.pad(gains, _RAMP_FRAMES // 2, mode="edge")
        return np.convolve(padded, np.full(_RAMP_FRAMES, 1 / _RAMP_FRAMES), "valid")

    def _tone_at(self, start: int, num_samples: int) -> Samples:
        return self._tone[np.arange(start, start + num_samples) % len(self._tone)]


def _pauses(powers: FloatArray) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame of each pause, without the ends of the words around it."""
    speech_db = to_decibels(float(np.sqrt(powers.mean())))
    width = min(_MIN_PAUSE_FRAMES, len(powers))  # level of the quietest pause
    windows = np.convolve(powers, np.full(width, 1 / width), "valid")
    floor_db = to_decibels(float(np.sqrt(max(0.0, windows.min()))))
    nearest, farthest = _PAUSE_BELOW_SPEECH_DB
    gate_db = min(max(floor_db + _PAUSE_ABOVE_FLOOR_DB, speech_db - farthest), speech_db - nearest)
    is_quiet = np.concatenate([[False], powers < to_amplitude(gate_db) ** 2, [False]])
    changes = np.flatnonzero(np.diff(is_quiet.astype(np.int8)))
    for start, end in zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True):
        if end - start < _MIN_PAUSE_FRAMES:
            continue
        first = start + (_AFTER_SPEECH_FRAMES if start else 0)
        last = end - (_BEFORE_SPEECH_FRAMES if end < len(powers) else 0)
        yield first, last


def _generated_tone(sample_rate: int) -> Samples:
    """Return ten seconds of noise, made from its spectrum, so that it repeats without a seam."""
    num_samples = _TONE_SECONDS * sample_rate
    frequencies = np.fft.rfftfreq(num_samples, 1 / sample_rate)
    lowest, highest = _TONE_BAND_HZ
    in_band = (frequencies >= lowest) & (frequencies <= highest)
    amplitudes = np.where(in_band, 1 / np.sqrt(np.maximum(frequencies, lowest)), 0.0)
    phases = np.random.default_rng(_SEED).uniform(0, 2 * np.pi, len(frequencies))
    return np.fft.irfft(amplitudes * np.exp(1j * phases), num_samples).astype(np.float32)


def _loop(recording: Samples) -> Samples:
    """Return ``recording`` with its end cross-faded into its start."""
    num_fade = len(recording) // 4
    ramp = np.sin(np.linspace(0, np.pi / 2, num_fade, dtype=np.float32))
    looped = recording[: len(recording) - num_fade].copy()
    looped[:num_fade] = looped[:num_fade] * ramp + recording[len(recording) - num_fade :] * ramp[::-1]
    return looped


def _at_level(samples: Samples, rms: float) -> Samples:
    power = float(np.mean(samples.astype(np.float64) ** 2))
    return (samples * (rms / np.sqrt(power))).astype(np.float32) if power > 0 else np.zeros(1, np.float32)


def read_room_tone(path: Path, sample_rate: int) -> Samples:
    """Return a recording of room tone at ``sample_rate``. Raises the errors of ``read_audio``."""
    waveform = read_audio(path, longest_seconds=_MAX_TONE_SECONDS)
    return resample_steeply(waveform.samples, waveform.sample_rate, sample_rate)
