"""CUDA streams for concurrent lines, one for each thread. On a CPU, these functions do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from studio.model.device_kind import DeviceKind
from studio.model.torch_device import cuda_streams


@contextmanager
def cuda_stream(device: torch.device | str) -> Iterator[None]:
    """Run the work of this thread on a separate stream, so that it does not wait for work of other threads.

    Single lines use it too, because TensorRT synchronises at every call on the default stream.
    """
    device = torch.device(device)
    if not DeviceKind(device.type).traits.has_streams:
        yield
        return
    with torch.cuda.stream(cuda_streams(device).of_this_thread()):
        yield


def synchronize(device: torch.device | str) -> None:
    """Wait until the work queued by this thread is complete, so that any stream may read its results."""
    device = torch.device(device)
    if DeviceKind(device.type).traits.has_streams:
        torch.cuda.current_stream(device).synchronize()
