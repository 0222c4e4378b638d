"""Report of one error for the developers, with system and versions but without personal data."""

from __future__ import annotations

import platform
from collections.abc import Callable

import studio
from studio.catalog.machine import MachineFacts, probe_machine
from studio.errors import StudioError
from studio.health.checks import in_gibibytes, library_versions
from studio.health.log_file import recent_errors
from studio.health.redaction import without_facts
from studio.system.installation import origin_text

_LIBRARIES = ("torch", "onnxruntime", "onnxruntime-gpu", "PySide6-Essentials", "numpy")


def error_report(error: StudioError, *, look: Callable[[], MachineFacts] = probe_machine) -> str:
    """Return the report in English. Takes up to several seconds, because the GPU driver is queried."""
    machine = look()
    gpu = machine.gpu
    facts = {
        "error": error.code,
        "happened": without_facts(error.problem),
        "remedy": without_facts(error.remedy),
        "program": f"Timbre Studio {studio.__version__}, {origin_text()}",
        "system": platform.platform(),
        "versions": f"Python {platform.python_version()}, {library_versions(_LIBRARIES)}",
        "processor": f"{machine.processor}, {machine.num_cores} cores",
        "memory": f"{in_gibibytes(machine.memory_bytes)}, {in_gibibytes(machine.free_memory_bytes)} free",
        "disk": f"{in_gibibytes(machine.free_disk_bytes)} free where models are kept",
        "card": f"{gpu.name}, {in_gibibytes(gpu.memory_bytes)}, driver {gpu.driver}" if gpu else "no NVIDIA GPU",
        "before": ", ".join(f"{shown.when} {shown.code}" for shown in recent_errors()) or "nothing in the log",
    }
    return "\n".join(f"{name}: {words}" for name, words in facts.items())
