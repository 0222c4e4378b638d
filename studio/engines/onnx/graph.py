"""The interface between the streaming stages and a graph runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch


class Graph(Protocol):
    """A graph that is ready to run; thread-safe."""

    @property
    def device(self) -> torch.device: ...

    @property
    def engine(self) -> str:
        """Display name: library, version and device."""
        ...

    def run(self, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]) -> None:
        """Compute into ``outputs``, which the caller allocates; outputs that are not listed are discarded.

        All tensors are contiguous, on ``device``, and match the types of their ports. Work queued later on the device's
        current stream can use the results. Raises ``OutOfMemory``.
        """
        ...
