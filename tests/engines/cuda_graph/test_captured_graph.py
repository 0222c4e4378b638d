"""What a captured graph leaves behind, also after a failure. torch.cuda is replaced by stand-ins; no GPU is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from studio.engines.cuda_graph.captured_graph import CapturedGraph


class Card:
    """What was asked of it, in order. ``end_fails``: as where something went wrong while it was recorded."""

    device = torch.device("cuda")

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.end_fails = False


class Stream:
    cuda_stream = 7

    def wait_stream(self, other: Stream) -> None: ...


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    card = Card()

    class Graph:
        def capture_begin(self, *, capture_error_mode: str) -> None:
            card.asked.append(f"record, {capture_error_mode}")

        def capture_end(self) -> None:
            card.asked.append("end")
            if card.end_fails:
                raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

        def replay(self) -> None:
            card.asked.append("replay")

    @contextmanager
    def within(stream: object) -> Iterator[None]:
        yield

    monkeypatch.setattr("studio.model.torch_device._pools", {})
    monkeypatch.setattr(torch.cuda, "Stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "stream", within)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: card.asked.append("give up what is kept"))
    forget = "_cuda_clearCublasWorkspaces"
    monkeypatch.setattr(torch._C, forget, lambda: card.asked.append("forget workspaces"), raising=False)
    return card


@pytest.mark.parametrize("failing_call", [1, 2, 3])
@pytest.mark.parametrize("end_fails", [False, True])
def test_who_shares_the_memory_finds_it_as_it_was_where_recording_fails(
    card: Card, failing_call: int, end_fails: bool
) -> None:
    state = torch.zeros(3)
    calls: list[int] = []
    card.end_fails = end_fails

    def compute() -> None:
        state.add_(1.0)
        calls.append(len(calls) + 1)
        if calls[-1] == failing_call:
            raise torch.OutOfMemoryError("CUDA out of memory")

    recorded = CapturedGraph(card.device, (state,))
    with pytest.raises(torch.OutOfMemoryError):
        recorded.run(compute)
    assert state.tolist() == [0.0, 0.0, 0.0]
    assert card.asked.count("end") == (failing_call == 3), "what was begun is ended"


def test_no_other_graph_and_no_line_adds_up_where_a_graph_does(card: Card) -> None:
    """Its workspace is made while it is recorded, and known to nobody afterwards; memory is given up before that."""
    recorded = CapturedGraph(card.device)
    for _ in range(2):
        recorded.run(lambda: card.asked.append("compute"))
    assert card.asked == [
        *["compute"] * 2,
        "give up what is kept",
        "forget workspaces",
        "record, thread_local",
        "compute",
        "end",
        "forget workspaces",
        *["replay"] * 2,
    ]
