"""Every candidate there is, by stage. A new way to run a stage is a module with ``CANDIDATES`` and a line here."""

from __future__ import annotations

import importlib

from studio.engines.candidate import EngineBackend
from studio.engines.stage import Stage

# Plain float32 comes first and is the reference. The order of the rest is that of a list for people:
# which is fastest is measured.
MODULES = (
    "studio.engines.torch_candidates",
    "studio.engines.onnx.candidates",
    "studio.engines.tensorrt.candidates",
    "studio.engines.cuda_graph.candidates",
    "studio.engines.vllm_lm.candidates",
    "studio.engines.quantized.candidates",
)


def all_candidates(modules: tuple[str, ...] = MODULES) -> tuple[EngineBackend, ...]:
    """Imports the modules, none of which imports its library; ``module:NAME`` takes another list of it."""
    found: list[EngineBackend] = []
    for module in modules:
        name, _, attribute = module.partition(":")
        found += getattr(importlib.import_module(name), attribute or "CANDIDATES")
    names = [(candidate.stage, candidate.name) for candidate in found]
    assert len(set(names)) == len(names), "two candidates of a stage share a name"
    return tuple(found)


def candidates_of(stage: Stage, modules: tuple[str, ...] = MODULES) -> tuple[EngineBackend, ...]:
    return tuple(candidate for candidate in all_candidates(modules) if candidate.stage is stage)
