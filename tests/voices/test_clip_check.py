"""Clip checks: errors for unusable clips, warnings for poor ones, and the end of speech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.audio.waveform import Waveform
from studio.errors import BrokenClip, ClipTooLong, ClipTooShort, LowSampleRate, SilentClip
from studio.voices.clip_check import check_prompt_clip, require_sound, trailing_silence_seconds

RATE = 24_000
CLIPS = Path(__file__).resolve().parents[1] / "reference" / "inputs"
Samples = npt.NDArray[np.float32]


def babble(seconds: float, rms: float = 0.1, seed: int = 0) -> Samples:
    """White noise with a syllable-like envelope of 4 Hz."""
    num_samples = int(seconds * RATE)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(num_samples) / RATE)
    noise = np.random.default_rng(seed).normal(0, 1, num_samples) * syllables
    return (noise * rms / np.sqrt(np.mean(noise**2))).astype(np.float32)


def silence(seconds: float, noise: float = 0.0) -> Samples:
    return (np.random.default_rng(9).normal(0, 1, int(seconds * RATE)) * noise).astype(np.float32)


def clip(*parts: Samples) -> Waveform:
    return Waveform(np.concatenate([silence(0.0), *parts]), RATE)


@pytest.mark.parametrize("name", ["prompt_a.wav", "prompt_b.wav"])
def test_the_reference_clips_have_no_warnings(name: str) -> None:
    waveform = read_audio(CLIPS / name)
    verdict = check_prompt_clip(waveform)
    assert verdict.warnings == ()
    assert 3.0 < verdict.speech_seconds <= waveform.seconds


def test_thirty_seconds_are_the_limit() -> None:
    assert check_prompt_clip(clip(babble(30.0))).warnings == ()
    with pytest.raises(ClipTooLong, match=r"lasts 30\.1 s; at most 30 s can be used") as caught:
        check_prompt_clip(clip(babble(30.1)))
    assert str(caught.value.remedy) == "Cut out 3 to 10 s of continuous speech."


def test_half_a_second_of_speech_is_the_minimum() -> None:
    assert check_prompt_clip(clip(silence(1.0), babble(0.6), silence(1.0))).speech_seconds == pytest.approx(
        0.6, abs=0.1
    )
    with pytest.raises(ClipTooShort, match=r"contains only 0\.30 s of speech"):
        check_prompt_clip(clip(silence(2.0), babble(0.3), silence(2.0)))
    with pytest.raises(ClipTooShort, match="empty"):
        check_prompt_clip(clip())


@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_silence_with_a_dc_offset_is_refused(offset: float) -> None:
    with pytest.raises(SilentClip, match="The clip is silent"):
        check_prompt_clip(Waveform(silence(4.0, noise=3e-4) + np.float32(offset), RATE))


@pytest.mark.parametrize("rate", [8_000, 11_025, 15_999])
def test_low_rates_are_refused(rate: int) -> None:
    with pytest.raises(LowSampleRate, match=rf"sample rate of {rate} Hz; at least 16000 Hz is needed"):
        check_prompt_clip(Waveform(babble(4.0), rate))
    assert check_prompt_clip(Waveform(babble(4.0), 16_000)).speech_seconds > 3.0


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(number: float) -> None:
    samples = babble(4.0)
    samples[1000] = number
    with pytest.raises(BrokenClip, match="NaN or infinity"):
        check_prompt_clip(clip(samples))


def test_unscaled_samples_are_refused() -> None:
    with pytest.raises(BrokenClip, match=r"samples reach .*; full scale is 1"):
        check_prompt_clip(clip(babble(4.0) * np.float32(20_000)))


def warnings_of(waveform: Waveform) -> str:
    return " ".join(check_prompt_clip(waveform).warnings)


def test_poor_clips_have_warnings() -> None:
    assert warnings_of(clip(babble(4.0))) == ""
    assert "only 2.0 s of speech" in warnings_of(clip(babble(2.0)))
    assert "mostly silence" in warnings_of(clip(silence(6.0), babble(4.0), silence(6.0)))
    assert "very quiet" in warnings_of(clip(babble(4.0, rms=0.004)))
    assert "distorted" in warnings_of(clip(np.clip(babble(4.0, rms=0.7), -1.0, 1.0)))
    telephone = resample_steeply(resample_steeply(babble(4.0), RATE, 8_000), 8_000, RATE)
    assert warnings_of(Waveform(telephone, RATE)) == (
        "The clip sounds like a telephone call: there is almost nothing above 4 kHz."
    )


def test_a_single_full_scale_sample_is_not_clipping() -> None:
    samples = babble(4.0)
    assert "distorted" not in warnings_of(clip(samples / np.abs(samples).max()))


def test_require_sound_accepts_any_length() -> None:
    require_sound(clip(babble(40.0)))
    require_sound(clip(babble(0.1)))
    with pytest.raises(SilentClip):
        require_sound(clip(silence(1.0)))
    with pytest.raises(LowSampleRate):
        require_sound(Waveform(babble(1.0), 8_000))


@pytest.mark.parametrize("noise", [0.0, 1e-4, 5e-4])
def test_trailing_silence_excludes_the_kept_tail(noise: float) -> None:
    sound = babble(3.05)
    waveform = Waveform(np.concatenate([silence(0.5), sound, silence(1.0)]) + silence(4.55, noise), RATE)
    assert trailing_silence_seconds(waveform) == pytest.approx(0.8, abs=0.1)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    tail_seconds=st.floats(0.0, 1.5),
    noise=st.sampled_from([0.0, 1e-4, 1e-3, 1e-2]),
    ending_db=st.floats(-30.0, 0.0),
    seed=st.integers(0, 99),
)
def test_speech_is_never_cut(tail_seconds: float, noise: float, ending_db: float, seed: int) -> None:
    """Even a final consonant 30 dB below the rest is kept."""
    ending = babble(0.15, rms=0.1 * 10 ** (ending_db / 20), seed=seed)
    samples = np.concatenate([babble(2.0, seed=seed), ending, silence(tail_seconds)])
    samples = samples + silence(9.0, noise)[: len(samples)]
    assert trailing_silence_seconds(Waveform(samples, RATE)) <= max(0.0, tail_seconds - 0.15)


@pytest.mark.parametrize("name", ["prompt_a.wav", "prompt_b.wav"])
def test_a_clip_ending_in_speech_has_no_trailing_silence(name: str) -> None:
    assert trailing_silence_seconds(read_audio(CLIPS / name)) == 0.0


def test_very_short_clips_have_no_trailing_silence() -> None:
    assert trailing_silence_seconds(clip()) == 0.0
    assert trailing_silence_seconds(clip(babble(0.01))) == 0.0
