"""Chunks of fixed sizes in fixed memory equal the plain stream, also at the padded end."""

from __future__ import annotations

import pytest
import torch
from small_vocoders import random_mel, small_vocoder, stream_all

from studio.engines.cuda_graph.vocoder import GraphedVocoder, RecordedStream
from studio.engines.cuda_graph.window_vocoder import graphed
from studio.model.config import VocoderKind
from studio.model.vocoder.vocoder import CausalStream


@pytest.fixture(scope="module")
def vocoder() -> GraphedVocoder:
    return causal()


def causal() -> GraphedVocoder:
    found = graphed(small_vocoder(VocoderKind.CAUSAL))
    assert isinstance(found, GraphedVocoder)
    return found


@pytest.mark.parametrize(
    ("num_frames", "cuts"),
    [
        (1, []),
        (45, []),
        (46, []),
        (120, [14]),
        (121, [3, 26, 76]),
        (64, [14, 64]),
        (77, [14, 76]),
        (300, [26]),
        (300, []),
    ],
)
def test_streams_equal_the_plain_stream(vocoder: GraphedVocoder, num_frames: int, cuts: list[int]) -> None:
    """Chunks with and without a last piece, too short for the first chunk, and longer than the largest size."""
    mel = random_mel(num_frames)
    wanted = stream_all(small_vocoder(VocoderKind.CAUSAL), mel, cuts)
    found = stream_all(vocoder, mel, cuts)
    assert sum(map(len, found)) == vocoder.samples_per_frame * num_frames
    assert (torch.cat(found) - torch.cat(wanted)).abs().max() < 1e-9


def test_last_chunks_have_few_sizes() -> None:
    vocoder = causal()
    for num_frames in range(60, 130, 7):
        stream_all(vocoder, random_mel(num_frames), [14])
    (memory,) = vocoder._idle
    assert {size for is_first, size in memory._runs if not is_first} == {100, 150}


def test_recording_changes_no_result(vocoder: GraphedVocoder) -> None:
    mel = random_mel(90)
    once = stream_all(vocoder, mel, [14, 64])
    for record in vocoder.recordings():
        record()
    assert torch.equal(torch.cat(stream_all(vocoder, mel, [14, 64])), torch.cat(once))


def test_concurrent_streams_run_without_graphs(vocoder: GraphedVocoder) -> None:
    first, second = (vocoder.open_stream(vocoder.noise(0)) for _ in range(2))
    assert isinstance(first, RecordedStream)
    assert isinstance(second, CausalStream)
    del first
    assert isinstance(vocoder.open_stream(vocoder.noise(0)), RecordedStream), "an abandoned stream returns its memory"
