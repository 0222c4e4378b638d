"""Features are the same as those of the official code for the reference clips and a chirp, and of a second library."""

from __future__ import annotations

from pathlib import Path

import kaldi_native_fbank
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_limits import limit_of, limit_of_inputs
from safetensors.numpy import load_file

from studio.audio.files import read_audio
from studio.audio.resampling import resample
from studio.audio.waveform import Waveform
from studio.errors import ClipTooShort
from studio.model.config import PromptMelConfig
from studio.voices.features import (
    kaldi_fbank,
    kaldi_filter_bank,
    prompt_mel,
    quick_kaldi_fbank,
    slaney_filter_bank,
    whisper_log_mel,
)

Array = npt.NDArray[np.float32]
BUNDLED_VOICES = Path(__file__).resolve().parents[2] / "resources" / "voices"

V1_MEL = PromptMelConfig(sample_rate=22_050, window_samples=1024, hop_samples=256, max_hz=8000.0)
V2_MEL = PromptMelConfig(sample_rate=24_000, max_hz=8000.0)
V3_MEL = PromptMelConfig(sample_rate=24_000)
MEL_OF = {"cosyvoice2": V2_MEL, "cosyvoice3": V3_MEL}

# Difference between two runs of the official code on the reference clips.
WHISPER_TOLERANCE = 2.5e-5
# Difference from a second Kaldi implementation (README of the reference data).
FBANK_TOLERANCE = 2.7e-4


@pytest.fixture(params=["prompt_a", "prompt_b"])
def clip(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def recorded(reference: Path, clip: str) -> dict[str, Array]:
    """Resampled waveforms of the clip and its features, by name."""
    arrays = load_file(reference / "inputs" / "features.safetensors")
    return {name.removeprefix(f"{clip}/"): array for name, array in arrays.items() if name.startswith(clip)}


@pytest.mark.reference
def test_whisper_log_mel_equals_the_official_one(reference: Path, recorded: dict[str, Array]) -> None:
    log_mel = whisper_log_mel(Waveform(recorded["speech_16k"][0], 16_000))
    limit = limit_of_inputs(reference, "*/whisper_mel", at_least=WHISPER_TOLERANCE)
    assert log_mel.dtype == np.float32
    np.testing.assert_allclose(log_mel, recorded["whisper_mel"][0], rtol=0, atol=limit)


@pytest.mark.reference
def test_kaldi_fbank_equals_the_official_one(reference: Path, recorded: dict[str, Array]) -> None:
    fbank = kaldi_fbank(Waveform(recorded["speech_16k"][0], 16_000))
    assert fbank.dtype == np.float32
    limit = limit_of_inputs(reference, "*/fbank", at_least=FBANK_TOLERANCE)
    assert (np.abs(fbank - recorded["fbank"]) <= limit + _fbank_rounding(recorded["speech_16k"][0])).all()


def _fbank_rounding(samples: Array) -> Array:
    """Return the error of a float32 FFT in each band: 2^-24 of the frame's energy, in quiet bands more than a limit."""
    waveform = Waveform(samples, 16_000)
    energies = np.exp(kaldi_fbank(waveform, subtract_mean=False).astype(np.float64))
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), 400)[::160]
    errors = 2.0**-24 * np.sqrt((frames**2).sum(axis=1))[:, None]
    return 2 * errors * np.sqrt(kaldi_filter_bank(16_000, 512, 80, 20).sum(axis=1) / energies)


@pytest.mark.parametrize("name", ["Ada", "Linda"])
def test_the_limit_of_the_fbank_allows_what_float32_rounds(name: str) -> None:
    clip = read_audio(BUNDLED_VOICES / f"{name}.wav")
    samples = resample(clip.samples, clip.sample_rate, 16_000).astype(np.float32)
    waveform = Waveform(samples, 16_000)
    errors = np.abs(quick_kaldi_fbank(waveform) - kaldi_fbank(waveform, subtract_mean=False))
    assert errors.max() > FBANK_TOLERANCE
    assert (errors <= FBANK_TOLERANCE + _fbank_rounding(samples)).all()


