"""Cleaning of prompt clips: each fault is repaired if it is there, and a clean clip stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.voices.clip_cleaning import CleaningStep, clean_clip, find_hum
from studio.voices.clip_report import modulation_depth
from studio.voices.loudness import frame_levels, loud_level


@pytest.fixture(scope="module")
def speech() -> Waveform:
    return read_audio(paths.resources() / "voices" / "Linda.wav")


def changed(clip: Waveform, samples: np.ndarray) -> Waveform:
    return Waveform(samples.astype(np.float32), clip.sample_rate)


def distance_db(clip: Waveform, speech: Waveform) -> float:
    """Return the level of the speech above that of everything else."""
    rest = clip.samples.astype(np.float64) - speech.samples
    return float(10 * np.log10(np.mean(speech.samples**2.0) / np.mean(rest**2)))


def noisy(speech: Waveform, at_db: float) -> Waveform:
    noise = np.random.default_rng(1).standard_normal(len(speech.samples))
    gain = np.sqrt(np.mean(speech.samples**2.0) * 10 ** (-at_db / 10))
    return changed(speech, speech.samples + gain * noise)


@pytest.mark.parametrize("name", ["Ada", "Angus", "Linda", "Max", "Miles"])
def test_a_clean_clip_is_left_alone(name: str) -> None:
    clip = read_audio(paths.resources() / "voices" / f"{name}.wav")
    cleaned = clean_clip(clip)
    assert cleaned.steps == ()
    assert cleaned.clip is clip


@pytest.mark.parametrize("at_db", [5.0, 10.0, 15.0])
def test_steady_noise_is_reduced(speech: Waveform, at_db: float) -> None:
    cleaned = clean_clip(noisy(speech, at_db))
    assert CleaningStep.NOISE in cleaned.steps
    assert distance_db(cleaned.clip, speech) > at_db + 4.0


def test_hum_is_removed(speech: Waveform) -> None:
    times = np.arange(len(speech.samples)) / speech.sample_rate
    hum = sum(0.01 * np.sin(2 * np.pi * 50.1 * number * times + number) for number in (1, 2, 3, 5))
    humming = changed(speech, speech.samples + hum)
    cleaned = clean_clip(humming)
    assert cleaned.steps == (CleaningStep.HUM,)
    assert distance_db(cleaned.clip, speech) > distance_db(humming, speech) + 3.0


def test_the_reverberation_of_a_room_is_reduced(speech: Waveform) -> None:
    times = np.arange(speech.sample_rate // 2) / speech.sample_rate
    response = np.random.default_rng(3).standard_normal(len(times)) * 10.0 ** (-6.0 * times)
    response /= np.sqrt((response**2).sum())
    response[0] += 1.0
    echoing = changed(speech, 0.7 * np.convolve(speech.samples, response)[: len(speech.samples)])
    cleaned = clean_clip(echoing)
    assert cleaned.steps == (CleaningStep.ROOM,)
    assert modulation_depth(cleaned.clip) > modulation_depth(echoing) + 3.0
    assert len(cleaned.clip.samples) == len(speech.samples)


def test_a_steady_voice_is_no_hum() -> None:
    times = np.arange(3 * 24_000) / 24_000
    voice = sum(np.sin(2 * np.pi * 100.0 * number * times) / number for number in range(1, 20))
    assert find_hum(0.1 * voice, 24_000) == []


def test_light_clipping_is_interpolated(speech: Waveform) -> None:
    limit = float(np.quantile(np.abs(speech.samples), 0.998))
    clipped = changed(speech, np.clip(speech.samples, -limit, limit))
    cleaned = clean_clip(clipped)
    assert CleaningStep.CLIPPING in cleaned.steps
    assert distance_db(cleaned.clip, speech) > distance_db(clipped, speech) + 3.0


def test_heavy_clipping_is_left(speech: Waveform) -> None:
    limit = float(np.quantile(np.abs(speech.samples), 0.9))
    assert CleaningStep.CLIPPING not in clean_clip(changed(speech, np.clip(speech.samples, -limit, limit))).steps


def test_dc_is_removed(speech: Waveform) -> None:
    cleaned = clean_clip(changed(speech, speech.samples + 0.05))
    assert cleaned.steps == (CleaningStep.DC,)
    assert abs(float(cleaned.clip.samples.mean())) < 1e-4


def test_a_quiet_clip_is_raised_without_clipping(speech: Waveform) -> None:
    cleaned = clean_clip(changed(speech, 0.02 * speech.samples))
    assert CleaningStep.LEVEL in cleaned.steps
    assert loud_level(frame_levels(cleaned.clip.samples, speech.sample_rate)) > -30.0
    assert np.abs(cleaned.clip.samples).max() < 1.0


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_all_rates_and_lengths_are_kept(speech: Waveform, rate: int) -> None:
    clip = noisy(speech, 10.0).resampled(rate)
    cleaned = clean_clip(clip)
    assert cleaned.clip.sample_rate == rate
    assert len(cleaned.clip.samples) == len(clip.samples)


def test_extremes_do_not_fail() -> None:
    for samples in (np.zeros(0), np.zeros(10), np.zeros(24_000), np.ones(24_000), np.full(48_000, 0.5)):
        cleaned = clean_clip(Waveform(samples.astype(np.float32), 24_000))
        assert np.isfinite(cleaned.clip.samples).all()
