"""Which build of torch fits the machine.

PyPI's wheels for Linux are CUDA builds that bring gigabytes of NVIDIA libraries; those for macOS
and Windows are CPU builds. PyTorch's own indexes have the others.

Decided: PyTorch's index is tried where PyPI's build does not fit, and pip's configured index is
always the last resort. Because: it may be a company's mirror that has the right build anyway, and a
CUDA build also runs without a GPU. Instead of: asking pip beforehand what it would install, for
which it downloads those gigabytes wherever an index does not serve metadata apart from its wheels.
"""

from __future__ import annotations

from dataclasses import dataclass

from set_up.machine import Machine, NvidiaDriver

_PYTORCH_INDEX = "https://download.pytorch.org/whl/"
# The newest torch below 2.14 is 2.13, whose wheels on PyPI are made with CUDA 13.
CUDA_ON_PYPI = 13
# The oldest driver each CUDA generation runs with (NVIDIA, CUDA compatibility, "minor version compatibility").
_OLDEST_DRIVER_OF_CUDA = {12: 525, 13: 580}
_INDEX_OF_CUDA = {12: f"{_PYTORCH_INDEX}cu126", 13: f"{_PYTORCH_INDEX}cu130"}
_CPU_BYTES = 2_500_000_000  # with all companions; an environment for tests takes 1.7 GB
_CUDA_BYTES = 7_000_000_000


@dataclass(frozen=True)
class TorchSource:
    """One place to take torch from: pip's configured indexes (``index_url`` None) or one of PyTorch's own."""

    index_url: str | None
    build: str  # as it is told: "the CPU build"
    needed_bytes: int


CPU_INDEX = TorchSource(f"{_PYTORCH_INDEX}cpu", "the CPU build", _CPU_BYTES)
_WHATEVER_THERE_IS = TorchSource(None, "the build of the configured package index", _CPU_BYTES)


def torch_sources(machine: Machine) -> tuple[TorchSource, ...]:
    """Where to take torch from, best first; the next is for when the one before cannot be reached."""
    is_linux = machine.system == "Linux"
    if machine.driver is None:
        return (CPU_INDEX, _WHATEVER_THERE_IS) if is_linux else (_WHATEVER_THERE_IS,)
    if is_linux and drives(machine.driver, CUDA_ON_PYPI):
        return (TorchSource(None, f"the CUDA {CUDA_ON_PYPI} build", _CUDA_BYTES),)
    cuda_indexes = tuple(
        TorchSource(url, f"the CUDA {cuda} build", _CUDA_BYTES)
        for cuda, url in sorted(_INDEX_OF_CUDA.items(), reverse=True)
        if drives(machine.driver, cuda)
    )
    # On Windows what there is is the CPU build.
    return (*cuda_indexes, CPU_INDEX, _WHATEVER_THERE_IS) if is_linux else (*cuda_indexes, _WHATEVER_THERE_IS)


def drives(driver: NvidiaDriver, cuda: int) -> bool:
    """Whether programs of that CUDA generation run with it; one of unknown version is taken for new."""
    return driver.major is None or driver.major >= _OLDEST_DRIVER_OF_CUDA[cuda]
