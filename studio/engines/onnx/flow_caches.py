"""What the flow's graphs leave behind, call by call, in memory that the graphs write themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import torch

from studio.engines.onnx.flow_shapes import CachePort

# Of the blank first frame of every growing cache; exp(-1e4) is nothing in every type, and fits float16.
HIDDEN = -1e4
_BLANK_FRAMES = 1


class GraphCaches:
    """The caches of one graph at one solver step.

    A growing cache is a buffer with room at its end: ``inputs`` shows its filled part, ``outputs`` the frames
    behind it, so what a call leaves behind is where the next one looks for it. Tails are two buffers each, which
    change places.
    """

    def __init__(self, ports: Sequence[CachePort], cache_type: torch.dtype, device: torch.device) -> None:
        self._ports = tuple(ports)
        self._cache_type = cache_type
        self._device = device
        # Frames by clock, without the blank.
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
        """A copy, to go on from here."""
        copy = GraphCaches(self._ports, self._cache_type, self._device)
        copy.restore(self.tensors())
        return copy

    def tensors(self) -> dict[str, torch.Tensor]:
        """What is remembered, by name; views."""
        growing = {
            port.name: self._growing[port.name][_BLANK_FRAMES : self._stop(port)]
            for port in self._ports
            if port.is_growing
        }
        return growing | self._tails

    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Takes copies of what another's ``tensors`` gave. Raises ``ValueError`` where they do not fit."""
        frames = dict.fromkeys(self.num_frames, 0)
        for port in self._ports:
            tensor = tensors.get(port.name)
            dtype = self._cache_type if port.is_growing else torch.float32
            shape = None if tensor is None else tuple(tensor.shape[1:] if port.is_growing else tensor.shape)
            if tensor is None or shape != port.shape or tensor.dtype is not dtype:
                found = "missing" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
                raise ValueError(f"{port.name} of the stored state is {found}, not {dtype} {port.shape}")
            if port.is_growing and frames[port.clock] not in (0, len(tensor)):
                raise ValueError(f"{port.name} of the stored state has {len(tensor)} frames, others have more or fewer")
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
        """What ``make_room`` would allocate."""
        return sum(
            prod(port.shape) * self._cache_type.itemsize * (room - len(self._growing[port.name]))
            for port, room in self._wanted(more)
        )

    def make_room(self, more: Mapping[str, int]) -> None:
        """Room for ``more`` frames of each clock; buffers grow by copying."""
        for port, room in self._wanted(more):
            old = self._growing[port.name]
            buffer = torch.empty(room, *port.shape, dtype=self._cache_type, device=self._device)
            buffer[: self._stop(port)] = old[: self._stop(port)]
            self._growing[port.name] = buffer

    def _wanted(self, more: Mapping[str, int]) -> list[tuple[CachePort, int]]:
        """The growing caches that are too small, and the frames they should hold."""
        return [
            (port, self._stop(port) + more[port.clock])
            for port in self._ports
            if port.is_growing and self._stop(port) + more[port.clock] > len(self._growing[port.name])
        ]

    def inputs(self) -> dict[str, torch.Tensor]:
        """By port; valid until the next ``advance``."""
        filled = {port.name: self._growing[port.name][: self._stop(port)] for port in self._ports if port.is_growing}
        return filled | self._tails

    def outputs(self, own: Mapping[str, int]) -> dict[str, torch.Tensor]:
        """By port, for a call of ``own`` frames of each clock; there must be room."""
        written = {}
        for port in self._ports:
            if port.is_growing:
                start = self._stop(port)
                written[port.new_name] = self._growing[port.name][start : start + own[port.clock]]
            else:
                written[port.new_name] = self._next_tails[port.name]
        return written

    def advance(self, own: Mapping[str, int]) -> None:
        """The call is done: what it wrote belongs to the past."""
        for clock in self.num_frames:
            self.num_frames[clock] += own[clock]
        self._tails, self._next_tails = self._next_tails, self._tails

    def score_bias(self, clock: str, num_frames: int, block_frames: int | None) -> torch.Tensor:
        """(num_frames, cached + num_frames): hides the blank, and later blocks where a call holds several.

        ``block_frames`` of None: every frame sees every other.
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
