"""Facts about the computer, found without starting any program."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from set_up.failure import SetUpFailed

# The first driver branch of each CUDA version (NVIDIA, CUDA release notes, table of driver versions).
_BRANCH_OF_CUDA = ((13010, 590), (13000, 580), (12000, 525), (11000, 450))
# The only branch that runs CUDA 13 and also drives GPUs for which CUDA 13 has no kernels: Maxwell, Pascal, Volta.
_LAST_BRANCH_OF_VOLTA = 580
_TURING = (7, 5)
# PCI identifiers: NVIDIA, display controllers, and the lowest device of Turing. Older GPUs have lower ones.
_NVIDIA, _DISPLAY, _FIRST_TURING_DEVICE = "0x10de", "0x03", 0x1E00
# CUdevice_attribute: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
_COMPUTE_CAPABILITY = (75, 76)


@dataclass(frozen=True)
class NvidiaDriver:
    """The driver of NVIDIA's GPUs.

    Attributes:
        major: The branch, such as 580; under Windows and WSL, the first branch with the same CUDA version. None if
            it is unknown.
        is_before_turing: Whether CUDA 13 runs with this driver, but on none of its GPUs.
    """

    major: int | None
    is_before_turing: bool = False


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


def find_nvidia_driver(
    system: str, root: Path = Path("/"), load: Callable[[str], Any] = ctypes.CDLL
) -> NvidiaDriver | None:
    """Return the driver of an NVIDIA GPU that this process can use.

    Only reads files, or the version in the driver's library (``load`` opens it): ``nvidia-smi`` can take seconds, and
    this runs at every start.
    """
    if system == "Linux":
        version_file = root / "proc/driver/nvidia/version"
        # A container sees the version file of its host, but device files only if it may use the GPU.
        if version_file.exists() and (root / "dev/nvidiactl").exists():
            found = re.search(r"\b(\d{3,4})\.\d+", version_file.read_text(encoding="utf-8", errors="replace"))
            major = int(found[1]) if found else None
            return NvidiaDriver(major, major == _LAST_BRANCH_OF_VOLTA and _are_before_turing(root))
        library = root / "usr/lib/wsl/lib/libcuda.so.1"
        return _driver_of_library(load, str(library)) or NvidiaDriver(None) if library.exists() else None
    return _driver_of_library(load, "nvcuda.dll") if system == "Windows" else None


def _are_before_turing(root: Path) -> bool:
    """Return whether there are NVIDIA GPUs, all of them older than Turing."""
    devices = []
    for folder in (root / "sys/bus/pci/devices").glob("*"):
        vendor, kind, device = ((folder / name).read_text().strip() for name in ("vendor", "class", "device"))
        if vendor == _NVIDIA and kind.startswith(_DISPLAY):
            devices.append(int(device, 16))
    return bool(devices) and max(devices) < _FIRST_TURING_DEVICE


def _driver_of_library(load: Callable[[str], Any], path: str) -> NvidiaDriver | None:
    """Ask the library of CUDA's driver interface; None if it is missing or cannot be loaded."""
    try:
        library = load(path)
    except OSError:
        return None
    version = ctypes.c_int()
    if library.cuDriverGetVersion(ctypes.byref(version)) != 0:  # needs no initialisation
        return NvidiaDriver(None)
    major = next((branch for cuda, branch in _BRANCH_OF_CUDA if version.value >= cuda), 0)
    return NvidiaDriver(major, major == _LAST_BRANCH_OF_VOLTA and _newest_capability(library) < _TURING)


def _newest_capability(library: Any) -> tuple[int, int]:
    """Return the highest compute capability of the GPUs, or Turing's if they do not answer."""
    count = ctypes.c_int()
    if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return _TURING
    found = []
    for index in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        library.cuDeviceGet(ctypes.byref(device), index)
        for value, attribute in zip((major, minor), _COMPUTE_CAPABILITY, strict=True):
            library.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        found.append((major.value, minor.value))
    return max(found)


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
