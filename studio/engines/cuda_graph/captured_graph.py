"""A computation in fixed memory: recorded once and replayed on a GPU, run directly elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import torch

from studio.engines.library_errors import is_device_lost
from studio.model.torch_device import RECORDING, cuda_streams

_log = logging.getLogger(__name__)
_NUM_WARM_UPS = 2  # the first calls select kernels and allocate memory, which must not be recorded
# Graphs whose capture torch has not ended. Its allocators may still refer to them.
_broken_graphs: list[torch.cuda.CUDAGraph] = []


class CapturedGraph:
    """A computation in preallocated tensors. ``state`` are the tensors that it both reads and changes.

    ``state`` is restored after warming up, so that recording may happen in the middle of an utterance. It is
    also restored if warming up runs out of memory, since other lines continue to use it. If recording fails, for example
    for lack of memory, the computation runs without a graph, and recording is tried again in the second, fourth, eighth
    … run.

    Graphs with the same ``pool`` share the memory of their intermediate results, so they must not run concurrently.
    """

    def __init__(self, device: torch.device, state: Sequence[torch.Tensor] = (), *, pool: Any = None) -> None:
        self._device = device
        self._pool = pool
        self._state = tuple(state)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._num_runs = 0
        self._next_attempt = 1

    @torch.inference_mode()
    def run(self, compute: Callable[[], None]) -> None:
        """Run ``compute``, which must be the same function on every call. No reference to it is kept."""
        if self._device.type != "cuda":
            compute()
            return
        self._num_runs += 1
        if self._graph is None and self._num_runs >= self._next_attempt:
            self._next_attempt *= 2
            with RECORDING:
                self._graph = self._record(compute)
        if self._graph is None:
            compute()
        else:
            self._graph.replay()

    def _record(self, compute: Callable[[], None]) -> torch.cuda.CUDAGraph | None:
        """Return the graph, or None if it cannot be recorded. Raise errors of ``compute`` while warming up."""
        kept = [tensor.clone() for tensor in self._state]
        current = torch.cuda.current_stream(self._device)
        recording_stream = cuda_streams(self._device).for_recording
        recording_stream.wait_stream(current)
        try:
            with torch.cuda.stream(recording_stream):
                for _ in range(_NUM_WARM_UPS):
                    compute()
                return _captured(compute, self._pool or torch.cuda.graph_pool_handle(), self._device)
        finally:
            current.wait_stream(recording_stream)
            for tensor, before in zip(self._state, kept, strict=True):
                tensor.copy_(before)


def shared_pool(device: torch.device) -> Any:
    """Return a new pool of memory for several graphs, or None if ``device`` has no graphs."""
    return torch.cuda.graph_pool_handle() if device.type == "cuda" else None


def _captured(compute: Callable[[], None], pool: Any, device: torch.device) -> torch.cuda.CUDAGraph | None:
    """Record ``compute`` on the current stream while other threads use their streams. Return None if that fails.

    ``torch.cuda.graph`` is not used, because it would synchronise the GPU.
    """
    graph = torch.cuda.CUDAGraph()
    try:
        torch.cuda.empty_cache()  # torch cannot release cached memory during a capture
        with _private_workspace():
            _capture(graph, compute, pool)
    except RuntimeError as error:
        if is_device_lost(error):
            raise
        _end_allocation(graph, pool, device)
        _log.warning("a computation cannot be recorded and runs without a graph: %s", error)
        return None
    return graph


def _capture(graph: torch.cuda.CUDAGraph, compute: Callable[[], None], pool: Any) -> None:
    graph.capture_begin(pool=pool, capture_error_mode="thread_local")
    try:
        compute()
    except BaseException:
        with suppress(RuntimeError):  # the original error is already being raised
            graph.capture_end()
        raise
    graph.capture_end()


def _end_allocation(graph: torch.cuda.CUDAGraph, pool: Any, device: torch.device) -> None:
    """End the allocation of memory for a failed capture.

    WORKAROUND: if an operation has invalidated a capture, ``CUDAGraph::capture_end`` of torch 2.6 to 2.13 does not end it
    for torch's allocator, which then cannot release memory for any computation of the process.
    """
    with suppress(RuntimeError, AttributeError):  # torch has ended it, or has no such function
        torch._C._cuda_endAllocateToPool(device.index or 0, pool)
        _broken_graphs.append(graph)


@contextmanager
def _private_workspace() -> Iterator[None]:
    """Make cuBLAS allocate its workspace during the capture, in the graph's own memory and with its lifetime.

    WORKAROUND for https://github.com/pytorch/pytorch/issues/193402: torch allocates one workspace per handle and stream,
    and streams are reused after 32. Graphs that are replayed concurrently would share a workspace, and freeing one
    graph would free the workspace of another.
    """
    torch._C._cuda_clearCublasWorkspaces()
    try:
        yield
    finally:
        torch._C._cuda_clearCublasWorkspaces()


class StreamOrder:
    """Serialises access to shared memory by threads with different streams."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._done: torch.cuda.Event | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Make work queued inside wait for the work of the previous turn."""
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
        """Wait for all queued work."""
        if self._done is not None:
            self._done.synchronize()
