"""Which build of ONNX Runtime fits the machine: two packages with one name to import, which overwrite each other.

Decided: where a card can be used, the one for cards takes the place of the one the project names, before pip sees it.
Because: pip would install both, and no extra can take a requirement away. Instead of: an exchange by hand, which the
README has for whoever uses pip alone.
"""

from __future__ import annotations

import re

from set_up.machine import Machine
from set_up.torch_build import CUDA_ON_PYPI, drives

FOR_PROCESSORS = "onnxruntime"
# Its CUDA libraries are those that PyTorch's build of the same generation brings.
FOR_CARDS = "onnxruntime-gpu"
_MADE_FOR = {("Linux", "x86_64"), ("Windows", "AMD64")}


def onnx_build(machine: Machine) -> str:
    """The name of the package."""
    is_made = (machine.system, machine.architecture) in _MADE_FOR
    has_card = machine.driver is not None and drives(machine.driver, CUDA_ON_PYPI)
    return FOR_CARDS if is_made and has_card else FOR_PROCESSORS


def with_build(requirements: list[str], build: str) -> list[str]:
    """The same, of ONNX Runtime that build."""
    return [re.sub(rf"^{FOR_PROCESSORS}(?![\w-])", build, line) for line in requirements]
