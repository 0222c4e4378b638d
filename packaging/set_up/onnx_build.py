"""The build of ONNX Runtime for the machine: the CPU and GPU packages overwrite each other.

Decision: if a GPU is usable, the GPU package replaces the CPU package in the requirements. Reason: pip would install
both, and an extra cannot remove a requirement. Alternative: replacing it by hand, as the manual describes for pip.
"""

from __future__ import annotations

import re

from set_up.machine import Machine
from set_up.torch_build import CUDA_ON_PYPI, drives

FOR_PROCESSORS = "onnxruntime"
# It uses the CUDA libraries of PyTorch's build of the same generation.
FOR_CARDS = "onnxruntime-gpu"
_MADE_FOR = {("Linux", "x86_64"), ("Windows", "AMD64")}


def onnx_build(machine: Machine) -> str:
    """Return the name of the package."""
    is_made = (machine.system, machine.architecture) in _MADE_FOR
    has_card = machine.driver is not None and drives(machine.driver, CUDA_ON_PYPI)
    return FOR_CARDS if is_made and has_card else FOR_PROCESSORS


def with_build(requirements: list[str], build: str) -> list[str]:
    """Replace ONNX Runtime in ``requirements`` by ``build``."""
    return [re.sub(rf"^{FOR_PROCESSORS}(?![\w-])", build, line) for line in requirements]
