"""Find the installed editions of TensorRT: ``tensorrt``, for all GPUs, and TensorRT for RTX, for desktop GPUs.

The second is small, comes from PyPI and compiles kernels when a plan first runs; the first measures kernels while it
builds, and comes from NVIDIA's own index.

Decision: use only what both have in common, and pass the module as a value. Reason: other code must not depend on
which of the two it is.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from studio.engines.gpu_support import TURING, has_cuda_13
from studio.engines.stage import Device
from studio.messages import Message, message

_log = logging.getLogger(__name__)
# Modules, and the extras of this program that install them.
_MODULES = {True: "tensorrt_rtx_bindings", False: "tensorrt"}
_EXTRAS = {True: "gpu", False: "tensorrt"}
# The packages for CUDA 13, which need a driver of branch 580 or later.
_FOR_CUDA_13 = {True: "tensorrt-rtx-cu13-bindings", False: "tensorrt-cu13-bindings"}
# The first version with the building and execution interfaces of version 11.
_OLDEST = (10, 13)


@dataclass(frozen=True)
class Library:
    """One installed package. ``api`` is its module, an extension without type information."""

    api: Any
    name: str
    version: str
    is_rtx: bool

    @property
    def engine(self) -> str:
        return f"{edition(is_rtx=self.is_rtx)} {self.version}"


def edition(*, is_rtx: bool) -> str:
    """Return the name of the library."""
    return "TensorRT for RTX" if is_rtx else "TensorRT"


def find_library(device: Device | None, *, is_rtx: bool) -> Library | Message:
    """Return the library for the GPU ``device`` (for any GPU if None), or why it is unavailable."""
    name, module_name = edition(is_rtx=is_rtx), _MODULES[is_rtx]
    capability = None if device is None else device.compute_capability
    if capability is not None and not (suits_rtx(capability) if is_rtx else capability >= TURING):
        major, minor = capability
        return message("{library} does not support compute capability {c}", library=name, c=f"{major}.{minor}")
    if importlib.util.find_spec(module_name) is None:
        return message(
            "{library} is not installed (pip install 'timbre-studio[{extra}]')", library=name, extra=_EXTRAS[is_rtx]
        )
    if device is not None and not has_cuda_13(device.driver) and _is_installed(_FOR_CUDA_13[is_rtx]):
        return message("the installed {library} needs an NVIDIA driver of version 580 or later", library=name)
    loaded = _load(module_name)
    return loaded if isinstance(loaded, Message) else _checked(loaded, module_name, is_rtx=is_rtx)


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def suits_rtx(compute_capability: tuple[int, int]) -> bool:
    """Return whether it is a desktop GPU since Turing; data-centre GPUs (8.0, 9.0, 10.x) are not supported."""
    return compute_capability in {TURING, (8, 6), (8, 9)} or compute_capability[0] >= 12


def _load(module_name: str) -> ModuleType | Message:
    try:
        return importlib.import_module(module_name)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        # Releases locate their libraries in different ways and raise different exceptions.
        _log.warning("%s cannot be loaded: %s", module_name, error)
        return message("{library} is installed, but its libraries cannot be loaded", library=module_name)


def _checked(module: ModuleType, module_name: str, *, is_rtx: bool) -> Library | Message:
    """Return the library, or why it is unusable. A package without its shared libraries may be importable but empty."""
    version = getattr(module, "__version__", None)
    if not isinstance(version, str) or not hasattr(module, "Builder") or not hasattr(module, "OnnxParser"):
        return message("{library} is installed, but its libraries cannot be loaded", library=module_name)
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not is_rtx and numbers < _OLDEST:
        return message("TensorRT {version} is too old; {oldest} is needed", version=version, oldest="10.13")
    return Library(module, module_name, version, is_rtx)
