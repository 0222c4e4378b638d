"""Which build of torch fits the machine.

The plain Linux wheels on PyPI are CUDA builds that bring gigabytes of NVIDIA libraries; those for
macOS and Windows are CPU builds. Other indexes, and pip's own configuration, may offer something
else. So pip is asked first what it would install here, and only when that does not fit is one of
PyTorch's own indexes tried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from set_up.machine import Machine, NvidiaDriver

_PYTORCH_INDEX = "https://download.pytorch.org/whl/"
# The oldest driver each CUDA generation runs with (NVIDIA, CUDA compatibility, "minor version compatibility").
_OLDEST_DRIVER_OF_CUDA = {12: 525, 13: 580}
_INDEX_OF_CUDA = {12: f"{_PYTORCH_INDEX}cu126", 13: f"{_PYTORCH_INDEX}cu130"}


@dataclass(frozen=True)
class TorchSource:
    """One place to take torch from: pip's configured indexes (``index_url`` None) or PyTorch's own."""

    index_url: str | None
    build: str  # as it is told: "the CPU build"


CPU_INDEX = TorchSource(f"{_PYTORCH_INDEX}cpu", "the CPU build")


def cuda_generation(packages: Mapping[str, str]) -> int | None:
    """The CUDA generation of what pip would install (name -> version); None for a CPU build."""
    for name, version in packages.items():
        if name in ("cuda-toolkit", "nvidia-cuda-runtime"):
            return int(version.split(".")[0])
        if found := re.fullmatch(r"nvidia-.*-cu(\d\d)", name):
            return int(found[1])
    if found := re.search(r"\+cu(\d\d)", packages["torch"]):
        return int(found[1])
    return None


def torch_sources(machine: Machine, offered_cuda: int | None) -> tuple[TorchSource, ...]:
    """Where to take torch from, best first; the next is for when the one before cannot be reached."""
    offered = TorchSource(None, f"the CUDA {offered_cuda} build" if offered_cuda else "the CPU build")
    if machine.system == "Darwin":
        return (offered,)
    if machine.driver is None:
        return (offered,) if offered_cuda is None else (CPU_INDEX, offered)
    if offered_cuda is not None and _drives(machine.driver, offered_cuda):
        return (offered,)
    cuda_indexes = tuple(
        TorchSource(url, f"the CUDA {cuda} build")
        for cuda, url in sorted(_INDEX_OF_CUDA.items(), reverse=True)
        if _drives(machine.driver, cuda)
    )
    if offered_cuda is None:
        return (*cuda_indexes, offered)
    return (*cuda_indexes, CPU_INDEX, offered)


def _drives(driver: NvidiaDriver, cuda: int) -> bool:
    return driver.major is None or driver.major >= _OLDEST_DRIVER_OF_CUDA.get(cuda, 0)
