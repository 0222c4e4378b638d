"""A computation in memory that never moves: on a card recorded once and replayed, elsewhere run as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import torch

from studio.model.stream_pool import cuda_streams

_NUM_WARM_UPS = 2  # libraries choose and allocate at their first calls, which must not be recorded
# Language model and flow are recorded by threads of their own, and a card records one thing at a time.
_RECORDING = threading.Lock()


class CapturedGraph:
    """A computation in tensors made beforehand; ``state`` are those it changes that it also reads.

    They are put back after warming up, so that reference_io may happen in the middle of an utterance; also where it
    fails for want of memory, as others may go on with them.
    """

    def __init__(self, device: torch.device, state: Sequence[torch.Tensor] = ()) -> None:
        self._device = device
        self._state = tuple(state)
        self._graph: torch.cuda.CUDAGraph | None = None

    @torch.inference_mode()
    def run(self, compute: Callable[[], None]) -> None:
        """``compute`` is the same at every call; it is not kept, so that whose method it is may go at once."""
        if self._device.type != "cuda":
            compute()
            return
        if self._graph is None:
            with _RECORDING:
                self._graph = self._record(compute)
        self._graph.replay()

    def _record(self, compute: Callable[[], None]) -> torch.cuda.CUDAGraph:
        kept = [tensor.clone() for tensor in self._state]
        current = torch.cuda.current_stream(self._device)
        aside = cuda_streams(self._device).for_recording
        aside.wait_stream(current)
        try:
            with torch.cuda.stream(aside):
                for _ in range(_NUM_WARM_UPS):
                    compute()
                return _captured(compute)
        finally:
            current.wait_stream(aside)
            for tensor, before in zip(self._state, kept, strict=True):
                tensor.copy_(before)


def _captured(compute: Callable[[], None]) -> torch.cuda.CUDAGraph:
    """On the current stream, while other threads go on with theirs: ``torch.cuda.graph`` would make the card wait for all."""
    graph = torch.cuda.CUDAGraph()
    # Now, for while something is recorded torch cannot give up what it keeps for later.
    torch.cuda.empty_cache()
    with _workspace_of_its_own():
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            compute()
        except BaseException:
            with suppress(RuntimeError):  # what it failed of is told already
                graph.capture_end()
            raise
        graph.capture_end()
    return graph


@contextmanager
def _workspace_of_its_own() -> Iterator[None]:
    """Where cuBLAS adds up is made while the graph is recorded, in its own memory, and lasts as long as that.

    WORKAROUND for https://github.com/pytorch/pytorch/issues/193402: torch makes one for each handle and stream, and
    streams come round again after 32. Graphs that are replayed side by side would add up in the same place, and the
    end of one would take the place away from another.
    """
    torch._C._cuda_clearCublasWorkspaces()
    try:
        yield
    finally:
        torch._C._cuda_clearCublasWorkspaces()


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

    def finish(self) -> None:
        """Waits until everything that was queued is computed."""
        if self._done is not None:
            self._done.synchronize()
