"""Registry of all engine candidates. To add one, list its module here; the module defines ``CANDIDATES``."""

from __future__ import annotations

import importlib

from studio.engines.candidate import EngineBackend

# The first candidate of a stage is its reference, plain float32. The others are in display order.
MODULES = (
    "studio.engines.torch_candidates",
    "studio.engines.onnx.candidates",
    "studio.engines.tensorrt.candidates",
    "studio.engines.cuda_graph.candidates",
    "studio.engines.vllm_lm.candidates",
    "studio.engines.quantized.candidates",
)


def all_candidates(modules: tuple[str, ...] = MODULES) -> tuple[EngineBackend, ...]:
    """Import the modules (none imports its library) and join their lists; ``module:NAME`` selects another list."""
    found: list[EngineBackend] = []
    for module in modules:
        name, _, attribute = module.partition(":")
        found += getattr(importlib.import_module(name), attribute or "CANDIDATES")
    names = [(candidate.stage, candidate.name) for candidate in found]
    assert len(set(names)) == len(names), "two candidates of a stage share a name"
    return tuple(found)
