"""Name and load of the processor."""

from __future__ import annotations

import platform
from pathlib import Path

import psutil


def cpu_name() -> str:
    """Return the model name of the processor, or its family if the system does not report one."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text("utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def others_kept_busy(num_threads: int | None) -> bool:
    """Return whether other programs used more than half of the processor in the last minute.

    ``num_threads`` is the number of threads of the work that has just ended; None means one for each core.
    """
    num_cores = psutil.cpu_count() or 1
    return bool(psutil.getloadavg()[0] - min(num_threads or num_cores, num_cores) > num_cores / 2)


def is_machine_busy() -> bool:
    """Return whether the load average of the last minute exceeds the number of cores."""
    return bool(psutil.getloadavg()[0] > (psutil.cpu_count() or 1))
