"""Caches of the flow's graphs, in buffers that the graphs write directly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import torch

from studio.engines.onnx.flow_shapes import CachePort

# Bias that masks a frame: exp(-1e4) is zero in every type, and -1e4 fits in float16.
HIDDEN = -1e4
_BLANK_FRAMES = 1


class GraphCaches:
    """The caches of one graph at one solver step.

    A growing cache is a buffer with spare capacity: ``inputs`` is a view of its filled part, ``outputs`` of the frames
    after it, so an update is already in place for the next call. Each tail has two buffers, which are swapped.
    """

    def __init__(self, ports: Sequence[CachePort], cache_type: torch.dtype, device: torch.device) -> None:
        self._ports = tuple(ports)
        self._cache_type = cache_type
        self._device = device
        # Number of frames on each clock, without the blank.
        self.num_frames = {port.clock: 0 for port in ports if port.is_growing}
        self._growing = {
            port.name: torch.zeros(_BLANK_FRAMES, *port.shape, dtype=cache_type, device=device)
            for port in ports
            if port.is_growing
        }
        self._tails = {port.name: torch.zeros(port.shape, device=device) for port in ports if not port.is_growing}
        self._next_tails = {name: torch.empty_like(tail) for name, tail in self._tails.items()}

    @property
    def num_bytes(self) -> int:
        tensors = (*self._growing.values(), *self._tails.values())
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def fork(self) -> GraphCaches:
        """Return an independent copy."""
        copy = GraphCaches(self._ports, self._cache_type, self._device)
        copy.restore(self.tensors())
        return copy

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return views of the state by port name."""
        growing = {
            port.name: self._growing[port.name][_BLANK_FRAMES : self._stop(port)]
            for port in self._ports
            if port.is_growing
        }
        return growing | self._tails

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copy the state that ``tensors`` returned. Raises ``ValueError`` if names, shapes or types do not match."""
        frames = dict.fromkeys(self.num_frames, 0)
        for port in self._ports:
            tensor = tensors.get(port.name)
            dtype = self._cache_type if port.is_growing else torch.float32
            shape = None if tensor is None else tuple(tensor.shape[1:] if port.is_growing else tensor.shape)
            if tensor is None or shape != port.shape or tensor.dtype is not dtype:
                found = "missing" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
                raise ValueError(f"{port.name} of the stored state is {found}, not {dtype} {port.shape}")
            if port.is_growing and frames[port.clock] not in (0, len(tensor)):
                raise ValueError(f"{port.name} of the stored state has {len(tensor)} frames, unlike the other ports")
            if port.is_growing:
                frames[port.clock] = len(tensor)
        self.num_frames = frames
        for port in self._ports:
            if port.is_growing:
                blank = torch.zeros(_BLANK_FRAMES, *port.shape, dtype=self._cache_type, device=self._device)
                self._growing[port.name] = torch.cat([blank, tensors[port.name].to(self._device)])
            else:
                self._tails[port.name].copy_(tensors[port.name])

    def missing_bytes(self, more: Mapping[str, int]) -> int:
        """Return the bytes that ``make_room`` would allocate."""
        return sum(
            prod(port.shape) * self._cache_type.itemsize * (room - len(self._growing[port.name]))
            for port, room in self._wanted(more)
        )

    def make_room(self, more: Mapping[str, int]) -> None:
        """Grow the buffers, by copying, to hold ``more`` frames on each clock."""
        for port, room in self._wanted(more):
            old = self._growing[port.name]
            buffer = torch.empty(room, *port.shape, dtype=self._cache_type, device=self._device)
            buffer[: self._stop(port)] = old[: self._stop(port)]
            self._growing[port.name] = buffer

    def _wanted(self, more: Mapping[str, int]) -> list[tuple[CachePort, int]]:
        """Return the caches that are too small, and the frames they must hold."""
        return [
            (port, self._stop(port) + more[port.clock])
            for port in self._ports
            if port.is_growing and self._stop(port) + more[port.clock] > len(self._growing[port.name])
        ]

    def inputs(self) -> dict[str, torch.Tensor]:
        """Return the graph's inputs by port, valid until the next ``advance``."""
        filled = {port.name: self._growing[port.name][: self._stop(port)] for port in self._ports if port.is_growing}
        return filled | self._tails

    def outputs(self, own: Mapping[str, int]) -> dict[str, torch.Tensor]:
        """Return the outputs by port for a call with ``own`` frames on each clock; call ``make_room`` first."""
        written = {}
        for port in self._ports:
            if port.is_growing:
                start = self._stop(port)
                written[port.new_name] = self._growing[port.name][start : start + own[port.clock]]
            else:
                written[port.new_name] = self._next_tails[port.name]
        return written

    def advance(self, own: Mapping[str, int]) -> None:
        """Make the frames that the call wrote part of the cache."""
        for clock in self.num_frames:
            self.num_frames[clock] += own[clock]
        self._tails, self._next_tails = self._next_tails, self._tails

    def score_bias(self, clock: str, num_frames: int, block_frames: int | None) -> torch.Tensor:
        """Return the bias (num_frames, cached + num_frames), which masks the blank and, for each block, later blocks.

        ``block_frames`` None: frames attend to all others.
        """
        num_cached = _BLANK_FRAMES + self.num_frames[clock]
        bias = torch.zeros(num_frames, num_cached + num_frames, device=self._device)
        bias[:, :_BLANK_FRAMES] = HIDDEN
        if block_frames is not None and num_frames > block_frames:
            block = torch.arange(num_frames, device=self._device) // block_frames
            bias[:, num_cached:].masked_fill_(block[None, :] > block[:, None], HIDDEN)
        return bias

    def _stop(self, port: CachePort) -> int:
        return _BLANK_FRAMES + self.num_frames[port.clock]