@pytest.mark.slow
@pytest.mark.reference
def test_prompt_mel_equals_the_official_one(
    reference: Path, family: str, clip: str, recorded: dict[str, Array]
) -> None:
    golden = load_file(reference / family / "golden" / "frontend.safetensors")[f"wav/{clip}/prompt_mel"][0]
    signal = recorded["speech_24k"][0]
    mel = prompt_mel(Waveform(signal, 24_000), MEL_OF[family])
    assert mel.dtype == np.float32
    assert mel.shape == golden.shape
    # In quiet bands, the official values are rounding errors: the error of a float32 FFT in every bin is about a tenth
    # of 2^-24 of the loudest bin of the frame.
    padded = np.pad(signal.astype(np.float64), 720, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, 1920)[::480]
    loudest = np.abs(np.fft.rfft(frames * np.hanning(1921)[:-1])).max(axis=1)[:, None]
    bands = slaney_filter_bank(24_000, 1920, 80, 0.0, MEL_OF[family].max_hz).sum(axis=1)
    rounding = 0.1 * 2.0**-24 * loudest * bands / np.exp(golden)
    # Only the mel of CosyVoice3 has empty bands, where rounding errors are larger.
    elsewhere, near_floor = sorted(limit_of(reference, mels, "frontend:wav/*/prompt_mel") for mels in MEL_OF)
    tolerance = np.minimum(elsewhere + rounding, near_floor)
    assert (np.abs(mel - golden) <= tolerance).all()


def chirp(sample_rate: int) -> Waveform:
    seconds = np.arange(sample_rate) / sample_rate
    samples = 0.4 * np.sin(2 * np.pi * (200 * seconds + 1500 * seconds**2))
    return Waveform(samples.astype(np.float32), sample_rate)


def test_whisper_log_mel_of_a_chirp() -> None:
    log_mel = whisper_log_mel(chirp(16_000))
    assert log_mel.shape == (128, 100)
    assert log_mel.mean() == pytest.approx(-0.393386, abs=1e-4)
    assert log_mel.max() == pytest.approx(1.447567, abs=1e-4)
    assert log_mel.min() == pytest.approx(-0.552433, abs=1e-4)
    assert log_mel[:, 50].argmax() == 64
    assert log_mel[63:65, 50] == pytest.approx([1.32833, 1.36071], abs=1e-4)


def test_kaldi_fbank_of_a_chirp() -> None:
    fbank = kaldi_fbank(chirp(16_000), subtract_mean=False)
    assert fbank.shape == (98, 80)
    assert fbank.mean() == pytest.approx(-12.626062, abs=1e-4)
    assert fbank[49].argmax() == 38
    assert fbank[49, 37:39] == pytest.approx([3.99405, 6.85760], abs=1e-4)


@pytest.mark.parametrize(
    ("config", "num_frames", "mean", "frame", "band", "below", "value"),
    [
        (V1_MEL, 86, -9.774860, 43, 40, 0.10036, 0.99255),
        (V2_MEL, 50, -9.428199, 25, 40, 0.99357, 1.81451),
        (V3_MEL, 50, -9.615831, 25, 35, 0.24775, 1.68840),
    ],
)
def test_prompt_mel_of_a_chirp(
    config: PromptMelConfig, num_frames: int, mean: float, frame: int, band: int, below: float, value: float
) -> None:
    mel = prompt_mel(chirp(config.sample_rate), config)
    assert mel.shape == (num_frames, 80)
    assert mel.mean() == pytest.approx(mean, abs=1e-4)
    assert mel[frame].argmax() == band
    assert mel[frame, band - 1 : band + 1] == pytest.approx([below, value], abs=1e-4)


