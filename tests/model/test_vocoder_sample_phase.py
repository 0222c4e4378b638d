"""CosyVoice-300M's vocoder: a stream that equals one run, and phases and noise by seed."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_vocoders import random_mel, small_vocoder, stream_all

from studio.model.config import VocoderKind
from studio.model.vocoder.network import cumulative_phase, source_phase

NUM_FRAMES = 90
HELD_BACK_FRAMES = 20

VOCODER = small_vocoder(VocoderKind.SAMPLE_PHASE)


def largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())


@pytest.mark.slow
@settings(max_examples=25)
@given(st.sets(st.integers(0, NUM_FRAMES), max_size=6).map(sorted))
def test_any_division_into_chunks_equals_one_run(cuts: list[int]) -> None:
    """Chunks hold back everything that later frames can change, so nothing is cross-faded."""
    mel = random_mel(NUM_FRAMES)
    whole = VOCODER.synthesize_whole(mel, VOCODER.noise(0))
    actual = torch.cat(stream_all(VOCODER, mel, cuts))
    assert actual.shape == whole.shape
    assert largest(actual - whole) < 1e-8


def test_a_sample_depends_on_the_held_back_frames() -> None:
    """Fewer would not be exact: the last frame of a window changes samples 19 frames before it."""
    mel = random_mel(NUM_FRAMES)
    changed = mel.clone()
    changed[:, -1] += 1.0
    differs = VOCODER.synthesize_whole(mel, VOCODER.noise(0)) - VOCODER.synthesize_whole(changed, VOCODER.noise(0))
    by_frame = differs.view(NUM_FRAMES, -1).abs().amax(1) > 1e-12
    first = int(by_frame.nonzero()[0])
    assert 17 <= NUM_FRAMES - first <= HELD_BACK_FRAMES


def test_phase_is_the_sum_over_samples() -> None:
    f0 = torch.tensor([[0.0, 120.0, 121.5, 300.0]], dtype=torch.float64)
    config = VOCODER.network.config
    sums = cumulative_phase(f0, config)
    phase = source_phase(sums, None, torch.float64, kind=config.kind, samples_per_frame=256)
    harmonics = torch.arange(1, 10, dtype=torch.float64)
    cycles = (f0.repeat_interleave(256, dim=-1)[:, None] * harmonics[:, None] / config.sample_rate).cumsum(-1)
    assert largest((phase - 2 * math.pi * cycles).sin()) < 1e-9
    later = source_phase(sums[:, :, 2:], sums[:, :, 1], torch.float64, kind=config.kind, samples_per_frame=256)
    assert largest(later - phase[:, :, 512:]) < 1e-9


@pytest.mark.slow
def test_phase_stays_exact_for_minutes() -> None:
    """In float32 the ninth harmonic would be wrong by a hundredth of a radian after half a minute."""
    frames = 30 * 86
    f0 = torch.full((1, frames), 437.1)
    config = VOCODER.network.config
    phase = source_phase(cumulative_phase(f0, config), None, torch.float32, kind=config.kind, samples_per_frame=256)
    per_sample = (f0[0, 0] * torch.tensor(9.0) / config.sample_rate).double()
    wanted = 2 * math.pi * ((per_sample * torch.arange(1, frames * 256 + 1)) % 1)
    assert largest((phase[0, 8].double() - wanted).sin()) < 1e-5


def test_seeds_determine_phases_and_noise() -> None:
    first, again, other = VOCODER.noise(3), VOCODER.noise(3), VOCODER.noise(4)
    phases = first.initial_phases()
    assert phases is not None
    assert phases.shape == (9,)
    assert phases[0] == 0
    assert phases.abs().max() <= math.pi
    assert torch.equal(phases, again.initial_phases())  # type: ignore[arg-type]
    assert not torch.equal(phases, other.initial_phases())  # type: ignore[arg-type]
    assert torch.equal(first.columns(5000, 9000), again.columns(0, 10_000)[5000:9000])
    assert small_vocoder(VocoderKind.NON_CAUSAL).noise(3).initial_phases() is None
    assert small_vocoder(VocoderKind.CAUSAL).noise(3).initial_phases() is None
