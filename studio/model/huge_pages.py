"""Moves weights to memory pages of 2 MB on Linux.

The step for a token reads all weights of a language model once. With pages of 4 KB, the processor looks up an address
every 64 cache lines, and prefetching stops at the end of each page.
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

_log = logging.getLogger(__name__)
_PAGE = 2 << 20
_ADVICE_HUGE_PAGE, _ADVICE_COLLAPSE = 14, 25  # the numbers of MADV_HUGEPAGE and, since Linux 6.1, MADV_COLLAPSE
_Range = tuple[int, int]


@contextmanager
def on_huge_pages() -> Iterator[None]:
    """Move memory that is allocated in this block and kept after it to large pages.

    This takes about 0.3 s for 400 MB, in the background; meanwhile, the memory can be used. Decision: ``madvise`` after the
    allocation. Reason: the libraries that allocate the memory do not request large pages. Alternative: the environment
    variable GLIBC_TUNABLES, which must be set before a process starts and affects all of its memory.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    before = _private_memory()
    yield
    ranges = list(added_pages(before, _private_memory()))
    if ranges:
        threading.Thread(target=_move, args=(ranges,), name="huge-pages", daemon=True).start()


def added_pages(before: Iterable[_Range], after: Iterable[_Range]) -> Iterator[_Range]:
    """Yield the whole pages in ``after`` that are not in ``before``. Both are sorted by address."""
    known = list(before)
    for start, stop in after:
        free = start
        for used_start, used_stop in known:
            if used_start < stop and free < used_stop:
                yield from _whole_pages(free, used_start)
                free = used_stop
        yield from _whole_pages(free, stop)


def _whole_pages(start: int, stop: int) -> Sequence[_Range]:
    first, last = -(-start // _PAGE) * _PAGE, stop // _PAGE * _PAGE
    return [(first, last)] if first < last else []


def _private_memory() -> list[_Range]:
    """Return the writable memory of this process that is not mapped from a file."""
    ranges = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            addresses, access, _, _, inode, *name = line.split(maxsplit=5)
            if access == "rw-p" and inode == "0" and (not name or name[0].strip() == "[heap]"):
                start, stop = addresses.split("-")
                ranges.append((int(start, 16), int(stop, 16)))
    return ranges


def _move(ranges: Sequence[_Range]) -> None:
    advise: Callable[..., int] = ctypes.CDLL(None, use_errno=True).madvise
    for start, stop in ranges:
        # Older kernels reject the second call; they move the pages later, in the background.
        for advice in (_ADVICE_HUGE_PAGE, _ADVICE_COLLAPSE):
            failed = advise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), ctypes.c_int(advice)) != 0
            if failed:
                _log.debug("advice %d for %d MB: error %d", advice, (stop - start) >> 20, ctypes.get_errno())
