"""The processor cores that this process may use."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

_SYSTEM = Path("/sys")
_QUERY_SECONDS = 5.0


def num_cores(system: Path = _SYSTEM) -> int:
    """Return the number of physical cores that this process may use; at least 1.

    An affinity, such as that of ``taskset``, and the quota of a container reduce it.
    """
    return _within_quota(_count_cores(_usable_cpus(), system), system)


def num_performance_cores(system: Path = _SYSTEM) -> int:
    """Return how many of these cores are of the fastest kind; ``num_cores`` if they are equal or the system does not tell."""
    cores = num_cores(system)
    if sys.platform == "darwin":
        return min(cores, _apple_performance_cores() or cores)
    fast = _usable_cpus() & _read_list(system / "devices" / "cpu_core" / "cpus")
    return _within_quota(_count_cores(fast, system), system) if fast else cores


def _usable_cpus() -> set[int]:
    """Return the logical processors that this process may use; empty if the system does not tell."""
    return os.sched_getaffinity(0) if sys.platform == "linux" else set()


def _count_cores(cpus: Iterable[int], system: Path) -> int:
    """Return the number of cores of logical processors, of which two may share a core."""
    topology = system / "devices" / "system" / "cpu"
    try:
        siblings = {(topology / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text("ascii") for cpu in cpus}
    except OSError:
        siblings = set()
    return len(siblings) or psutil.cpu_count(logical=False) or psutil.cpu_count() or 1


def _within_quota(cores: int, system: Path) -> int:
    try:
        quota, period = (system / "fs" / "cgroup" / "cpu.max").read_text("ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError, ZeroDivisionError):  # "max" is no quota
        return cores


def _read_list(path: Path) -> set[int]:
    """Return the numbers in a file such as ``0-7,16``, or none if it cannot be read."""
    try:
        ranges = [part.split("-") for part in path.read_text("ascii").strip().split(",")]
        return {number for limits in ranges for number in range(int(limits[0]), int(limits[-1]) + 1)}
    except (OSError, ValueError):
        return set()


def _apple_performance_cores() -> int:
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "hw.perflevel0.physicalcpu"],
            capture_output=True,
            text=True,
            timeout=_QUERY_SECONDS,
            check=True,
        )
        return int(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0
