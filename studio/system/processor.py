"""What the processor of this machine calls itself."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_name() -> str:
    """The processor's own name where the system tells it, else its family."""
    known = Path("/proc/cpuinfo")
    if known.is_file():
        for line in known.read_text("utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
