"""Loudness and true peak are measured as in the standard; exported audio reaches its target and stays below the limit."""

from __future__ import annotations

import numpy as np
import pytest
from speech_fakes import RATE, hum

from studio.audio.encoding import WAV_16, WAV_FLOAT
from studio.audio.waveform import Waveform
from studio.errors import UnusableSetting
from studio.export.loudness import LoudnessMeter, limit, loudness_lufs, true_peak_dbtp
from studio.export.mastering import LoudnessTarget, apply_loudness, resample_and_trim, trim


def sine(
    frequency: float, *, seconds: float = 1.0, level: float = 1.0, phase: float = 0.0, rate: int = RATE
) -> np.ndarray:
    return (level * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate + phase)).astype(np.float32)


@pytest.mark.parametrize(
    ("rate", "lufs"), [(24_000, -21.97645555033196), (44_100, -21.976687370569746), (48_000, -21.976488202341248)]
)
def test_loudness_equals_that_of_pyloudnorm(rate: int, lufs: float) -> None:
    """The values were computed with pyloudnorm 0.2.0."""
    speech = np.concatenate(
        [hum(4, 110, rate=rate), np.zeros(2 * rate, np.float32), hum(3, 190, level=0.05, rate=rate)]
    )
    assert loudness_lufs(speech, rate) == pytest.approx(lufs, abs=1e-9)


def test_a_full_scale_tone_has_the_loudness_of_the_standard() -> None:
    """BS.1770: 997 Hz at full scale in one channel measures -3.01 LKFS."""
    assert loudness_lufs(sine(997, seconds=5, rate=48_000), 48_000) == pytest.approx(-3.01, abs=0.05)


def test_measuring_in_pieces_equals_measuring_the_whole() -> None:
    lines = [hum(2.3, 100), hum(1.7, 140), hum(3.1, 120)]
    pause = np.zeros(RATE // 2, np.float32)
    meter = LoudnessMeter(RATE)
    for line in lines:
        meter.add(line)
        meter.add_silence(len(pause))
    whole = np.concatenate([part for line in lines for part in (line, pause)])
    assert meter.integrated_lufs == pytest.approx(loudness_lufs(whole, RATE), abs=1e-9)


def test_silence_has_no_loudness_and_a_single_syllable_has_one() -> None:
    assert loudness_lufs(np.zeros(RATE, np.float32), RATE) is None
    assert loudness_lufs(np.zeros(0, np.float32), RATE) is None
    assert loudness_lufs(hum(0.15, 110), RATE) == pytest.approx(loudness_lufs(hum(3, 110), RATE), abs=4)


def test_true_peak_includes_peaks_between_samples() -> None:
    """The samples of a tone at a quarter of the sample rate may all be at 0.707 of its amplitude."""
    tone = sine(RATE / 4, phase=np.pi / 4, seconds=0.5)
    assert np.abs(tone).max() == pytest.approx(0.7071, abs=1e-3)
    assert true_peak_dbtp(tone[2000:-2000] * np.hanning(len(tone) - 4000).astype(np.float32)) == pytest.approx(
        0.0, abs=0.1
    )
    assert true_peak_dbtp(np.zeros(100, np.float32)) == -120
    assert true_peak_dbtp(np.zeros(0, np.float32)) == -120
    assert true_peak_dbtp(np.array([0.5], np.float32)) >= -6.03


@pytest.mark.slow
@pytest.mark.parametrize("ceiling", [-0.1, -1.0, -6.0])
@pytest.mark.parametrize("gain", [1.5, 4.0, 12.0])
def test_the_limiter_never_exceeds_the_ceiling(ceiling: float, gain: float) -> None:
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0, 0.2, 20_000).astype(np.float32)
        loud = np.concatenate([hum(1, 90) * gain, noise * gain, np.array([5.0], np.float32), hum(0.3, 200)])
        limited = limit(loud.astype(np.float32), RATE, ceiling)
        assert len(limited) == len(loud)
        assert limited.dtype == np.float32
        assert true_peak_dbtp(limited) <= ceiling + 1e-3


