"""Which GPUs and drivers the builds of PyTorch and the other libraries support. No torch: diagnostics import this."""

from __future__ import annotations

from studio.engines.stage import Device
from studio.messages import Message, message

TURING = (7, 5)
_MAXWELL = (5, 0)
_INDEX = "https://download.pytorch.org/whl/"
_BRANCH_OF_CUDA_13 = 580


def has_cuda_13(driver: str) -> bool:
    """Return whether programs for CUDA 13 run with ``driver`` (its full version); an unknown one is taken for new."""
    branch = driver.partition(".")[0]
    return not branch.isdigit() or int(branch) >= _BRANCH_OF_CUDA_13


def newer_driver(torch_version: str, driver: str) -> Message | None:
    """Return what to do if ``driver`` is too old for the installed torch, else None."""
    if "+cu13" not in torch_version or has_cuda_13(driver):
        return None
    return message(
        "Update the NVIDIA driver to 580 or later, or install PyTorch for CUDA 12.6 from {index}.",
        index=f"{_INDEX}cu126",
    )


def fitting_build(gpu: Device) -> Message:
    """Return how to install a torch with kernels for ``gpu``.

    PyTorch's support matrix, releases 2.11 to 2.14: the builds for CUDA 12.6 are for compute capability 5.0 to 9.0, those
    for CUDA 13 from 7.5 on.
    """
    assert gpu.compute_capability is not None
    if gpu.compute_capability < _MAXWELL:
        return message("No supported version of PyTorch has kernels for this GPU.")
    if gpu.compute_capability < TURING:
        return message("Install PyTorch for CUDA 12.6 from {index}.", index=f"{_INDEX}cu126")
    if has_cuda_13(gpu.driver):
        return message("Install PyTorch for CUDA 13.0 from {index}.", index=f"{_INDEX}cu130")
    return message(
        "Update the NVIDIA driver to 580 or later, then install PyTorch for CUDA 13.0 from {index}.",
        index=f"{_INDEX}cu130",
    )
