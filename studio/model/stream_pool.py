"""The streams of a graphics card, and who has which.

Torch has some for each card and hands them out in turn, whoever has them already. What a thread queues on a stream
that another records would be recorded with it, and computed nowhere.
"""

from __future__ import annotations

import threading
from collections import deque

import torch

# As many as torch has for a card.
_NUM_STREAMS = 32


class StreamPool:
    """One stream is for whoever records, one at a time; each thread may have one of the others, always the same.

    Always the same, because torch keeps a workspace of 8 or 32 MB for every stream on which a thread has multiplied.
    """

    def __init__(self, device: torch.device) -> None:
        streams: dict[int, torch.cuda.Stream] = {}
        for _ in range(_NUM_STREAMS):
            stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            streams[stream.cuda_stream] = stream
        first, *others = streams.values()
        self.for_recording = first
        # More threads than streams share some, and then wait for each other.
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
    """The one pool of a card."""
    index = device.index or 0  # "cuda" is the first card
    with _pools_lock:
        if index not in _pools:
            _pools[index] = StreamPool(torch.device("cuda", index))
        return _pools[index]


def set_device(device: torch.device) -> None:
    """Whatever this thread computes from now on is computed on that card as lines are: not on its default stream."""
    torch.cuda.set_device(device.index or 0)  # TensorRT builds for the card that is the thread's
    torch.cuda.set_stream(cuda_streams(device).of_this_thread())
