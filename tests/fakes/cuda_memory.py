"""A fake NVIDIA driver whose virtual memory management maps the memory of the processor, with CUDA's rules.

Pages are files in memory, and mapping them is ``mmap``: tensors at these addresses are real, the same page at two
addresses is the same memory, and access to an address without a page crashes. Linux only.
"""

# ruff: noqa: N802 - the names are NVIDIA's

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from studio.model import cuda_kernel
from studio.model.virtual_memory import VirtualMemory

_INVALID_VALUE, _OUT_OF_MEMORY, _NOT_SUPPORTED = 1, 2, 801
_WORDS = {
    _INVALID_VALUE: b"invalid argument",
    _OUT_OF_MEMORY: b"out of memory",
    _NOT_SUPPORTED: b"operation not supported",
}
_FIXED, _SHARED, _PRIVATE, _ANONYMOUS, _NO_RESERVE = 0x10, 0x01, 0x02, 0x20, 0x4000
_NOTHING, _READ_AND_WRITE = 0, mmap.PROT_READ | mmap.PROT_WRITE


class FakeMemoryDriver:
    """Checks every rule of the CUDA documentation. ``mistakes`` are the violations."""

    def __init__(self, granularity: int, total_bytes: int) -> None:
        self.granularity = granularity
        self.total_bytes = total_bytes
        self.is_supported = True
        self.failing: dict[str, int] = {}  # by name, the number of calls before one fails for lack of memory
        self.mistakes: list[str] = []
        self.reserved: dict[int, int] = {}  # sizes by address
        self.mapped: dict[int, tuple[int, int]] = {}  # size and handle by address
        self.accessible: set[int] = set()  # addresses of mappings
        self.handles: dict[int, tuple[int, int]] = {}  # file and size by handle, also of released ones that are mapped
        self.released: set[int] = set()
        self.num_calls: dict[str, int] = {}
        self._depth = 0
        self._next_handle = 1000
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
        ]
        self._libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    @property
    def used_bytes(self) -> int:
        return sum(size for _, size in self.handles.values())

    def _mistake(self, text: str) -> int:
        self.mistakes.append(text)
        return _INVALID_VALUE

    def _begin(self, name: str) -> bool:
        """Count a call, and return whether it fails."""
        self.num_calls[name] = self.num_calls.get(name, 0) + 1
        if self._depth == 0:
            self.mistakes.append(f"{name} without a context")
        if name not in self.failing:
            return False
        self.failing[name] -= 1
        return self.failing[name] < 0

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> int:
        context._obj.value = 70 + device
        return 0

    def cuCtxPushCurrent_v2(self, context: Any) -> int:
        self._depth += 1
        return 0

    def cuCtxPopCurrent_v2(self, context: Any) -> int:
        self._depth -= 1
        return 0

    def cuGetErrorString(self, result: int, words: Any) -> int:
        words._obj.value = _WORDS[result]
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: int) -> int:
        assert (attribute, device) == (102, 0)
        value._obj.value = self.is_supported
        return 0

    def cuMemGetAllocationGranularity(self, size: Any, properties: Any, option: Any) -> int:
        self._begin("granularity")
        self._check_properties(properties)
        size._obj.value = self.granularity
        return 0

    def _check_properties(self, properties: Any) -> None:
        given = properties._obj
        assert ctypes.sizeof(given) == 32
        assert bytes(given) == bytes(ctypes.c_int(1)) + bytes(4) + bytes(ctypes.c_int(1)) + bytes(20)

    def cuMemCreate(self, handle: Any, size: Any, properties: Any, flags: Any) -> int:
        self._check_properties(properties)
        assert flags.value == 0
        if self._begin("create") or self.used_bytes + size.value > self.total_bytes:
            return _OUT_OF_MEMORY
        if size.value <= 0 or size.value % self.granularity:
            return self._mistake(f"a page of {size.value} bytes")
        file = os.memfd_create("page")
        os.ftruncate(file, size.value)
        os.pwrite(file, b"\xff" * size.value, 0)  # new pages have undefined content; here, NaN
        self._next_handle += 1
        handle._obj.value = self._next_handle
        self.handles[self._next_handle] = file, size.value
        return 0

    def cuMemRelease(self, handle: Any) -> int:
        self._begin("release")
        if handle.value not in self.handles or handle.value in self.released:
            return self._mistake("release of an unknown page")
        if any(held == handle.value for _, held in self.mapped.values()):
            return self._mistake("release of a mapped page")  # allowed by CUDA, but this program never does it
        self.released.add(handle.value)
        self._forget(handle.value)
        return 0

    def _forget(self, handle: int) -> None:
        file, _ = self.handles.pop(handle)
        self.released.discard(handle)
        os.close(file)

    def cuMemAddressReserve(self, address: Any, size: Any, alignment: Any, wish: Any, flags: Any) -> int:
        assert (alignment.value, wish.value, flags.value) == (0, 0, 0)
        if self._begin("reserve"):
            return _OUT_OF_MEMORY
        if size.value <= 0 or size.value % self.granularity:
            return self._mistake(f"a reservation of {size.value} bytes")
        found = self._libc.mmap(None, size.value, _NOTHING, _PRIVATE | _ANONYMOUS | _NO_RESERVE, -1, 0)
        assert found not in (None, 2**64 - 1)
        address._obj.value = found
        self.reserved[found] = size.value
        return 0

    def cuMemAddressFree(self, address: Any, size: Any) -> int:
        self._begin("free")
        if self.reserved.get(address.value) != size.value:
            return self._mistake("free of an unknown reservation")
        if any(address.value <= place < address.value + size.value for place in self.mapped):
            return self._mistake("free of mapped addresses")
        self._libc.munmap(address.value, size.value)
        del self.reserved[address.value]
        return 0

    def cuMemMap(self, address: Any, size: Any, offset: Any, handle: Any, flags: Any) -> int:
        assert flags.value == 0
        if self._begin("map"):
            return _OUT_OF_MEMORY
        place, stop = address.value, address.value + size.value
        if offset.value or size.value % self.granularity:
            return self._mistake("a mapping of a part of a page")
        if not any(start <= place and stop <= start + length for start, length in self.reserved.items()):
            return self._mistake("a mapping outside of the reservations")
        if any(place < start + length and start < stop for start, (length, _) in self.mapped.items()):
            return self._mistake("a mapping over another")
        if handle.value not in self.handles or self.handles[handle.value][1] != size.value:
            return self._mistake("a mapping of an unknown page")
        file, _ = self.handles[handle.value]
        assert self._libc.mmap(place, size.value, _NOTHING, _SHARED | _FIXED, file, 0) == place
        self.mapped[place] = size.value, handle.value
        return 0

    def cuMemSetAccess(self, address: Any, size: Any, access: Any, count: Any) -> int:
        given = access._obj
        assert ctypes.sizeof(given) == 12
        assert bytes(given) == bytes(ctypes.c_int(1)) + bytes(4) + bytes(ctypes.c_int(3))
        assert count.value == 1
        if self._begin("access"):
            return _OUT_OF_MEMORY
        place, stop = address.value, address.value + size.value
        while place < stop:
            if place not in self.mapped:
                return self._mistake("access to addresses without a page")
            self.accessible.add(place)
            place += self.mapped[place][0]
        if place != stop:
            return self._mistake("access to a part of a page")
        assert self._libc.mprotect(address.value, size.value, _READ_AND_WRITE) == 0
        return 0

    def cuMemUnmap(self, address: Any, size: Any) -> int:
        self._begin("unmap")
        if address.value not in self.mapped or self.mapped[address.value][0] != size.value:
            return self._mistake("removal of an unknown mapping")
        flags = _PRIVATE | _ANONYMOUS | _NO_RESERVE | _FIXED
        assert self._libc.mmap(address.value, size.value, _NOTHING, flags, -1, 0) == address.value
        del self.mapped[address.value]
        self.accessible.discard(address.value)
        return 0

    def expect_all_freed(self) -> None:
        assert not self.mistakes
        assert (self.mapped, self.handles, self.reserved) == ({}, {}, {})


@contextmanager
def fake_memory_driver(
    monkeypatch: pytest.MonkeyPatch, *, granularity: int = 1 << 16, total_bytes: int = 1 << 40
) -> Iterator[tuple[FakeMemoryDriver, VirtualMemory]]:
    """Yield a driver, and the management of its memory, whose tensors are on the processor."""
    if not hasattr(os, "memfd_create"):
        pytest.skip("there is no memfd_create")
    driver = FakeMemoryDriver(granularity, total_bytes)
    monkeypatch.setattr(cuda_kernel, "load_driver", lambda: driver)
    yield driver, VirtualMemory(torch.device("cpu"))
    assert not driver.mistakes
