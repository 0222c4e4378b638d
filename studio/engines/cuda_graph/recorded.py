"""A computation in memory that never moves: on a card recorded once and replayed, elsewhere run as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

_NUM_WARM_UPS = 2  # libraries choose and allocate at their first calls, which must not be recorded
# Language model and flow are recorded by threads of their own, and a card records one thing at a time.
_RECORDING = threading.Lock()


class Recorded:
    """``compute`` reads and writes tensors made beforehand; ``state`` are those it changes that it also reads.

    They are put back after warming up, so that recording may happen in the middle of an utterance; also where it
    fails for want of memory, as others may go on with them.
    """

    def __init__(self, compute: Callable[[], None], device: torch.device, state: Sequence[torch.Tensor] = ()) -> None:
        self._compute = compute
        self._device = device
        self._state = tuple(state)
        self._graph: torch.cuda.CUDAGraph | None = None

    @torch.inference_mode()
    def run(self) -> None:
        if self._device.type != "cuda":
            self._compute()
            return
        if self._graph is None:
            with _RECORDING:
                self._graph = self._record()
        self._graph.replay()

    def _record(self) -> torch.cuda.CUDAGraph:
        kept = [tensor.clone() for tensor in self._state]
        current = torch.cuda.current_stream(self._device)
        aside = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        aside.wait_stream(current)
        try:
            with torch.cuda.stream(aside):
                for _ in range(_NUM_WARM_UPS):
                    self._compute()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):
                self._compute()
        finally:
            current.wait_stream(aside)
            for tensor, before in zip(self._state, kept, strict=True):
                tensor.copy_(before)
        return graph


class StreamOrder:
    """Memory that threads use one after the other: each may have a stream of its own on the card."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._done: torch.cuda.Event | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """What is queued within waits for what was queued in the turn before."""
        if self._device.type != "cuda":
            yield
            return
        stream = torch.cuda.current_stream(self._device)
        if self._done is not None:
            stream.wait_event(self._done)
        try:
            yield
        finally:
            self._done = stream.record_event()
