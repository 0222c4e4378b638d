"""Assignment of CUDA streams to threads, with fake streams."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from studio.model.torch_device import StreamPool, cuda_streams


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> StreamPool:
    """Fake torch streams of a GPU, some of which are already in use."""
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


def test_each_thread_has_one_of_its_own_and_keeps_it(pool: StreamPool) -> None:
    asked = streams_of_threads(pool, 31)
    assert all(len(set(of_thread)) == 1 for of_thread in asked)
    assert len({of_thread[0] for of_thread in asked}) == 31


def test_nobody_queues_on_the_stream_that_is_for_recording(pool: StreamPool) -> None:
    asked = streams_of_threads(pool, 70)
    assert pool.for_recording.cuda_stream not in {stream for of_thread in asked for stream in of_thread}


@pytest.mark.usefixtures("pool")
def test_a_card_has_one_pool_whatever_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.model.torch_device._pools", {})
    first = cuda_streams(torch.device("cuda", 0))
    assert cuda_streams(torch.device("cuda")) is first
    assert cuda_streams(torch.device("cuda", 1)) is not first
