"""CUDA streams for concurrent lines, one for each thread, and times of their work. On a CPU, nothing is queued."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from studio.model.torch_device import cuda_streams


@contextmanager
def cuda_stream(device: torch.device | str) -> Iterator[None]:
    """Run the work of this thread on a separate stream, so that it does not wait for work of other threads.

    Single lines use it too, because TensorRT synchronises at every call on the default stream.
    """
    device = torch.device(device)
    if device.type != "cuda":
        yield
        return
    with torch.cuda.stream(cuda_streams(device).of_this_thread()):
        yield


def synchronize(device: torch.device | str) -> None:
    """Wait until the work queued by this thread is complete, so that any stream may read its results."""
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


@dataclass(frozen=True, slots=True)
class TimeMark:
    """A point in the work of this thread: on a GPU, when the work queued before it is complete."""

    seconds: float
    event: torch.cuda.Event | None

    def seconds_until(self, later: TimeMark) -> float:
        """Return the time between both points; waits until ``later`` is reached."""
        if self.event is None or later.event is None:
            return later.seconds - self.seconds
        later.event.synchronize()
        return float(self.event.elapsed_time(later.event)) / 1000


def mark_time(device: torch.device | str) -> TimeMark:
    """Mark this point in the work of this thread on ``device``."""
    device = torch.device(device)
    event = None
    if device.type == "cuda":
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(device))
    return TimeMark(time.perf_counter(), event)
