"""The smoke test of the package detects silent audio."""

from __future__ import annotations

import math
import wave
from array import array
from pathlib import Path

import pytest
from frozen.smoke import _faults_of_sound, loudness


def write(path: Path, level: float, *, seconds: float = 2.0, rate: int = 8000) -> Path:
    tone = (round(32000 * level * math.sin(index / 5)) for index in range(round(seconds * rate)))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(array("h", tone).tobytes())
    return path


def test_a_tone_is_heard_for_as_long_as_it_lasts(tmp_path: Path) -> None:
    seconds, level = loudness(write(tmp_path / "tone.wav", 0.5))
    assert seconds == pytest.approx(2.0, abs=0.05)
    assert level == pytest.approx(0.5 * math.sqrt(0.5), rel=0.05)
    assert _faults_of_sound(tmp_path / "tone.wav") == []


def test_silence_a_whisper_of_a_click_and_nothing_at_all_are_faults(tmp_path: Path) -> None:
    assert _faults_of_sound(write(tmp_path / "silent.wav", 0.0)) == ["silent.wav is silent"]
    assert _faults_of_sound(write(tmp_path / "short.wav", 0.5, seconds=0.2)) == ["short.wav is silent"]
    assert _faults_of_sound(tmp_path / "missing.wav") == ["missing.wav was not made"]
