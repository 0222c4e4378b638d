"""A computation in memory that never moves: on a card recorded once and replayed, elsewhere run as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

_NUM_WARM_UPS = 2  # libraries choose and allocate at their first calls, which must not be recorded


class Recorded:
    """``compute`` reads and writes tensors made beforehand; ``state`` are those it changes that it also reads.

    They are put back after warming up, so that recording may happen in the middle of an utterance.
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
            self._graph = self._record()
        self._graph.replay()

    def _record(self) -> torch.cuda.CUDAGraph:
        kept = [tensor.clone() for tensor in self._state]
        current = torch.cuda.current_stream(self._device)
        warm_up = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        warm_up.wait_stream(current)
        with torch.cuda.stream(warm_up):
            for _ in range(_NUM_WARM_UPS):
                self._compute()
        current.wait_stream(warm_up)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._compute()
        for tensor, before in zip(self._state, kept, strict=True):
            tensor.copy_(before)
        return graph
