"""Assignment of CUDA streams to threads, with fake streams."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from studio.model.torch_device import StreamPool, configure_torch, cuda_streams


def test_arithmetic_on_gpus_is_exact_and_needs_no_plans() -> None:
    configure_torch(torch.get_num_threads())
    matmul = torch.backends.cuda.matmul
    assert not matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32
    assert not matmul.allow_fp16_reduced_precision_reduction
    assert not matmul.allow_bf16_reduced_precision_reduction
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> StreamPool:
    """Return a pool of fake torch streams of a GPU, some of which are already in use."""
    numbers = itertools.cycle(range(100, 132))

    class Stream:
        def __init__(self, device: torch.device) -> None:
            self.cuda_stream = next(numbers)

    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    for _ in range(5):
        next(numbers)
    return StreamPool(torch.device("cuda", 0))


def streams_of_threads(pool: StreamPool, num_threads: int) -> list[list[int]]:
    """Return the streams that each thread gets in three calls."""
    all_there = Barrier(num_threads)

    def ask(_: int) -> list[int]:
        all_there.wait(60)
        return [pool.of_this_thread().cuda_stream for _ in range(3)]

    with ThreadPoolExecutor(num_threads) as threads:
        return list(threads.map(ask, range(num_threads)))


def test_each_thread_keeps_a_separate_stream(pool: StreamPool) -> None:
    asked = streams_of_threads(pool, 31)
    assert all(len(set(of_thread)) == 1 for of_thread in asked)
    assert len({of_thread[0] for of_thread in asked}) == 31


def test_no_thread_gets_the_stream_reserved_for_recording(pool: StreamPool) -> None:
    asked = streams_of_threads(pool, 70)
    assert pool.for_recording.cuda_stream not in {stream for of_thread in asked for stream in of_thread}


@pytest.mark.usefixtures("pool")
def test_a_gpu_has_one_pool_for_all_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.model.torch_device._pools", {})
    first = cuda_streams(torch.device("cuda", 0))
    assert cuda_streams(torch.device("cuda")) is first
    assert cuda_streams(torch.device("cuda", 1)) is not first