def test_filter_banks_of_two_models_are_not_shared() -> None:
    """The official code shares one bank if only the rate differs (SPECIFICATION.md, J2 14)."""
    prompt_mel(chirp(22_050), V1_MEL)
    after_v1 = prompt_mel(chirp(24_000), V2_MEL)
    assert after_v1.mean() == pytest.approx(-9.428199, abs=1e-4)
    assert slaney_filter_bank(22_050, 1024, 80, 0.0, 8000.0).shape == (80, 513)
    assert slaney_filter_bank(24_000, 1920, 80, 0.0, 8000.0).shape == (80, 961)
    assert not np.array_equal(
        slaney_filter_bank(24_000, 1920, 80, 0.0, 8000.0), slaney_filter_bank(24_000, 1920, 80, 0.0, None)
    )


@settings(max_examples=30)
@given(num_samples=st.integers(400, 9000), seed=st.integers(0, 1000), loudness=st.sampled_from([1e-3, 0.1, 0.9]))
def test_fbank_of_any_sound_equals_a_second_kaldi(num_samples: int, seed: int, loudness: float) -> None:
    samples = (np.random.default_rng(seed).normal(0, loudness, num_samples)).astype(np.float32)
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.dither = 0.0
    options.mel_opts.num_bins = 80
    kaldi = kaldi_native_fbank.OnlineFbank(options)
    kaldi.accept_waveform(16_000, samples.tolist())
    kaldi.input_finished()
    expected = np.stack([kaldi.get_frame(frame) for frame in range(kaldi.num_frames_ready)])
    fbank = kaldi_fbank(Waveform(samples, 16_000), subtract_mean=False)
    # Compare powers: a nearly empty band contains only the float32 rounding errors of the other library.
    powers = np.exp(expected)
    np.testing.assert_allclose(np.exp(fbank), powers, rtol=FBANK_TOLERANCE, atol=2.0**-24 * powers.max() / 10)


@settings(max_examples=30)
@given(num_samples=st.integers(721, 6000))
def test_number_of_frames(num_samples: int) -> None:
    samples = np.random.default_rng(num_samples).normal(0, 0.1, num_samples).astype(np.float32)
    assert whisper_log_mel(Waveform(samples, 16_000)).shape == (128, num_samples // 160)
    assert prompt_mel(Waveform(samples, 24_000), V3_MEL).shape == (num_samples // 480, 80)
    assert kaldi_fbank(Waveform(samples, 16_000)).shape == (1 + (num_samples - 400) // 160, 80)


def test_the_features_of_silence_are_finite() -> None:
    silence = np.zeros(16_000, np.float32)
    assert np.isfinite(whisper_log_mel(Waveform(silence, 16_000))).all()
    assert np.abs(kaldi_fbank(Waveform(silence, 16_000))).max() < 1e-6
    assert prompt_mel(Waveform(silence, 24_000), V3_MEL).min() >= np.float32(np.log(1e-5))


def test_too_short_clips_are_refused() -> None:
    with pytest.raises(ClipTooShort, match=r"lasts only 0\.01 s"):
        whisper_log_mel(Waveform(np.zeros(200, np.float32), 16_000))
    with pytest.raises(ClipTooShort, match=r"lasts only 0\.02 s"):
        kaldi_fbank(Waveform(np.zeros(399, np.float32), 16_000))
    with pytest.raises(ClipTooShort, match=r"lasts only 0\.03 s"):
        prompt_mel(Waveform(np.zeros(720, np.float32), 24_000), V3_MEL)


def test_the_quick_fbank_is_nearly_the_exact_one() -> None:
    samples = np.random.default_rng(0).normal(scale=0.1, size=16_000).astype(np.float32)
    samples[4_000:8_000] *= 1e-3
    exact = kaldi_fbank(Waveform(samples, 16_000), subtract_mean=False)
    quick = quick_kaldi_fbank(Waveform(samples, 16_000))
    assert quick.dtype == np.float32
    np.testing.assert_allclose(quick, exact, atol=1e-3)
    with pytest.raises(ClipTooShort):
        quick_kaldi_fbank(Waveform(samples[:399], 16_000))
