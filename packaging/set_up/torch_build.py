"""The build of torch for the machine.

PyPI's wheels for Linux are CUDA builds with gigabytes of NVIDIA libraries; those for macOS and Windows are CPU
builds. PyTorch's own indexes have the others.

Decision: PyTorch's index is used if PyPI's build does not fit, and pip's configured index is the last resort.
Reason: the configured index may be a mirror with the right build, and a CUDA build also runs without a GPU.
Alternative: a dry run of pip, which downloads the wheels if an index does not serve metadata separately.
"""

from __future__ import annotations

from dataclasses import dataclass

from set_up.machine import Machine, NvidiaDriver

_PYTORCH_INDEX = "https://download.pytorch.org/whl/"
# The newest torch below 2.14 is 2.13, whose wheels on PyPI are made with CUDA 13.
CUDA_ON_PYPI = 13
# The oldest driver for each CUDA generation (NVIDIA, CUDA compatibility, "minor version compatibility").
_OLDEST_DRIVER_OF_CUDA = {12: 525, 13: 580}
_INDEX_OF_CUDA = {12: f"{_PYTORCH_INDEX}cu126", 13: f"{_PYTORCH_INDEX}cu130"}
_CPU_BYTES = 2_500_000_000  # with all dependencies; an environment for tests takes 1.7 GB
_CUDA_BYTES = 7_000_000_000


@dataclass(frozen=True)
class TorchSource:
    """A package index for torch: the one configured for pip (``index_url`` None), or one from PyTorch."""

    index_url: str | None
    build: str  # for messages: "the CPU build"
    needed_bytes: int


CPU_INDEX = TorchSource(f"{_PYTORCH_INDEX}cpu", "the CPU build", _CPU_BYTES)
_CONFIGURED_INDEX = TorchSource(None, "the build of the configured package index", _CPU_BYTES)


def torch_sources(machine: Machine) -> tuple[TorchSource, ...]:
    """Return the sources of torch, best first; each is a fallback for the one before."""
    is_linux = machine.system == "Linux"
    if machine.driver is None:
        return (CPU_INDEX, _CONFIGURED_INDEX) if is_linux else (_CONFIGURED_INDEX,)
    if is_linux and drives(machine.driver, CUDA_ON_PYPI):
        return (TorchSource(None, f"the CUDA {CUDA_ON_PYPI} build", _CUDA_BYTES),)
    cuda_indexes = tuple(
        TorchSource(url, f"the CUDA {cuda} build", _CUDA_BYTES)
        for cuda, url in sorted(_INDEX_OF_CUDA.items(), reverse=True)
        if drives(machine.driver, cuda)
    )
    # On Windows the configured index has the CPU build.
    return (*cuda_indexes, CPU_INDEX, _CONFIGURED_INDEX) if is_linux else (*cuda_indexes, _CONFIGURED_INDEX)


def drives(driver: NvidiaDriver, cuda: int) -> bool:
    """Return whether programs of that CUDA generation run with ``driver``; an unknown version is assumed to be new."""
    if cuda == CUDA_ON_PYPI and driver.is_before_turing:
        return False
    return driver.major is None or driver.major >= _OLDEST_DRIVER_OF_CUDA[cuda]


def limitation(machine: Machine) -> str | None:
    """Return what the driver or the GPUs prevent, and what to do; None if nothing is."""
    driver, wanted = machine.driver, _OLDEST_DRIVER_OF_CUDA[CUDA_ON_PYPI]
    if driver is None or drives(driver, CUDA_ON_PYPI):
        return None
    if driver.is_before_turing:
        return (
            "The NVIDIA GPU is older than Turing: PyTorch for CUDA 12 is installed, without TensorRT and ONNX Runtime "
            "for GPUs, which do not support it."
        )
    remedy = f"Update it to {wanted} or later and start again; this needs no other step."
    if not drives(driver, min(_OLDEST_DRIVER_OF_CUDA)):
        return f"The NVIDIA driver {driver.major} is too old for PyTorch, so the CPU is used. {remedy}"
    return (
        f"The NVIDIA driver {driver.major} does not run CUDA {CUDA_ON_PYPI}. PyTorch for CUDA 12 is installed, which does "
        f"not support the RTX 50 series; TensorRT and ONNX Runtime for GPUs are left out. {remedy}"
    )
