"""Find the installed TensorRT package that supports the GPU.

Decision: use only what ``tensorrt`` and ``tensorrt_rtx_bindings`` have in common, and pass the module as a value.
Reason: other code must not depend on which of the two it is.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from studio.engines.gpu_support import TURING
from studio.messages import Message, wording

_log = logging.getLogger(__name__)
# Module, and whether it is TensorRT for RTX, which is first: it is small and builds plans in seconds.
_PACKAGES = (("tensorrt_rtx_bindings", True), ("tensorrt", False))
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
        return f"{'TensorRT for RTX' if self.is_rtx else 'TensorRT'} {self.version}"


def find_library(compute_capability: tuple[int, int] | None) -> Library | Message:
    """Return the library for a GPU of ``compute_capability`` (for any GPU if None), or why it is unavailable."""
    reasons = []
    for module_name, is_rtx in _PACKAGES:
        if importlib.util.find_spec(module_name) is None:
            continue
        if is_rtx and compute_capability is not None and not suits_rtx(compute_capability):
            major, minor = compute_capability
            reasons.append(wording("TensorRT for RTX does not support compute capability {c}", c=f"{major}.{minor}"))
            continue
        loaded = _load(module_name)
        if isinstance(loaded, Message):
            reasons.append(loaded)
            continue
        found = _checked(loaded, module_name, is_rtx=is_rtx)
        if isinstance(found, Library):
            return found
        reasons.append(found)
    return reasons[0] if reasons else wording("{library} is not installed", library="TensorRT")


def suits_rtx(compute_capability: tuple[int, int]) -> bool:
    """Return whether it is a desktop GPU since Turing; data-centre GPUs (8.0, 9.0, 10.x) are not supported."""
    return compute_capability in {TURING, (8, 6), (8, 9)} or compute_capability[0] >= 12


def _load(module_name: str) -> ModuleType | Message:
    try:
        return importlib.import_module(module_name)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        # Releases locate their libraries in different ways and raise different exceptions.
        _log.warning("%s cannot be loaded: %s", module_name, error)
        return wording("{library} is installed, but its libraries cannot be loaded", library=module_name)


def _checked(module: ModuleType, module_name: str, *, is_rtx: bool) -> Library | Message:
    """Return the library, or why it is unusable. A package without its shared libraries may be importable but empty."""
    version = getattr(module, "__version__", None)
    if not isinstance(version, str) or not hasattr(module, "Builder") or not hasattr(module, "OnnxParser"):
        return wording("{library} is installed, but its libraries cannot be loaded", library=module_name)
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not is_rtx and numbers < _OLDEST:
        return wording("TensorRT {version} is too old; {oldest} is needed", version=version, oldest="10.13")
    return Library(module, module_name, version, is_rtx)
