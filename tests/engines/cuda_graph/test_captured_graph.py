"""State after recording a CUDA graph, also if it fails. Fakes replace torch.cuda, so no GPU is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph
from studio.engines.machine import empty_cache

POOL = (0, 1)


class FakeGpu:
    """Records the calls it receives. If ``end_fails``, ending the capture fails, as after an error during recording.

    As in torch, memory is then allocated for the capture until ``_cuda_endAllocateToPool`` is called, and
    ``empty_cache`` fails.
    """

    device = torch.device("cuda")

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.end_fails = False
        self.is_allocating = False

    def end_allocation(self, device: int, pool: tuple[int, int]) -> None:
        assert pool == POOL
        if not self.is_allocating:
            raise RuntimeError("endAllocatePool: not currently recording to mempool_id")
        self.is_allocating = False

    def empty_cache(self) -> None:
        self.calls.append("empty cache")
        if self.is_allocating:
            raise RuntimeError("captures_underway.empty() INTERNAL ASSERT FAILED")


class Stream:
    cuda_stream = 7

    def wait_stream(self, other: Stream) -> None: ...


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    gpu = FakeGpu()

    class Graph:
        def capture_begin(self, *, pool: object, capture_error_mode: str) -> None:
            assert pool == POOL
            gpu.is_allocating = True
            gpu.calls.append(f"record, {capture_error_mode}")

        def capture_end(self) -> None:
            gpu.calls.append("end")
            if gpu.end_fails:
                raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
            gpu.is_allocating = False

        def replay(self) -> None:
            gpu.calls.append("replay")

    @contextmanager
    def within(stream: object) -> Iterator[None]:
        yield

    monkeypatch.setattr("studio.model.torch_device._pools", {})
    monkeypatch.setattr(torch.cuda, "Stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "stream", within)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "empty_cache", gpu.empty_cache)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: POOL)
    monkeypatch.setattr(torch._C, "_cuda_endAllocateToPool", gpu.end_allocation, raising=False)
    forget = "_cuda_clearCublasWorkspaces"
    monkeypatch.setattr(torch._C, forget, lambda: gpu.calls.append("forget workspaces"), raising=False)
    return gpu


@pytest.mark.parametrize("failing_call", [1, 2])
def test_error_before_recording_restores_the_shared_memory(gpu: FakeGpu, failing_call: int) -> None:
    state = torch.zeros(3)
    calls: list[int] = []

    def compute() -> None:
        state.add_(1.0)
        calls.append(len(calls) + 1)
        if calls[-1] == failing_call:
            raise torch.OutOfMemoryError("CUDA out of memory")

    recorded = CapturedGraph(gpu.device, (state,))
    with pytest.raises(torch.OutOfMemoryError):
        recorded.run(compute)
    assert state.tolist() == [0.0, 0.0, 0.0]
    assert "end" not in gpu.calls


@pytest.mark.parametrize("end_fails", [False, True])
@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), None])
def test_failed_recording_runs_without_a_graph(
    gpu: FakeGpu, end_fails: bool, error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    """The result is right, memory can be released, the reason is in the log, and recording is tried again, but rarely."""
    state = torch.zeros(3)
    is_recording_possible = False
    gpu.end_fails = end_fails or error is None

    def compute() -> None:
        if gpu.is_allocating and error is not None and not is_recording_possible:
            raise error
        state.add_(1.0)

    recorded = CapturedGraph(gpu.device, (state,))
    for count in range(1, 9):
        recorded.run(compute)
        assert state.tolist() == [count] * 3
        assert not gpu.is_allocating
    assert gpu.calls.count("record, thread_local") == 4, "in the runs 1, 2, 4, and 8"
    assert "replay" not in gpu.calls
    assert "without a graph" in caplog.text
    gpu.end_fails, is_recording_possible = False, True
    for _ in range(8):
        recorded.run(compute)
    assert "replay" in gpu.calls


def test_lost_gpu_is_not_tried_again(gpu: FakeGpu) -> None:
    def compute() -> None:
        if gpu.is_allocating:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal memory access"):
        CapturedGraph(gpu.device).run(compute)


def test_memory_is_not_released_during_a_recording(gpu: FakeGpu) -> None:
    """Torch forbids it, and cuBLAS's memory belongs to the recording. An engine may be installed at any time."""
    is_recording, may_end = threading.Event(), threading.Event()
    num_calls = 0

    def compute() -> None:
        nonlocal num_calls
        num_calls += 1
        if gpu.is_allocating:
            is_recording.set()
            assert may_end.wait(10)

    recording = threading.Thread(target=CapturedGraph(gpu.device).run, args=(compute,))
    recording.start()
    assert is_recording.wait(10)
    num_before = len(gpu.calls)
    releasing = threading.Thread(target=empty_cache, args=("cuda:0",))
    releasing.start()
    releasing.join(0.2)
    assert gpu.calls[num_before:] == [], "it waits"
    may_end.set()
    recording.join(10)
    releasing.join(10)
    assert gpu.calls[-2:] == ["forget workspaces", "empty cache"]


def test_each_graph_has_its_own_cublas_workspace(gpu: FakeGpu) -> None:
    """The workspace is created during the capture and forgotten afterwards; cached memory is released before."""
    recorded = CapturedGraph(gpu.device)
    for _ in range(2):
        recorded.run(lambda: gpu.calls.append("compute"))
    assert gpu.calls == [
        *["compute"] * 2,
        "empty cache",
        "forget workspaces",
        "record, thread_local",
        "compute",
        "end",
        "forget workspaces",
        *["replay"] * 2,
    ]
