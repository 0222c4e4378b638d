"""GPU memory whose addresses are reserved before memory is mapped to them.

A range of addresses is reserved once, and pages of physical memory are mapped into it as it is needed. Addresses stay
the same while data grows, so recorded graphs remain valid and nothing is copied. A page can be mapped at several
addresses at once.

Decision: call the driver's virtual memory management through ctypes, as ``studio/model/cuda_kernel.py`` does. Torch's
expandable segments use it as well, but can neither map a page twice nor keep the addresses of a growing tensor.
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import prod

import torch
import torch.nn.functional as F

from studio.model.cuda_kernel import DriverContext
from studio.model.torch_device import RECORDING, count_other_memory

_log = logging.getLogger(__name__)
# Constants of cuda.h.
_ATTRIBUTE_SUPPORTED = 102
_PINNED = 1
_ON_DEVICE = 1
_READ_AND_WRITE = 3
_MINIMUM = 0
# Limit for waiting for a recording, because the thread that records may wait for a lock that the waiting thread holds.
_RECORDING_SECONDS = 1.0


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """``CUmemAllocationProp``; the fields that are not named must be zero."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("win32_meta_data", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class VirtualMemory:
    """The virtual memory management of one GPU. Thread-safe.

    Addresses are freed only while the GPU is idle and no graph is being recorded, because freeing them waits for the GPU,
    which would end the recording. Pages of a line in use are replaced after its own work only.
    """

    def __init__(self, device: torch.device) -> None:
        """Raise ``RuntimeError``, ``OSError`` or ``AttributeError`` if the GPU or its driver does not support it."""
        self.device = device
        self._gpu = DriverContext(device)
        self._location = _Location(_ON_DEVICE, self._gpu.index)
        self._properties = _Properties(type=_PINNED, location=self._location)
        self._unused: deque[tuple[int, int, list[tuple[int, int]], list[Page | None]]] = deque()
        is_supported, granularity = ctypes.c_int(), ctypes.c_size_t()
        self._call("cuDeviceGetAttribute", ctypes.byref(is_supported), _ATTRIBUTE_SUPPORTED, self._gpu.index)
        if not is_supported.value:
            raise RuntimeError("the GPU does not support it")
        properties = ctypes.byref(self._properties)
        self._call("cuMemGetAllocationGranularity", ctypes.byref(granularity), properties, ctypes.c_int(_MINIMUM))
        self.granularity = granularity.value

    def allocate_page(self, num_rows: int, num_bytes: int) -> Page | None:
        """Return memory of ``num_bytes``, a multiple of the granularity, for each row; None if there is too little.

        Its values are undefined.
        """
        self._free_unused()
        handles = self._create(num_rows, num_bytes)
        if handles is None and RECORDING.acquire(timeout=_RECORDING_SECONDS):
            try:
                torch.cuda.empty_cache()  # torch may keep memory that it does not use
            finally:
                RECORDING.release()
            handles = self._create(num_rows, num_bytes)
        return None if handles is None else Page(self, handles, num_bytes)

    def _create(self, num_rows: int, num_bytes: int) -> list[int] | None:
        handles: list[int] = []
        try:
            for _ in range(num_rows):
                handle = ctypes.c_uint64()
                properties = ctypes.byref(self._properties)
                self._call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(num_bytes), properties, _NO_FLAGS)
                handles.append(handle.value)
        except RuntimeError as error:
            _log.info("no more memory for lines: %s", str(error))
            self._release(handles)
            return None
        count_other_memory(self._gpu.index, num_rows * num_bytes)
        return handles

    def release(self, handles: Sequence[int], num_bytes: int) -> None:
        self._release(handles)
        count_other_memory(self._gpu.index, -len(handles) * num_bytes)

    def _release(self, handles: Sequence[int]) -> None:
        for handle in handles:
            self._call("cuMemRelease", ctypes.c_uint64(handle))

    def reserve(self, num_bytes: int) -> int:
        """Reserve ``num_bytes`` of addresses, and return the first one."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t(num_bytes)
        any_address = ctypes.c_uint64()
        self._call("cuMemAddressReserve", ctypes.byref(address), size, ctypes.c_size_t(), any_address, _NO_FLAGS)
        return address.value

    def map(self, address: int, num_bytes: int, handle: int) -> None:
        """Map memory at ``address``. It must not be used before ``allow_access``."""
        size = ctypes.c_size_t(num_bytes)
        self._call("cuMemMap", ctypes.c_uint64(address), size, ctypes.c_size_t(), ctypes.c_uint64(handle), _NO_FLAGS)

    def allow_access(self, address: int, num_bytes: int) -> None:
        access = ctypes.byref(_Access(self._location, _READ_AND_WRITE))
        self._call("cuMemSetAccess", ctypes.c_uint64(address), ctypes.c_size_t(num_bytes), access, ctypes.c_size_t(1))

    def unmap(self, address: int, num_bytes: int) -> None:
        self._call("cuMemUnmap", ctypes.c_uint64(address), ctypes.c_size_t(num_bytes))

    def free(self, address: int, num_bytes: int, mapped: list[tuple[int, int]], pages: list[Page | None]) -> None:
        """Free addresses as soon as possible. ``mapped`` are the mappings there (address, size), and ``pages`` their memory."""
        self._unused.append((address, num_bytes, mapped, pages))
        self._free_unused()

    def _free_unused(self) -> None:
        # Garbage collection may call this on the thread that is recording.
        if not self._unused or not RECORDING.acquire(blocking=False):
            return
        try:
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            while self._unused:
                address, num_bytes, mapped, _pages = self._unused.popleft()
                for start, size in mapped:
                    self.unmap(start, size)
                self._call("cuMemAddressFree", ctypes.c_uint64(address), ctypes.c_size_t(num_bytes))
        except RuntimeError as error:  # the GPU is lost, and its memory with it
            _log.warning("memory of the GPU cannot be freed: %s", str(error))
        finally:
            RECORDING.release()

    def wait(self) -> None:
        """Wait for the work that this thread has queued."""
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()

    def _call(self, name: str, *arguments: object) -> None:
        with self._gpu.current():
            self._gpu.check(getattr(self._gpu.driver, name)(*arguments))


_NO_FLAGS = ctypes.c_uint64(0)


class Page:
    """Physical memory for one page in each row of a range, freed with this object.

    ``owner`` is kept for the lifetime of the page.
    """

    def __init__(self, memory: VirtualMemory, handles: Sequence[int], num_bytes: int) -> None:
        self.handles = handles
        self.num_bytes = num_bytes
        self.owner: object = None
        self._memory = memory

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self._memory.release(self.handles, self.num_bytes)


class AddressRange:
    """Addresses of ``num_rows`` rows of ``num_pages`` pages each, at first without memory. Not thread-safe.

    Tensors are views of the addresses and must not be used after this object is freed.

    Attributes:
        pages: The mapped pages, the same in each row.
    """

    def __init__(self, memory: VirtualMemory, num_rows: int, num_pages: int, page_bytes: int) -> None:
        self.pages: list[Page | None] = [None] * num_pages
        self.page_bytes = page_bytes
        self._memory = memory
        self._num_rows = num_rows
        self._row_bytes = num_pages * page_bytes
        self._address = memory.reserve(num_rows * self._row_bytes)

    def __del__(self) -> None:
        if sys.is_finalizing() or not hasattr(self, "_address"):
            return
        mapped = [(self._address_of(row, index), self.page_bytes) for index in self._mapped() for row in self._rows]
        self._memory.free(self._address, self._num_rows * self._row_bytes, mapped, self.pages)

    @property
    def words(self) -> torch.Tensor:
        """All memory, (rows, integers of 8 bytes)."""
        return self.tensor((self._num_rows, self._row_bytes // 8), torch.int64)

    def tensor(self, shape: Sequence[int], dtype: torch.dtype, strides: Sequence[int] | None = None) -> torch.Tensor:
        """Return a tensor at the first address; by default contiguous. ``strides`` are in elements."""
        storage = torch._C._construct_storage_from_data_pointer(
            self._address, self._memory.device, self._num_rows * self._row_bytes
        )
        if strides is None:
            strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return torch.empty(0, dtype=dtype, device=self._memory.device).set_(storage, 0, shape, strides)

    def assign(self, pages: Mapping[int, Page | None]) -> None:
        """Map ``pages`` by index; None removes a page. The GPU must not be using any page that is replaced.

        After an error, there are no pages at these indexes.
        """
        for index in pages:
            self._remove(index)
        mapped: list[tuple[int, int]] = []
        try:
            for index, page in pages.items():
                for row, handle in zip(self._rows, () if page is None else page.handles, strict=page is not None):
                    self._memory.map(self._address_of(row, index), self.page_bytes, handle)
                    mapped.append((row, index))
            for first, count in _runs(sorted(index for index, page in pages.items() if page is not None)):
                for row in self._rows:
                    self._memory.allow_access(self._address_of(row, first), count * self.page_bytes)
        except RuntimeError:
            for row, index in mapped:
                self._memory.unmap(self._address_of(row, index), self.page_bytes)
            raise
        for index, page in pages.items():
            self.pages[index] = page

    def _remove(self, index: int) -> None:
        if self.pages[index] is not None:
            for row in self._rows:
                self._memory.unmap(self._address_of(row, index), self.page_bytes)
            self.pages[index] = None

    def _mapped(self) -> list[int]:
        return [index for index, page in enumerate(self.pages) if page is not None]

    @property
    def _rows(self) -> range:
        return range(self._num_rows)

    def _address_of(self, row: int, index: int) -> int:
        return self._address + row * self._row_bytes + index * self.page_bytes


def _runs(indexes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first index and the length of each run of consecutive indexes."""
    first = 0
    for stop in range(1, len(indexes) + 1):
        if stop == len(indexes) or indexes[stop] != indexes[stop - 1] + 1:
            yield indexes[first], stop - first
            first = stop


