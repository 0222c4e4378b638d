"""State after recording a CUDA graph, also if it fails. Fakes replace torch.cuda, so no GPU is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph


class FakeGpu:
    """Records the calls it receives. If ``end_fails``, ending the capture fails, as after an error during recording."""

    device = torch.device("cuda")

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.end_fails = False


class Stream:
    cuda_stream = 7

    def wait_stream(self, other: Stream) -> None: ...


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    gpu = FakeGpu()

    class Graph:
        def capture_begin(self, *, pool: object, capture_error_mode: str) -> None:
            assert pool is None
            gpu.calls.append(f"record, {capture_error_mode}")

        def capture_end(self) -> None:
            gpu.calls.append("end")
            if gpu.end_fails:
                raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

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
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: gpu.calls.append("empty cache"))
    forget = "_cuda_clearCublasWorkspaces"
    monkeypatch.setattr(torch._C, forget, lambda: gpu.calls.append("forget workspaces"), raising=False)
    return gpu


@pytest.mark.parametrize("failing_call", [1, 2, 3])
@pytest.mark.parametrize("end_fails", [False, True])
def test_failed_recording_restores_the_shared_memory(gpu: FakeGpu, failing_call: int, end_fails: bool) -> None:
    state = torch.zeros(3)
    calls: list[int] = []
    gpu.end_fails = end_fails

    def compute() -> None:
        state.add_(1.0)
        calls.append(len(calls) + 1)
        if calls[-1] == failing_call:
            raise torch.OutOfMemoryError("CUDA out of memory")

    recorded = CapturedGraph(gpu.device, (state,))
    with pytest.raises(torch.OutOfMemoryError):
        recorded.run(compute)
    assert state.tolist() == [0.0, 0.0, 0.0]
    assert gpu.calls.count("end") == (failing_call == 3), "a capture that has begun is ended"


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
