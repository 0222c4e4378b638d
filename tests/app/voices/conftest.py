"""Fixtures for the voices dock: a library, recordings and a fake output device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QObject
from sound_card import SoundCard

from studio.app.playback.audio_player import AudioPlayer
from studio.audio.output_device import FillCallback, OutputStream
from studio.audio.waveform import Waveform
from studio.voices.library import VoiceLibrary

RATE = 24_000
CLIP = Path(__file__).parents[2] / "reference" / "inputs" / "prompt_a.wav"


def speech(seconds: float, *, level: float = 0.1, seed: int = 0) -> np.ndarray:
    """Noise with a syllable-like envelope."""
    num_samples = int(seconds * RATE)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(num_samples) / RATE)
    return (np.random.default_rng(seed).normal(0, level, num_samples) * syllables).astype(np.float32)


@pytest.fixture
def library(tmp_path: Path) -> VoiceLibrary:
    (tmp_path / "built-in").mkdir()
    return VoiceLibrary(tmp_path / "voices", built_in=tmp_path / "built-in")


@pytest.fixture
def clip() -> Path:
    """A real recording of one sentence."""
    return CLIP


@pytest.fixture
def recording() -> Waveform:
    """Eight seconds of speech between two of silence."""
    silence = np.zeros(2 * RATE, np.float32)
    return Waveform(np.concatenate([silence, speech(8.0), silence]), RATE)


@pytest.fixture
def make_recording(tmp_path: Path) -> Callable[..., Path]:
    """Write an audio file and return its path."""

    def make(name: str, seconds: float = 5.0, **settings: float) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, speech(seconds, **settings), RATE)  # type: ignore[arg-type]
        return path

    return make


class SilentOutputs:
    """A single fake output device."""

    def __init__(self) -> None:
        self.card = SoundCard()

    def names(self) -> tuple[str, ...]:
        return ()

    def rescan(self) -> None: ...

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        return self.card.open(sample_rate, fill)


@pytest.fixture
def outputs() -> SilentOutputs:
    return SilentOutputs()


@pytest.fixture
def make_player(outputs: SilentOutputs) -> Callable[[QObject], AudioPlayer]:
    return lambda parent: AudioPlayer(outputs, parent)
