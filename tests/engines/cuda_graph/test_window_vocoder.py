"""Padded chunks in fixed memory equal the plain stream of CosyVoice2."""

from __future__ import annotations

import pytest
import torch
from small_vocoders import random_mel, small_vocoder, stream_all

from studio.engines.cuda_graph.window_vocoder import SIZES, GraphedWindowVocoder, graphed
from studio.model.config import VocoderKind


def new_vocoder() -> GraphedWindowVocoder:
    found = graphed(small_vocoder(VocoderKind.NON_CAUSAL))
    assert isinstance(found, GraphedWindowVocoder)
    return found


@pytest.fixture(scope="module")
def vocoder() -> GraphedWindowVocoder:
    return new_vocoder()


@pytest.mark.parametrize(
    ("num_frames", "cuts"),
    [
        (5, []),
        (32, []),
        (90, [14]),
        (121, [3, 26, 76]),
        (177, [26, 76]),
        (77, [14, 76]),
        (300, [26]),
        (140, [20, 40, 60]),
    ],
)
def test_streams_equal_the_plain_stream(vocoder: GraphedWindowVocoder, num_frames: int, cuts: list[int]) -> None:
    mel = random_mel(num_frames)
    wanted = stream_all(small_vocoder(VocoderKind.NON_CAUSAL), mel, cuts)
    found = stream_all(vocoder, mel, cuts)
    assert [len(chunk) for chunk in found] == [len(chunk) for chunk in wanted]
    assert (torch.cat(found) - torch.cat(wanted)).abs().max() < 1e-9


def test_chunks_have_few_sizes() -> None:
    vocoder = new_vocoder()
    for num_frames in range(60, 120, 7):
        stream_all(vocoder, random_mel(num_frames), [26])
    assert {size for size, _ in vocoder.memory._runs} <= {*SIZES}
    assert len(vocoder.memory._runs) <= 5


def test_recording_changes_no_result(vocoder: GraphedWindowVocoder) -> None:
    mel = random_mel(90)
    once = stream_all(vocoder, mel, [14, 64])
    for record in vocoder.recordings():
        record()
    assert torch.equal(torch.cat(stream_all(vocoder, mel, [14, 64])), torch.cat(once))
