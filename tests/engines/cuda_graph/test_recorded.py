"""What recording leaves behind when it fails. There is no card here: torch's words for one are spoken by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from studio.engines.cuda_graph.recorded import Recorded


class Stream:
    def wait_stream(self, other: Stream) -> None: ...


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    @contextmanager
    def within(*_: object, **__: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(torch.cuda, "Stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: Stream())
    monkeypatch.setattr(torch.cuda, "stream", within)
    monkeypatch.setattr(torch.cuda, "graph", within)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    return torch.device("cuda")


@pytest.mark.parametrize("failing_call", [1, 2, 3])
def test_who_shares_the_memory_finds_it_as_it_was_where_recording_fails(card: torch.device, failing_call: int) -> None:
    state = torch.zeros(3)
    calls: list[int] = []

    def compute() -> None:
        state.add_(1.0)
        calls.append(len(calls) + 1)
        if calls[-1] == failing_call:
            raise torch.OutOfMemoryError("CUDA out of memory")

    recorded = Recorded(compute, card, (state,))
    with pytest.raises(torch.OutOfMemoryError):
        recorded.run()
    assert state.tolist() == [0.0, 0.0, 0.0]
