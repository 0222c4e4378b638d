"""Facts about the computer, found without starting any program."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from set_up.failure import SetUpFailed


@dataclass(frozen=True)
class NvidiaDriver:
    """``major`` is None if the version cannot be read from a file (Windows, WSL)."""

    major: int | None


@dataclass(frozen=True)
class Machine:
    system: str  # Linux, Darwin, Windows
    architecture: str
    python: str  # 3.11
    is_root: bool
    is_debian: bool
    driver: NvidiaDriver | None

    @staticmethod
    def this() -> Machine:
        return Machine(
            system=platform.system(),
            architecture=platform.machine(),
            python=f"{sys.version_info.major}.{sys.version_info.minor}",
            is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
            is_debian=Path("/etc/debian_version").exists(),
            driver=find_nvidia_driver(platform.system()),
        )


def find_nvidia_driver(system: str, root: Path = Path("/")) -> NvidiaDriver | None:
    """Return the driver of an NVIDIA GPU that this process can use.

    Only reads files: ``nvidia-smi`` can take seconds, and this runs at every start.
    """
    if system == "Linux":
        version_file = root / "proc/driver/nvidia/version"
        # A container sees the version file of its host, but device files only if it may use the GPU.
        if version_file.exists() and (root / "dev/nvidiactl").exists():
            found = re.search(r"\b(\d{3,4})\.\d+", version_file.read_text(encoding="utf-8", errors="replace"))
            return NvidiaDriver(int(found[1]) if found else None)
        if (root / "usr/lib/wsl/lib/libcuda.so.1").exists():
            return NvidiaDriver(None)
    if system == "Windows" and (Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32/nvcuda.dll").exists():
        return NvidiaDriver(None)
    return None


def require_supported(machine: Machine) -> None:
    """Raise ``SetUpFailed`` on machines without packages of torch, before anything is downloaded."""
    if machine.system == "Darwin" and machine.architecture == "x86_64":
        raise SetUpFailed(
            "PyTorch 2.6 and later do not support Intel Macs.",
            remedy="On a Mac with Apple silicon, use an arm64 Python, not one under Rosetta.",
        )
    if sys.maxsize < 2**32:
        raise SetUpFailed(
            "This is a 32-bit Python; PyTorch needs a 64-bit one.",
            remedy="Install the 64-bit Python from https://www.python.org/downloads/ and start again.",
        )
