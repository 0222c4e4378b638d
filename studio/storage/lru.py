"""Cache folders that evict the least recently used entries. The time of use is an entry's modification time."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path


def mark_used(entry: Path) -> None:
    """Make ``entry`` the most recently used one. A folder that cannot be written keeps its order."""
    with contextlib.suppress(OSError):
        os.utime(entry, ns=(time.time_ns(), time.time_ns()))  # finer than the clock of file systems


def delete_least_used(entries: Iterable[Path], *, max_bytes: float = math.inf, max_entries: float = math.inf) -> None:
    """Delete the least recently used of ``entries`` (files or folders) until the rest is within both limits.

    Entries that cannot be deleted, or that another process deletes, are skipped.
    """
    found = []
    for entry in entries:
        with contextlib.suppress(OSError):
            found.append((entry.stat().st_mtime_ns, num_bytes(entry), entry))
    found.sort()
    excess_bytes, excess_entries = sum(size for _, size, _ in found) - max_bytes, len(found) - max_entries
    for _, size, entry in found:
        if excess_bytes <= 0 and excess_entries <= 0:
            return
        with contextlib.suppress(OSError):  # for example still mapped, on Windows
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            excess_bytes, excess_entries = excess_bytes - size, excess_entries - 1


def num_bytes(entry: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    if entry.is_dir():
        return sum(path.stat().st_size for path in entry.rglob("*") if path.is_file())
    return entry.stat().st_size
