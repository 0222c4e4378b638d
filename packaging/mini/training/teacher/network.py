"""The teacher's network: phonemes, a style and a delivery to sound, or only to the times of its symbols and F0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from studio.model.onnx_networks import onnxruntime
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME, SAMPLES_PER_TOKEN, FloatArray
from training.teacher.decoder import Decoder, fastest_type
from training.teacher.graph import (
    DECODER_FILE,
    DURATIONS,
    ENERGY,
    F0,
    FEATURES,
    READER_FILE,
    SINES_FILE,
    SPECTRUM,
    WAVE_FILE,
)

SAMPLES_PER_FRAME = 600  # 25 ms
MAX_SYMBOLS = 508
STYLE_SIZE = 256
_TIMBRE_SIZE = 128  # the first half of a style shapes the sound, the other half durations and intonation
_VOICED_FROM_HZ = 40.0
_VALUES_PER_FRAME = 2  # of F0 and energy

Mixture = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Prosody:
    """Changes of a reading. ``pitch`` and ``rate`` are factors; ``range`` widens or narrows the intonation."""

    rate: float = 1.0
    pitch: float = 1.0
    range: float = 1.0
    energy: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TeacherSpeech:
    """``samples`` at 24 kHz; ``frames`` of 600 samples of each of ``symbols``."""

    symbols: str
    frames: tuple[int, ...]
    samples: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class TeacherReading:
    """How symbols are read: ``frames`` of 600 samples of each, and for each 20 ms F0, or 0 if it is very low, and silence.

    F0 is also predicted for unvoiced sounds.
    """

    symbols: str
    frames: tuple[int, ...]
    f0_hz: FloatArray = field(repr=False)
    is_silent: npt.NDArray[np.bool_] = field(repr=False)


class _Plan(NamedTuple):
    """What the reader predicts, as inputs of the decoder. F0 and energy have two values for each frame."""

    symbols: str
    style: FloatArray
    frames: npt.NDArray[np.int64]
    f0_hz: FloatArray
    energy: FloatArray
    features: FloatArray


class Teacher:
    """``speak`` and ``read`` are deterministic. ``folder`` is that of ``train.py teacher``."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._folder = folder
        network = folder / "network"
        self._reader, self._sines, self._wave = (
            onnxruntime.InferenceSession(str(network / name), options, providers=["CPUExecutionProvider"])
            for name in (READER_FILE, SINES_FILE, WAVE_FILE)
        )
        torch.set_num_threads(threads)
        self._decoder = Decoder(network / DECODER_FILE, fastest_type())
        self._vocabulary: dict[str, int] = json.loads((network / "vocab.json").read_text("utf-8"))["vocab"]

    def speak(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherSpeech:
        """Say ``phonemes`` with the sound of ``timbre`` and the durations and intonation of ``manner``.

        Silence at both ends is limited to a fifth of a second. Raise ``ValueError`` for too many symbols.
        """
        plan = self._plan(phonemes, timbre, manner, prosody)
        (harmonics,) = self._sines.run(None, {F0: plan.f0_hz})
        energy = plan.energy + np.float32(prosody.energy)
        spectrum = self._decoder(plan.f0_hz, energy, plan.features, plan.style, harmonics)
        (sound,) = self._wave.run(None, {SPECTRUM: spectrum})
        samples = sound.reshape(-1)[: int(plan.frames.sum()) * SAMPLES_PER_FRAME].astype(np.float32)
        samples, kept = without_long_ends(samples, _led(plan.frames))
        return TeacherSpeech(plan.symbols, kept, samples)

    def read(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherReading:
        """Return how ``speak`` would say ``phonemes``, in a sixth of its time. Raise ``ValueError`` like it."""
        plan = self._plan(phonemes, timbre, manner, prosody)
        energy = plan.energy.reshape(-1, _VALUES_PER_FRAME)
        is_silent = energy < energy.max() - _SILENT_BELOW_ENERGY
        first, last = _without_long_silence(~is_silent.all(axis=1))
        num_tokens = -(-(last - first) * SAMPLES_PER_FRAME // SAMPLES_PER_TOKEN)
        centres = (np.arange(2 * num_tokens) + 0.5) * SAMPLES_PER_HALF_FRAME
        places = _VALUES_PER_FRAME * first + (centres * _VALUES_PER_FRAME / SAMPLES_PER_FRAME).astype(np.int64)
        is_after = places >= _VALUES_PER_FRAME * last
        places = np.minimum(places, _VALUES_PER_FRAME * last - 1)
        f0_hz = plan.f0_hz.reshape(-1)[places]
        return TeacherReading(
            plan.symbols,
            _within(_led(plan.frames), first, last),
            np.where(f0_hz > _VOICED_FROM_HZ, f0_hz, np.float32(0.0)),
            is_silent.reshape(-1)[places] | is_after,
        )

    def _plan(self, phonemes: str, timbre: Mixture, manner: Mixture, prosody: Prosody) -> _Plan:
        symbols = "".join(symbol for symbol in phonemes if symbol in self._vocabulary)
        if not 0 < len(symbols) <= MAX_SYMBOLS:
            raise ValueError(f"{len(symbols)} symbols; the network takes 1 to {MAX_SYMBOLS}.")
        tokens = np.array([[0, *(self._vocabulary[symbol] for symbol in symbols), 0]], np.int64)
        style = np.concatenate(
            [self._style(timbre, len(symbols))[:_TIMBRE_SIZE], self._style(manner, len(symbols))[_TIMBRE_SIZE:]]
        )[None]
        durations, f0, energy, features = self._reader.run(
            [DURATIONS, F0, ENERGY, FEATURES],
            {"tokens": tokens, "style": style, "speed": np.array([prosody.rate], np.float32)},
        )
        return _Plan(symbols, style, durations.reshape(-1).astype(np.int64), intoned(f0, prosody), energy, features)

    def _style(self, mixture: Mixture, num_symbols: int) -> FloatArray:
        mixed: FloatArray = np.zeros(STYLE_SIZE, np.float32)
        for name, weight in mixture.items():
            mixed += np.float32(weight) * self._voices[name][num_symbols]
        return mixed

    @cached_property
    def _voices(self) -> dict[str, FloatArray]:
        return {
            path.stem: np.fromfile(path, np.float32).reshape(-1, STYLE_SIZE)
            for path in sorted((self._folder / "voices").glob("*.bin"))
        }


# The network makes each sound this much before the durations say, as voicing of vowels and of voiceless sounds shows.
_SOUND_LEADS_FRAMES = 2
_MAX_SILENT_FRAMES = 8
_SILENT_BELOW_DB = -40.0
# The predicted energy of a sound at that level, below the loudest one: agrees with the sound in 97.6 % of its time.
_SILENT_BELOW_ENERGY = 8.0


def without_long_ends(samples: FloatArray, frames: tuple[int, ...]) -> tuple[FloatArray, tuple[int, ...]]:
    """Return ``samples`` with at most a fifth of a second of silence at each end, and the frames of their symbols."""
    power = (samples.reshape(-1, SAMPLES_PER_FRAME).astype(np.float64) ** 2).mean(axis=1)
    first, last = _without_long_silence(power >= power.max() * 10.0 ** (_SILENT_BELOW_DB / 10.0))
    return samples[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME], _within(frames, first, last)


def _without_long_silence(is_heard: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return the first frame to keep and the one after the last."""
    heard = np.flatnonzero(is_heard)
    first = max(0, int(heard[0]) - _MAX_SILENT_FRAMES)
    return first, min(len(is_heard), int(heard[-1]) + 1 + _MAX_SILENT_FRAMES)


def _led(durations: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """Return the frames of the symbols, including silence at both ends, in the sound."""
    frames = durations.copy()
    frames[0] -= _SOUND_LEADS_FRAMES
    frames[-1] += _SOUND_LEADS_FRAMES
    return tuple(frames.tolist())


def _within(frames: tuple[int, ...], first: int, last: int) -> tuple[int, ...]:
    """Return how many frames of each symbol are in the range. Symbols outside of it have none."""
    ends = np.cumsum(frames).clip(first, last)
    return tuple(np.diff(ends, prepend=first).tolist())


def intoned(f0_hz: npt.NDArray[np.float32], prosody: Prosody) -> npt.NDArray[np.float32]:
    """Return F0 with another pitch, and with another range around its median on a logarithmic scale."""
    is_voiced = f0_hz > _VOICED_FROM_HZ
    if not is_voiced.any():
        return f0_hz
    median = np.exp(np.median(np.log(f0_hz[is_voiced])))
    changed = f0_hz.copy()
    changed[is_voiced] = prosody.pitch * median * (f0_hz[is_voiced] / median) ** prosody.range
    return changed
