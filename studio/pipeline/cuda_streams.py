"""Lines side by side on a card: each queues its work on a stream of its own, and reads what another has made.

On a processor there are no streams, and nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from studio.model.stream_pool import cuda_streams


@contextmanager
def cuda_stream(device: torch.device | str) -> Iterator[None]:
    """What this thread queues within need not wait for what other threads have queued.

    Also for a line alone: on the stream that is everybody's by default TensorRT waits for the card at every call.
    """
    device = torch.device(device)
    if device.type != "cuda":
        yield
        return
    with torch.cuda.stream(cuda_streams(device).of_this_thread()):
        yield


def synchronize(device: torch.device | str) -> None:
    """Waits until what this thread has queued is computed: from now on any stream may read it."""
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
