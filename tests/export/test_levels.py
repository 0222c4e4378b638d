"""Levels equal those of numpy, and standards judge them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from speech_fakes import hum, is_met

from studio.errors import UnreadableClip, UnusableSetting
from studio.export.levels import AudioLevelMeter, Levels, measure_file
from studio.export.loudness import loudness_lufs, true_peak_dbtp
from studio.export.standards import ACX, EBU_R128, Criterion, standard_named

RATE = 44_100
GOOD = Levels(
    seconds=600.0,
    sample_rate=44_100,
    rms_dbfs=-20.0,
    peak_dbfs=-3.4,
    true_peak_dbtp=-3.2,
    floor_dbfs=-66.0,
    loudness_lufs=-23.1,
    head_seconds=0.75,
    tail_seconds=2.0,
)


def noise(seconds: float, rms_dbfs: float) -> np.ndarray:
    samples = np.random.default_rng(7).normal(size=round(seconds * RATE))
    return (samples / np.sqrt(np.mean(samples**2)) * 10 ** (rms_dbfs / 20)).astype(np.float32)


def speech_between(head_seconds: float, tail_seconds: float, tone_dbfs: float = -70.0) -> np.ndarray:
    return np.concatenate([noise(head_seconds, tone_dbfs), hum(3.0, 120, rate=RATE), noise(tail_seconds, tone_dbfs)])


def measured(samples: np.ndarray, num_pieces: int = 1) -> Levels:
    meter = AudioLevelMeter(RATE)
    for piece in np.array_split(samples, num_pieces):
        meter.add(piece)
    return meter.finish()


def test_levels_equal_those_of_numpy() -> None:
    samples = speech_between(0.7, 1.5)
    levels = measured(samples)
    exact = samples.astype(np.float64)
    assert levels.seconds == pytest.approx(len(samples) / RATE)
    assert levels.rms_dbfs == pytest.approx(20 * np.log10(np.sqrt(np.mean(exact**2))), abs=1e-3)
    assert levels.peak_dbfs == pytest.approx(20 * np.log10(np.abs(exact).max()), abs=1e-3)
    assert levels.true_peak_dbtp == pytest.approx(true_peak_dbtp(samples), abs=1e-3)
    assert levels.loudness_lufs == pytest.approx(loudness_lufs(samples, RATE), abs=1e-9)


@pytest.mark.parametrize("num_pieces", [3, 1001])
def test_measuring_pieces_equals_measuring_the_whole(num_pieces: int) -> None:
    samples = speech_between(0.7, 1.5)
    whole, pieces = measured(samples), measured(samples, num_pieces)
    for name in ("rms_dbfs", "peak_dbfs", "true_peak_dbtp", "floor_dbfs", "loudness_lufs", "head_seconds"):
        assert getattr(pieces, name) == pytest.approx(getattr(whole, name), abs=1e-6)


def test_the_floor_is_the_level_of_the_quietest_half_second() -> None:
    speech = hum(2.0, 120, rate=RATE)
    pause = noise(0.7, -62.5)
    shorter = noise(0.3, -90.0)
    assert measured(np.concatenate([speech, pause, speech])).floor_dbfs == pytest.approx(-62.5, abs=0.3)
    # A quieter gap of less than half a second is averaged with its surroundings.
    assert measured(np.concatenate([speech, shorter, speech])).floor_dbfs > -40


def test_silence_counts_as_the_floor() -> None:
    speech = hum(2.0, 120, rate=RATE)
    assert measured(np.concatenate([speech, np.zeros(RATE, np.float32), speech])).floor_dbfs == -120.0


def test_head_and_tail_are_measured_with_room_tone_in_them() -> None:
    levels = measured(speech_between(0.8, 3.2))
    assert levels.head_seconds == pytest.approx(0.8, abs=0.03)
    assert levels.tail_seconds == pytest.approx(3.2, abs=0.03)


def test_silence_has_no_level_and_meets_no_standard() -> None:
    levels = measured(np.zeros(RATE, np.float32))
    assert (levels.rms_dbfs, levels.loudness_lufs) == (None, None)
    assert not is_met(ACX, levels)
    assert not is_met(EBU_R128, levels)


def test_a_file_of_any_length_is_measured(tmp_path: Path) -> None:
    samples = speech_between(0.5, 1.0)
    soundfile.write(tmp_path / "a.wav", samples, RATE, subtype="FLOAT")
    assert measure_file(tmp_path / "a.wav") == measured(samples)
    soundfile.write(tmp_path / "b.wav", np.zeros(0), RATE)
    with pytest.raises(UnreadableClip, match="contains no audio"):
        measure_file(tmp_path / "b.wav")


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"rms_dbfs": -23.0}, None),
        ({"rms_dbfs": -23.1}, Criterion.RMS),
        ({"rms_dbfs": -17.9}, Criterion.RMS),
        ({"peak_dbfs": -2.9}, Criterion.PEAK),
        ({"floor_dbfs": -59.0}, Criterion.FLOOR),
        ({"head_seconds": 0.3}, Criterion.HEAD),
        ({"tail_seconds": 5.2}, Criterion.TAIL),
        ({"seconds": 7201.0}, Criterion.LENGTH),
        ({"sample_rate": 48_000}, Criterion.SAMPLE_RATE),
        ({"loudness_lufs": -16.0, "true_peak_dbtp": -0.1}, None),
    ],
)
def test_acx_limits(change: dict[str, float], broken: Criterion | None) -> None:
    levels = replace(GOOD, **change)
    assert [finding.criterion for finding in ACX.check(levels) if not finding.is_met] == ([broken] if broken else [])


def test_ebu_r128_limits_loudness_and_true_peak_only() -> None:
    assert is_met(EBU_R128, replace(GOOD, rms_dbfs=-10.0, sample_rate=24_000))
    assert not is_met(EBU_R128, replace(GOOD, loudness_lufs=-22.4))
    assert not is_met(EBU_R128, replace(GOOD, true_peak_dbtp=-0.9))


def test_standards_are_known_by_name() -> None:
    assert standard_named("ACX") is ACX
    with pytest.raises(UnusableSetting, match="Choose one of acx, r128"):
        standard_named("aes")
