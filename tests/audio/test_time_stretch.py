"""Time stretching keeps the pitch, has the promised length and does not depend on the chunks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.audio.files import read_audio
from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED, TimeStretch

RATE = 24_000
CLIP = Path(__file__).resolve().parents[1] / "reference" / "inputs" / "prompt_a.wav"
Samples = npt.NDArray[np.float32]


def stretched(samples: Samples, speed: float, cuts: list[int] | None = None, rate: int = RATE) -> Samples:
    stretch = TimeStretch(speed, rate)
    pieces = [stretch.process(piece) for piece in np.split(samples, sorted(cuts or []))]
    return np.concatenate([*pieces, stretch.finish()])


def tone(hertz: float, seconds: float = 1.0) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE)).astype(np.float32)


speeds = st.floats(MIN_SPEED, MAX_SPEED)


@settings(max_examples=40)
@given(num_samples=st.integers(0, 20_000), speed=speeds, data=st.data())
def test_streamed_equals_whole(num_samples: int, speed: float, data: st.DataObject) -> None:
    samples = np.random.default_rng(num_samples).normal(0, 0.2, num_samples).astype(np.float32)
    cuts = data.draw(st.lists(st.integers(0, num_samples), max_size=12))
    assert np.array_equal(stretched(samples, speed, cuts), stretched(samples, speed))


@settings(max_examples=40)
@given(num_samples=st.integers(0, 20_000), speed=speeds, rate=st.sampled_from([16_000, 22_050, 24_000, 48_000]))
def test_length_follows_the_speed(num_samples: int, speed: float, rate: int) -> None:
    expected = num_samples if speed == 1.0 else round(num_samples / speed)
    assert len(stretched(np.ones(num_samples, np.float32), speed, rate=rate)) == expected


def test_speed_one_changes_nothing() -> None:
    samples = np.random.default_rng(1).normal(0, 0.2, 5000).astype(np.float32)
    stretch = TimeStretch(1.0, RATE)
    assert stretch.process(samples) is samples
    assert len(stretch.finish()) == 0


@pytest.mark.parametrize("hertz", [80.0, 200.0, 1000.0, 5000.0])
@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8, 1.25, 2.0, 4.0])
def test_pitch_and_loudness_stay(hertz: float, speed: float) -> None:
    middle = stretched(tone(hertz), speed)[1500:-1500]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 1 << 17))
    assert spectrum.argmax() * RATE / (1 << 17) == pytest.approx(hertz, abs=0.3)
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.5 / np.sqrt(2), rel=3e-3)


@pytest.mark.parametrize("speed", [0.25, 0.6, 1.7, 4.0])
def test_events_keep_their_relative_time(speed: float) -> None:
    """A beep that starts at 1.0 s starts at 1.0 / speed."""
    samples = np.concatenate([np.zeros(RATE, np.float32), tone(300), np.zeros(RATE, np.float32)])
    heard = np.flatnonzero(np.abs(stretched(samples, speed)) > 0.05) / RATE
    tolerance = 0.025 * max(1.0, 1.0 / speed)
    assert heard[0] == pytest.approx(1.0 / speed, abs=tolerance)
    assert heard[-1] == pytest.approx(2.0 / speed, abs=tolerance)


@pytest.mark.parametrize("speed", [0.25, 0.7, 1.3, 2.0, 4.0])
def test_speech_keeps_its_loudness_and_long_term_spectrum(speed: float) -> None:
    speech = read_audio(CLIP)
    result = stretched(speech.samples, speed, rate=speech.sample_rate)
    rms_before, rms_after = (float(np.sqrt(np.mean(samples**2))) for samples in (speech.samples, result))
    assert rms_after == pytest.approx(rms_before, rel=0.05 if speed <= 2.0 else 0.1)  # three quarters are skipped
    np.testing.assert_allclose(octave_levels_db(result), octave_levels_db(speech.samples), atol=1.5)


def octave_levels_db(samples: Samples) -> npt.NDArray[np.float64]:
    frames = np.lib.stride_tricks.sliding_window_view(samples, 512)[::128] * np.hanning(512)
    power = (np.abs(np.fft.rfft(frames)) ** 2).mean(axis=0)
    return 10 * np.log10([power[start : 2 * start].mean() for start in (4, 8, 16, 32, 64, 128)])


def test_the_delay_is_small() -> None:
    """A chunk of 0.3 s gives output at once: at most 0.1 s of input is held back, or one hop of output."""
    for speed in (0.25, 0.5, 1.3, 2.0, 4.0):
        num_out = len(TimeStretch(speed, RATE).process(tone(200, 0.3)))
        assert num_out * speed >= (0.3 - max(0.1, 0.032 * speed)) * RATE
