"""Description of the machine, and the peak memory of this process."""

from __future__ import annotations

import datetime
import os
import platform
import sys

import psutil
import torch

from studio.system.processor import cpu_name


def describe_machine() -> dict[str, str]:
    """Return processor, cores, memory, versions, date and load average."""
    memory = psutil.virtual_memory().total / 2**30
    described = {
        "processor": cpu_name(),
        "cores": f"{psutil.cpu_count(logical=False) or '?'} physical, {psutil.cpu_count()} logical",
        "memory": f"{memory:.0f} GiB",
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "threads": str(torch.get_num_threads()),
        "date": datetime.date.today().isoformat(),
    }
    if hasattr(os, "getloadavg"):
        described["load average before"] = f"{os.getloadavg()[0]:.1f}"
    if torch.cuda.is_available():
        described["gpu"] = torch.cuda.get_device_name()
    return described


def peak_memory_bytes() -> int:
    """Return the peak memory of this process in bytes, including mapped files."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
