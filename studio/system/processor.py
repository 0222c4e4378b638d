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


def is_machine_busy() -> bool:
    """Return whether more work is running than the processor has cores, averaged over the last minute."""
    return bool(psutil.getloadavg()[0] > (psutil.cpu_count() or 1))