_opening = threading.Lock()


def virtual_memory(device: torch.device) -> VirtualMemory | None:
    """Return the virtual memory management of ``device``, or None if it does not work there."""
    found = _opened(device)
    return None if isinstance(found, str) else found


def why_no_virtual_memory(device: torch.device) -> str:
    """Return why virtual memory management does not work on ``device``, in the words of the driver; empty if it does."""
    found = _opened(device)
    return found if isinstance(found, str) else ""


def _opened(device: torch.device) -> VirtualMemory | str:
    if device.type != "cuda":
        return "not a GPU"
    with _opening:
        try:
            return _checked(device.index or 0)
        except _TooLittleMemory:  # at present
            return "not enough memory"


class _TooLittleMemory(Exception):
    """There is too little free memory for the check, which is repeated at the next use."""


@cache
def _checked(index: int) -> VirtualMemory | str:
    try:
        memory = VirtualMemory(torch.device("cuda", index))
        problem = "" if keeps_values(memory) else "it maps other memory"
    except (AttributeError, OSError, RuntimeError) as error:
        problem = (str(error).splitlines() or [""])[0]
    if problem:
        _log.warning("virtual memory management does not work on the GPU: %s", problem)
        return problem
    return memory


@torch.inference_mode()
def keeps_values(memory: VirtualMemory) -> bool:
    """Return whether a tensor keeps its values as its memory grows, and attention over it is correct.

    As in a line, a page that is mapped at two addresses is replaced at one of them, and the new page is written to.
    """
    num_rows, heads, size = 2, 2, 64
    frames_per_page = memory.granularity // (2 * heads * size * 4)
    tested = AddressRange(memory, num_rows, 3, memory.granularity)
    pages = [memory.allocate_page(num_rows, memory.granularity) for _ in range(2)]
    if not all(pages):
        raise _TooLittleMemory
    first, second = pages
    tested.assign({0: first, 1: first})
    words = tested.words
    length = memory.granularity // 8
    words[:, :length] = 5
    is_mapped_twice = bool((words[:, length : 2 * length] == 5).all())
    memory.wait()
    tested.assign({1: second, 2: first})
    words[:, length : 2 * length] = 7
    keeps = bool((words[:, :length] == 5).all()) and bool((words[:, 2 * length :] == 5).all())
    # Keys and values of the first row: (2, 1, heads, frames, size).
    shape = (2, 1, heads, 2 * frames_per_page, size)
    states = tested.tensor(shape, torch.float32, (heads * size, 0, size, 2 * heads * size, 1))
    states.copy_(torch.sin(torch.arange(states.numel(), dtype=torch.float32, device=memory.device)).view(shape))
    queries = states[0][:, :, :16].contiguous()
    mask = torch.zeros(1, 1, 16, shape[3], device=memory.device)
    found = F.scaled_dot_product_attention(queries, states[0], states[1], attn_mask=mask)
    keys, values = states.contiguous()
    wanted = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    is_right = torch.allclose(found, wanted, atol=1e-5)
    memory.wait()
    return is_mapped_twice and keeps and is_right
