"""Large memory pages."""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from studio.model import huge_pages
from studio.model.huge_pages import added_pages, on_huge_pages

PAGE = 2 << 20
_ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.parametrize(
    ("before", "after", "added"),
    [
        ([], [(0, 3 * PAGE)], [(0, 3 * PAGE)]),
        ([], [(1, 3 * PAGE - 1)], [(PAGE, 2 * PAGE)]),
        ([], [(PAGE, 2 * PAGE - 1)], []),
        ([(0, PAGE)], [(0, PAGE)], []),
        ([(0, PAGE + 1)], [(0, 4 * PAGE)], [(2 * PAGE, 4 * PAGE)]),
        ([(2 * PAGE, 3 * PAGE), (5 * PAGE, 6 * PAGE)], [(0, 4 * PAGE)], [(0, 2 * PAGE), (3 * PAGE, 4 * PAGE)]),
        ([(0, 2 * PAGE)], [(PAGE, 2 * PAGE)], []),
    ],
)
def test_only_whole_added_pages_are_moved(
    before: list[tuple[int, int]], after: list[tuple[int, int]], added: list[tuple[int, int]]
) -> None:
    assert list(added_pages(before, after)) == added


def memory_flags_at(address: int) -> list[str]:
    """Return the kernel's flags of the mapping that contains ``address``."""
    inside = False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        first, *rest = line.split()
        if "-" in first and not first.endswith(":"):
            start, stop = (int(part, 16) for part in first.split("-"))
            inside = start <= address < stop
        elif inside and first == "VmFlags:":
            return rest
    raise AssertionError(address)


@pytest.mark.skipif(
    not _ENABLED.is_file() or "[never]" in _ENABLED.read_text("utf-8"), reason="the system has no large pages"
)
def test_large_pages_are_requested_for_kept_memory_only() -> None:
    """The request is tested, not whether the kernel has free large pages."""
    earlier = mmap.mmap(-1, 8 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with on_huge_pages():
        memory = mmap.mmap(-1, 8 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        kept = np.frombuffer(memory, np.int64)
        kept[:] = np.arange(kept.size)
    for thread in threading.enumerate():
        if thread.name == "huge-pages":
            thread.join(30)
    assert "hg" in memory_flags_at(kept.ctypes.data + kept.nbytes // 2)
    assert "hg" not in memory_flags_at(np.frombuffer(earlier, np.uint8).ctypes.data + 4 * PAGE)
    assert np.array_equal(kept, np.arange(kept.size))


def test_a_kernel_without_the_second_call_causes_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_pages, "_ADVICE_COLLAPSE", 12345)
    buffer = np.zeros(4 << 20, np.uint8)
    start = -(-buffer.ctypes.data // PAGE) * PAGE
    huge_pages._move([(start, start + PAGE)])
    assert not buffer.any()


def test_nothing_is_moved_on_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(huge_pages, "_private_memory", None)
    monkeypatch.setattr(ctypes, "CDLL", None)
    with on_huge_pages():
        pass
