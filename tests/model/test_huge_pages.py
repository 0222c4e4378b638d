"""Large memory pages."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
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


def large_pages_at(address: int) -> int:
    """Return the bytes in large pages of the mapping that contains ``address``."""
    inside = False
    for line in Path("/proc/self/smaps").read_text("utf-8").splitlines():
        first = line.split(maxsplit=1)[0]
        if "-" in first and not first.endswith(":"):
            start, stop = (int(part, 16) for part in first.split("-"))
            inside = start <= address < stop
        elif inside and first == "AnonHugePages:":
            return int(line.split()[1]) << 10
    raise AssertionError(address)


@pytest.mark.skipif(
    not _ENABLED.is_file() or "[never]" in _ENABLED.read_text("utf-8"), reason="the system has no large pages"
)
def test_kept_memory_is_moved_with_its_content() -> None:
    with on_huge_pages():
        kept = np.arange(32 << 17)  # 32 MB
    for thread in threading.enumerate():
        if thread.name == "huge-pages":
            thread.join(30)
    deadline = time.monotonic() + 30
    while not large_pages_at(kept.ctypes.data + kept.nbytes // 2) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert large_pages_at(kept.ctypes.data + kept.nbytes // 2)
    assert np.array_equal(kept, np.arange(32 << 17))


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
