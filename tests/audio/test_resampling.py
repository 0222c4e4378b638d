"""Resampling matches the official loader for any ratio and length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_limits import limit_of_inputs
from safetensors.numpy import load_file

from studio.audio.files import read_audio
from studio.audio.resampling import resample, resample_steeply
from studio.audio.waveform import Waveform

# What the official resampler's second run differs by (README of the reference data), and the rounding of
# its table of weights to float32.
RESAMPLING_TOLERANCE = 1.2e-7
TABLE_ROUNDING = 2.0**-24


@pytest.mark.reference
@pytest.mark.parametrize("clip", ["prompt_a", "prompt_b"])
@pytest.mark.parametrize(("rate", "name"), [(16_000, "16k"), (24_000, "24k"), (22_050, "22k")])
def test_clips_are_resampled_as_the_official_loader_does(reference: Path, clip: str, rate: int, name: str) -> None:
    golden = load_file(reference / "inputs" / "features.safetensors")[f"{clip}/speech_{name}"][0]
    resampled = read_audio(reference / "inputs" / f"{clip}.wav").resampled(rate)
    assert resampled.sample_rate == rate
    difference = np.abs(resampled.samples - golden)
    limit = limit_of_inputs(reference, f"*/speech_{name}", at_least=RESAMPLING_TOLERANCE)
    assert difference.max() <= limit + TABLE_ROUNDING


@settings(max_examples=40)
@given(
    num_samples=st.integers(0, 3000),
    from_rate=st.sampled_from([16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 37_123]),
    to_rate=st.sampled_from([16_000, 22_050, 24_000]),
)
@example(num_samples=0, from_rate=48_000, to_rate=16_000)
def test_length_is_rounded_up(num_samples: int, from_rate: int, to_rate: int) -> None:
    resampled = resample(np.ones(num_samples, np.float32), from_rate, to_rate)
    assert resampled.dtype == np.float32
    assert len(resampled) == -(-num_samples * to_rate // from_rate)


@pytest.mark.parametrize("from_rate", [16_000, 22_050, 44_100, 48_000, 37_123])
@pytest.mark.parametrize("resampler", [resample, resample_steeply])
def test_a_tone_keeps_frequency_loudness_and_phase(resampler: object, from_rate: int) -> None:
    assert callable(resampler)
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(from_rate) / from_rate)
    resampled = resampler(tone.astype(np.float32), from_rate, 24_000)
    expected = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(24_000) / 24_000)
    np.testing.assert_allclose(resampled[500:-500], expected[500:-500], atol=2e-3)


def test_equal_rates_give_the_same_object() -> None:
    waveform = Waveform(np.ones(5, np.float32), 24_000)
    assert waveform.resampled(24_000) is waveform
