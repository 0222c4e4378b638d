"""What is done to a rendering changes what it should, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from training.corpus.acoustics import f0_of, mel_of
from training.corpus.effects import EQUALISER_HZ, active_level_dbfs, equalised, limited, whispered
from training.corpus.utterance import SAMPLE_RATE


def tone(hz: float, seconds: float = 1.0, amplitude: float = 0.1) -> np.ndarray:
    times = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (amplitude * np.sin(2 * np.pi * hz * times)).astype(np.float32)


def voice(hz: float) -> np.ndarray:
    """A buzz through one broad resonance at 1500 Hz."""
    orders = range(1, int(8000 / hz))
    buzz = sum(tone(order * hz, amplitude=0.05 / (1 + ((order * hz - 1500) / 400) ** 2)) for order in orders)
    return np.asarray(buzz, np.float32)


def test_an_equaliser_raises_what_it_says() -> None:
    gains = (0.0, 0.0, 6.0, 0.0, 0.0)
    raised = active_level_dbfs(equalised(tone(EQUALISER_HZ[2]), gains)) - active_level_dbfs(tone(EQUALISER_HZ[2]))
    kept = active_level_dbfs(equalised(tone(EQUALISER_HZ[0]), gains)) - active_level_dbfs(tone(EQUALISER_HZ[0]))
    assert raised == pytest.approx(6.0, abs=0.2)
    assert kept == pytest.approx(0.0, abs=0.2)


def test_the_level_is_that_of_the_speech_not_of_the_silence() -> None:
    with_silence = np.concatenate([np.zeros(48_000, np.float32), tone(200.0), np.zeros(48_000, np.float32)])
    assert active_level_dbfs(with_silence) == pytest.approx(active_level_dbfs(tone(200.0)), abs=0.1)


def test_a_limiter_leaves_quiet_sound_alone_and_nothing_beyond_full_scale() -> None:
    np.testing.assert_array_equal(limited(tone(200.0, amplitude=0.7)), tone(200.0, amplitude=0.7))
    assert np.abs(limited(tone(200.0, amplitude=5.0))).max() < 1.0


def test_a_whisper_keeps_the_mouth_and_drops_the_voice() -> None:
    pytest.importorskip("parselmouth")
    modal = voice(120.0)
    f0 = f0_of(modal)
    assert np.median(f0[5:-5]) == pytest.approx(120.0, rel=0.02)
    whisper = whispered(modal, f0, np.random.default_rng(0))
    assert len(whisper) == len(modal)
    assert np.mean(f0_of(whisper) > 0) < 0.1
    loudest_band = [np.exp(mel_of(each)).mean(axis=0).argmax() for each in (modal, whisper)]
    assert abs(int(loudest_band[0]) - int(loudest_band[1])) <= 2


def test_f0_is_measured_in_the_middle_of_each_half_frame() -> None:
    pytest.importorskip("parselmouth")
    sound = np.concatenate([voice(120.0), np.zeros(SAMPLE_RATE, np.float32)])
    f0 = f0_of(sound)
    assert len(f0) == len(mel_of(sound)) == 100
    assert (f0[2:48] > 0).all()
    assert (f0[52:] == 0).all()
