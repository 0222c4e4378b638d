"""Mastered chapters meet their standard, have room tone instead of silence, and are repeatable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from speech_fakes import hum, is_met

from studio.export.levels import AudioLevelMeter, Levels
from studio.export.standard_mastering import SampleFile, StandardMastering
from studio.export.standards import ACX, EBU_R128, AudioStandard

RATE = 44_100


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))


def noise(seconds: float, rms_dbfs: float) -> np.ndarray:
    samples = np.random.default_rng(7).normal(size=round(seconds * RATE))
    return (samples / np.sqrt(np.mean(samples**2)) * 10 ** (rms_dbfs / 20)).astype(np.float32)


def speech(num_sentences: int = 4, *, level: float = 0.2, pause_dbfs: float | None = None) -> np.ndarray:
    pause = np.zeros(RATE, np.float32) if pause_dbfs is None else noise(1.0, pause_dbfs)
    parts = [hum(2.0 + 0.3 * number, 100 + 11 * number, level=level, rate=RATE) for number in range(num_sentences)]
    return np.concatenate([each for part in parts for each in (part, pause)][:-1])


def mastered(samples: np.ndarray, standard: AudioStandard, **options: object) -> np.ndarray:
    with SampleFile(RATE) as body:
        for piece in np.array_split(samples, 5):
            body.write(piece)
        return np.concatenate(list(StandardMastering(standard, RATE, **options).master(body)))


def levels_of(samples: np.ndarray) -> Levels:
    meter = AudioLevelMeter(RATE)
    meter.add(samples)
    return meter.finish()


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.005, 0.05, 0.4])
@pytest.mark.parametrize("pause_dbfs", [None, -70.0, -45.0])
def test_quiet_loud_and_noisy_chapters_meet_acx(level: float, pause_dbfs: float | None) -> None:
    if pause_dbfs is not None:
        pause_dbfs += 20 * np.log10(level / 0.2)
    levels = levels_of(mastered(speech(level=level, pause_dbfs=pause_dbfs), ACX))
    assert [finding for finding in ACX.check(levels) if not finding.is_met] == []
    assert levels.rms_dbfs == pytest.approx(-20.0, abs=0.1)
    assert levels.true_peak_dbtp <= -3.4
    assert -75 < levels.floor_dbfs < -64


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.01, 0.6])
def test_chapters_meet_ebu_r128(level: float) -> None:
    samples = speech(level=level)
    result = mastered(samples, EBU_R128)
    levels = levels_of(result)
    assert levels.loudness_lufs == pytest.approx(-23.0, abs=0.1)
    assert levels.true_peak_dbtp <= -1.0
    assert len(result) == len(samples), "no room tone is added"


@pytest.mark.slow
def test_peaks_are_limited() -> None:
    samples = speech(level=0.05)
    samples[RATE :: RATE // 3] = 0.9  # clicks
    levels = levels_of(mastered(samples, ACX))
    assert levels.peak_dbfs <= -3.4
    assert levels.rms_dbfs == pytest.approx(-20.0, abs=0.1)


@pytest.mark.slow
def test_all_pauses_are_at_the_floor_not_only_the_quietest() -> None:
    samples = mastered(speech(pause_dbfs=-50.0), ACX)
    head = round(0.75 * RATE)
    start = head + 2 * RATE + RATE // 4
    pause = samples[start : start + RATE // 2].astype(np.float64)
    assert 20 * np.log10(np.sqrt(np.mean(pause**2))) < -63


def test_there_is_no_digital_silence_and_no_click() -> None:
    samples = speech()
    result = mastered(samples, ACX)
    quiet = np.abs(result) < 1e-7
    assert not np.any(quiet[:-50] & quiet[50:] & quiet[25:-25])
    head = round(0.75 * RATE)
    assert len(result) == head + len(samples) + 2 * RATE
    start = head + 2 * RATE  # the end of the first sentence, which is cut off in the middle of a vowel
    steepest = np.abs(np.diff(result[head : start - 10])).max()
    assert np.abs(np.diff(result[start + 10 : start + RATE - 10])).max() < 0.005 < steepest


@pytest.mark.slow
def test_speech_keeps_its_shape() -> None:
    samples = speech(level=0.05)
    result = mastered(samples, ACX)[round(0.75 * RATE) :][: 2 * RATE]
    gain = np.dot(result, samples[: len(result)]) / np.dot(samples[: len(result)], samples[: len(result)])
    assert np.corrcoef(result, samples[: len(result)])[0, 1] > 0.999
    assert gain > 1


@pytest.mark.slow
def test_mastering_is_repeatable_and_segments_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = speech(20, level=0.3, pause_dbfs=-60.0)
    whole = mastered(samples, ACX)
    np.testing.assert_array_equal(whole, mastered(samples, ACX))
    monkeypatch.setattr("studio.export.standard_mastering._SEGMENT_SECONDS", 10_000)
    np.testing.assert_allclose(mastered(samples, ACX), whole, atol=2e-3)


@pytest.mark.slow
def test_a_recorded_room_tone_is_used() -> None:
    tone = np.sin(2 * np.pi * 50 * np.arange(3 * RATE) / RATE).astype(np.float32)
    result = mastered(speech(), ACX, room_tone=tone)
    spectrum = np.abs(np.fft.rfft(result[-2 * RATE :]))
    assert np.argmax(spectrum) == 100  # 50 Hz in two seconds
    assert is_met(ACX, levels_of(result))


def test_silence_stays_silent() -> None:
    levels = levels_of(mastered(np.zeros(RATE, np.float32), ACX))
    assert levels.rms_dbfs is not None
    assert levels.rms_dbfs < -60
    assert mastered(np.zeros(0, np.float32), EBU_R128).size == 0


def test_mastering_can_be_cancelled() -> None:
    def cancel() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mastered(speech(), ACX, check=cancel)