def test_the_limiter_does_not_clip() -> None:
    """Clipping would spread a tone over the whole spectrum."""
    tone = sine(440, seconds=2, level=2.0)
    limited = limit(tone, RATE, -1.0)
    spectrum = np.abs(np.fft.rfft(limited[RATE // 2 : -RATE // 2] * np.hanning(RATE)))
    tone_power = (spectrum[435:446] ** 2).sum()
    assert 10 * np.log10((spectrum**2).sum() / tone_power - 1 + 1e-12) < -80
    clipped = np.abs(np.fft.rfft(np.clip(tone, -0.89, 0.89)[RATE // 2 : -RATE // 2] * np.hanning(RATE)))
    assert 10 * np.log10((clipped**2).sum() / (clipped[435:446] ** 2).sum() - 1) > -25


def test_the_limiter_does_not_change_quiet_audio() -> None:
    quiet = hum(1, 100, level=0.05)
    assert limit(quiet, RATE, -1.0) is quiet
    one_loud_word = np.concatenate([quiet, hum(0.2, 100, level=2.0), quiet])
    limited = limit(one_loud_word, RATE, -1.0)
    np.testing.assert_array_equal(limited[: RATE // 2], quiet[: RATE // 2])
    np.testing.assert_array_equal(limited[-RATE // 2 :], quiet[-RATE // 2 :])


@pytest.mark.slow
@pytest.mark.parametrize("lufs", [-23.0, -16.0, -14.0])
@pytest.mark.parametrize("level", [0.04, 0.2, 1.5])
def test_speech_reaches_the_target_loudness_below_the_limit(lufs: float, level: float) -> None:
    mastered = apply_loudness(hum(4, 120, level=level), RATE, LoudnessTarget(lufs, -1.0), WAV_16)
    assert loudness_lufs(mastered, RATE) == pytest.approx(lufs, abs=0.1)
    assert true_peak_dbtp(mastered) <= -0.99


def test_breath_is_not_amplified_to_the_target() -> None:
    breath = hum(2, 100, level=1e-4)
    assert np.abs(apply_loudness(breath, RATE, LoudnessTarget(), WAV_16)).max() < 20 * np.abs(breath).max()
    silence = np.zeros(RATE, np.float32)
    assert not apply_loudness(silence, RATE, LoudnessTarget(), WAV_16).any()


def test_without_a_target_audio_is_unchanged() -> None:
    speech = hum(1, 100)
    assert apply_loudness(speech, RATE, None, WAV_16) is speech
    too_loud = hum(1, 100, level=2.0)
    assert apply_loudness(too_loud, RATE, None, WAV_FLOAT) is too_loud
    assert true_peak_dbtp(apply_loudness(too_loud, RATE, None, WAV_16)) <= 0.0


@pytest.mark.parametrize(("lufs", "peak"), [(-50, -1), (0, -1), (-16, 1), (-16, -30)])
def test_targets_out_of_range_are_rejected(lufs: float, peak: float) -> None:
    with pytest.raises(UnusableSetting, match="is out of range"):
        LoudnessTarget(lufs, peak)


def test_trimming_removes_silence_and_keeps_speech() -> None:
    silence = np.random.default_rng(0).normal(0, 1e-4, RATE).astype(np.float32)
    speech = hum(1.0, 120)
    fading = speech * np.linspace(1, 0.01, RATE, dtype=np.float32)
    trimmed = trim(Waveform(np.concatenate([silence, speech, fading, silence]), RATE))
    assert trimmed.seconds == pytest.approx(2.2, abs=0.06)
    offset = int(np.argmax(np.correlate(trimmed.samples[: RATE // 2], speech[: RATE // 4], "valid")))
    assert offset / RATE == pytest.approx(0.05, abs=0.025)
    np.testing.assert_array_equal(trimmed.samples[offset : offset + RATE], speech)
    assert abs(trimmed.samples[0]) < 1e-5


def test_trimming_does_not_change_audio_without_silence_or_only_silence() -> None:
    speech = Waveform(hum(1.0, 120), RATE)
    np.testing.assert_array_equal(trim(speech).samples, speech.samples)
    silence = Waveform(np.zeros(RATE, np.float32), RATE)
    assert len(trim(silence).samples) == RATE
    assert len(trim(Waveform(np.zeros(0, np.float32), RATE)).samples) == 0


@pytest.mark.parametrize(("rate", "num_samples"), [(24_000, 24_001), (44_100, 44_102), (48_000, 48_002)])
def test_resampled_audio_has_the_exact_length(rate: int, num_samples: int) -> None:
    assert (
        len(resample_and_trim(Waveform(hum(1.0, 120)[:1].repeat(24_001), RATE), rate, is_trimmed=False)) == num_samples
    )


def test_pauses_of_no_length_do_not_affect_the_loudness() -> None:
    """SciPy's filter returns an undefined state for empty audio."""
    meter, whole = LoudnessMeter(RATE), LoudnessMeter(RATE)
    for part in np.array_split(hum(2.0, 110.0), 40):
        meter.add(part)
        meter.add_silence(0)
        whole.add(part)
    assert meter.integrated_lufs == whole.integrated_lufs
