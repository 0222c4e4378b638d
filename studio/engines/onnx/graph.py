"""What the streaming stages want of a graph, whichever library runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch


class Graph(Protocol):
    """A graph that is ready to run. Several threads may run it at once."""

    @property
    def device(self) -> torch.device: ...

    @property
    def engine(self) -> str:
        """In words: which library, on what."""
        ...

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        """Writes ``outputs``, which the caller has made in the right size; those not asked for are forgotten.

        All tensors are contiguous, on ``device``, and of the types of their ports. What is written may be read as
        soon as work queued behind this on the device's current stream runs.
        Raises ``OutOfMemory``.
        """
        ...
