"""CosyVoice2's vocoder: sample counts of the official program, seams close to one run, seeds."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_vocoders import random_mel, small_vocoder, stream_all

from studio.model.config import VocoderKind

NUM_FRAMES = 96
SAMPLES_PER_FRAME = 480
OVERLAP_FRAMES = 8
# Influence of a chunk's end: 13 or 14 frames of mel and source, plus five of the pitch.
REACH_FRAMES = 20

VOCODER = small_vocoder(VocoderKind.NON_CAUSAL)


def one_run(mel: torch.Tensor, seed: int = 0) -> torch.Tensor:
    return VOCODER.synthesize_whole(mel, VOCODER.noise(seed))


WHOLE = one_run(random_mel(NUM_FRAMES))


def test_whole_mode_equals_the_plain_network() -> None:
    noise = VOCODER.noise(0).columns(0, NUM_FRAMES * SAMPLES_PER_FRAME)
    assert torch.equal(VOCODER.network(random_mel(NUM_FRAMES)[None], noise)[0][0], WHOLE)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.sets(st.integers(0, NUM_FRAMES), max_size=8).map(sorted))
def test_any_division_into_chunks_gives_all_samples_and_differs_only_at_seams(cuts: list[int]) -> None:
    """In float64, only the samples within the influence of a chunk's end differ."""
    actual = torch.cat(stream_all(VOCODER, random_mel(NUM_FRAMES), cuts))
    assert actual.shape == WHOLE.shape
    differs = ((actual - WHOLE).abs() > 1e-9).view(NUM_FRAMES, -1).any(-1)
    near_seam = torch.zeros(NUM_FRAMES, dtype=torch.bool)
    for cut in cuts:
        near_seam[max(0, cut - REACH_FRAMES) : cut] = True
    assert not (differs & ~near_seam).any()


def test_seams_are_close_to_one_run() -> None:
    """The cross-fade covers a small difference: at least 40 dB below the signal."""
    actual = torch.cat(stream_all(VOCODER, random_mel(NUM_FRAMES), [30, 60]))
    error, sound = (actual - WHOLE).pow(2).mean(), WHOLE.pow(2).mean()
    assert 0 < error < 1e-4 * sound


def test_chunks_have_the_official_lengths() -> None:
    """H2: the first chunk lacks the overlap, the last includes it."""
    frames = [34, 50, 12]
    first, middle, last = stream_all(VOCODER, random_mel(NUM_FRAMES), [34, 84])
    assert [len(first), len(middle), len(last)] == [
        SAMPLES_PER_FRAME * (frames[0] - OVERLAP_FRAMES),
        SAMPLES_PER_FRAME * frames[1],
        SAMPLES_PER_FRAME * (frames[2] + OVERLAP_FRAMES),
    ]


def test_the_first_chunk_is_a_run_over_its_own_frames() -> None:
    mel = random_mel(34)
    first = VOCODER.open_stream(VOCODER.noise(0)).synthesize(mel, is_last=False)
    assert torch.equal(first, one_run(mel)[: len(first)])


@pytest.mark.parametrize("num_frames", [1, 2, 8, 9])
def test_short_utterances_equal_one_run(num_frames: int) -> None:
    mel = random_mel(num_frames)
    whole = one_run(mel)
    assert whole.shape == (num_frames * SAMPLES_PER_FRAME,)
    assert torch.equal(torch.cat(stream_all(VOCODER, mel, [])), whole)


def test_last_call_without_frames_returns_the_held_back_samples() -> None:
    mel = random_mel(30)
    assert torch.equal(torch.cat(stream_all(VOCODER, mel, [30])), one_run(mel))


def test_no_frames_give_no_samples() -> None:
    mel = random_mel(0)
    assert one_run(mel).shape == (0,)
    stream = VOCODER.open_stream(VOCODER.noise(0))
    assert stream.synthesize(mel, is_last=False).shape == (0,)
    assert stream.synthesize(mel, is_last=True).shape == (0,)


def test_cost_of_a_chunk_is_its_frames_plus_a_constant() -> None:
    vocoder = small_vocoder(VocoderKind.NON_CAUSAL)
    columns: list[int] = []
    vocoder.network.conv_post.register_forward_hook(lambda _, inputs, __: columns.append(inputs[0].shape[-1]))
    stream = vocoder.open_stream(vocoder.noise(0))
    for _ in range(8):
        stream.synthesize(random_mel(20), is_last=False)
    assert set(columns[2:]) == {columns[2]}


def test_samples_depend_on_the_seed() -> None:
    mel = random_mel(12)
    assert torch.equal(one_run(mel, seed=4), one_run(mel, seed=4))
    assert not torch.equal(one_run(mel, seed=4), one_run(mel, seed=5))
