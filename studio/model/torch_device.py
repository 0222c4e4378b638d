"""Torch on a device: process-wide settings, free memory, CUDA streams for concurrent lines, and times of their work."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import torch

from studio.model.device_kind import DeviceKind

# Held while a computation is recorded as a CUDA graph: only one thread may record at a time, and none may release torch's
# cached memory meanwhile.
RECORDING = threading.Lock()
# Number of streams that torch has per GPU.
_NUM_STREAMS = 32


def configure_torch(num_threads: int) -> None:
    """Use ``num_threads`` CPU threads, flush denormals to zero, and choose exact and predictable arithmetic on GPUs."""
    torch.set_num_threads(num_threads)
    torch.set_flush_denormal(True)
    # TF32 keeps 10 bits, which is audible in the vocoder's phases. Engines are compared with plain float32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    # Sums of 16 bits overflow and round far more than the 16-bit products that they add.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    # cuDNN plans attention for each new shape, in each thread. That can interrupt a line for half a second.
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)


def free_memory_bytes(device: torch.device) -> int:
    """Return the free memory of a GPU, or the available system memory."""
    if DeviceKind(device.type).is_gpu:
        return int(torch.get_device_module(device).mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def used_memory_bytes(device: torch.device) -> int:
    """Return the memory that this process holds on a GPU, including torch's cache, or in the system's memory."""
    if DeviceKind(device.type).is_gpu:
        return int(torch.get_device_module(device).memory_reserved(device))
    return int(psutil.Process().memory_info().rss)


class StreamPool:
    """Reserves one stream for graph capture and assigns one of the others to each thread.

    Torch has a fixed number of streams per GPU and returns them in turn, even those already in use. Work queued
    on a stream while another thread captures a graph on it would become part of that graph and not be computed.

    A thread keeps its stream, because torch allocates a workspace of 8 or 32 MB for each pair of stream and thread that
    multiplies matrices.
    """

    def __init__(self, device: torch.device) -> None:
        streams: dict[int, torch.cuda.Stream] = {}
        for _ in range(_NUM_STREAMS):
            stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            streams[stream.cuda_stream] = stream
        first, *others = streams.values()
        self.for_recording = first
        # If there are more threads than streams, some share a stream and wait for each other.
        self._others = deque(others or [first])
        self._lock = threading.Lock()
        self._own = threading.local()

    def of_this_thread(self) -> torch.cuda.Stream:
        own: torch.cuda.Stream | None = getattr(self._own, "stream", None)
        if own is None:
            with self._lock:
                own = self._others[0]
                self._others.rotate(-1)
            self._own.stream = own
        return own


_pools: dict[int, StreamPool] = {}
_pools_lock = threading.Lock()


def cuda_streams(device: torch.device) -> StreamPool:
    """Return the stream pool of the GPU ``device``."""
    index = device.index or 0  # "cuda" is the first GPU
    with _pools_lock:
        if index not in _pools:
            _pools[index] = StreamPool(torch.device("cuda", index))
        return _pools[index]


def set_device(device: torch.device) -> None:
    """Make ``device`` current for this thread, with the thread's own stream instead of the default one."""
    torch.cuda.set_device(device.index or 0)  # TensorRT builds for the current GPU of the thread
    torch.cuda.set_stream(cuda_streams(device).of_this_thread())


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
