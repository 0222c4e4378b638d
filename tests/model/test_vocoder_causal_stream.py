"""CosyVoice3's vocoder: streamed equals whole for any chunks, at constant cost."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_vocoders import random_mel, small_network, small_vocoder, stream_all

from studio.model.config import VocoderKind

NUM_FRAMES = 40
SAMPLES_PER_FRAME = 480
LAG_SAMPLES = 4 * SAMPLES_PER_FRAME + 4

VOCODER = small_vocoder(VocoderKind.CAUSAL)
VOCODER32 = small_vocoder(VocoderKind.CAUSAL, torch.float32)


def one_run(mel: torch.Tensor, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Run the plain network without stream and merged taps."""
    network = small_network(VocoderKind.CAUSAL, dtype)
    network.f0_predictor.double()
    noise = VOCODER.noise(0).columns(0, mel.shape[-1] * SAMPLES_PER_FRAME)
    return network(mel[None].to(dtype), noise)[0][0]


WHOLE = one_run(random_mel(NUM_FRAMES))
CUTS = st.sets(st.integers(0, NUM_FRAMES), max_size=12).map(sorted)


@pytest.mark.slow
@settings(max_examples=30)
@given(CUTS)
def test_any_division_into_chunks_equals_one_run_in_float64(cuts: list[int]) -> None:
    actual = torch.cat(stream_all(VOCODER, random_mel(NUM_FRAMES), cuts))
    assert actual.shape == WHOLE.shape
    assert (actual - WHOLE).abs().max() <= 1e-9


@pytest.mark.slow
@settings(max_examples=10)
@given(CUTS)
def test_any_division_into_chunks_equals_one_run_in_float32(cuts: list[int]) -> None:
    mel = random_mel(NUM_FRAMES).float()
    assert (torch.cat(stream_all(VOCODER32, mel, cuts)) - one_run(mel, torch.float32)).abs().max() <= 1e-4


@pytest.mark.slow
def test_frame_by_frame_equals_one_run() -> None:
    actual = torch.cat(stream_all(VOCODER, random_mel(NUM_FRAMES), list(range(1, NUM_FRAMES))))
    assert (actual - WHOLE).abs().max() <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("num_frames", [1, 2, 4, 5, 6, 100, 101, 205])
def test_whole_equals_one_run(num_frames: int) -> None:
    """Whole mode runs a stream in blocks."""
    mel = random_mel(num_frames)
    actual = VOCODER.synthesize_whole(mel, VOCODER.noise(0))
    assert actual.shape == (num_frames * SAMPLES_PER_FRAME,)
    assert (actual - one_run(mel)).abs().max() <= 1e-9


def test_all_but_four_frames_and_four_samples_are_returned() -> None:
    first, second, last = stream_all(VOCODER, random_mel(NUM_FRAMES), [10, 25])
    assert len(first) == 10 * SAMPLES_PER_FRAME - LAG_SAMPLES
    assert len(second) == 15 * SAMPLES_PER_FRAME
    assert len(last) == 15 * SAMPLES_PER_FRAME + LAG_SAMPLES


def test_held_back_samples_are_not_final() -> None:
    """The held-back samples depend on the next frame, from the first or second sample on."""
    mel = random_mel(12)
    whole = VOCODER.synthesize_whole(mel, VOCODER.noise(0))
    mel[:, 11] += 1.0
    changed = (VOCODER.synthesize_whole(mel, VOCODER.noise(0)) - whole).abs() > 1e-12
    num_given = 11 * SAMPLES_PER_FRAME - LAG_SAMPLES
    assert int(changed.nonzero()[0]) - num_given in {0, 1}  # a window begins with a zero


def test_very_few_frames_give_samples_only_at_the_end() -> None:
    stream = VOCODER.open_stream(VOCODER.noise(0))
    mel = random_mel(4)
    assert stream.synthesize(mel[:, :3], is_last=False).shape == (0,)
    assert stream.synthesize(mel[:, 3:], is_last=False).shape == (0,)
    assert (stream.synthesize(mel[:, :0], is_last=True) - one_run(mel)).abs().max() <= 1e-9


def test_no_frames_give_no_samples() -> None:
    mel = random_mel(0)
    assert VOCODER.synthesize_whole(mel, VOCODER.noise(0)).shape == (0,)
    stream = VOCODER.open_stream(VOCODER.noise(0))
    assert stream.synthesize(mel, is_last=False).shape == (0,)
    assert stream.synthesize(mel, is_last=True).shape == (0,)


def test_cost_of_a_chunk_does_not_grow() -> None:
    """Every layer processes as many columns in the last chunk as in the second."""
    vocoder = small_vocoder(VocoderKind.CAUSAL)
    columns_of_chunk: list[int] = []
    for layer in vocoder.network.modules():
        if isinstance(layer, torch.nn.Conv1d):
            layer.register_forward_hook(lambda _, inputs, __: columns_of_chunk.append(inputs[0].shape[-1]))
    stream = vocoder.open_stream(vocoder.noise(0))
    costs = []
    for _ in range(12):
        columns_of_chunk.clear()
        stream.synthesize(random_mel(10), is_last=False)
        costs.append(sum(columns_of_chunk))
    assert costs[0] > 0
    assert set(costs[1:]) == {costs[1]}


def test_streams_are_independent() -> None:
    mel, other = random_mel(20, seed=1), random_mel(20, seed=2)
    alone = stream_all(VOCODER, mel, [8])
    streams = [VOCODER.open_stream(VOCODER.noise(0)) for _ in range(2)]
    first = streams[0].synthesize(mel[:, :8], is_last=False)
    streams[1].synthesize(other[:, :8], is_last=False)
    last = streams[0].synthesize(mel[:, 8:], is_last=True)
    streams[1].synthesize(other[:, 8:], is_last=True)
    assert torch.equal(first, alone[0])
    assert torch.equal(last, alone[1])


def test_seed_has_no_effect_on_constant_noise() -> None:
    assert torch.equal(VOCODER.noise(1).columns(0, 9), VOCODER.noise(2).columns(0, 9))
