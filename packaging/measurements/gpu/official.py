"""Runs the official side in a process."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from measurements.gpu.json_process import Entry, JsonProcess
from measurements.gpu.material import Material

_SCRIPT = Path(__file__).with_name("official_side.py")
_STARTING_SECONDS = 180.0
_MEASURE_SECONDS = 300.0


@dataclass(frozen=True)
class Whereabouts:
    """Installation of the official implementation.

    ``python`` is an interpreter with its dependencies (such as transformers 4.51.3). ``site`` precedes its packages.
    """

    official: Path
    matcha: Path
    python: str = sys.executable
    site: Path | None = None
    num_threads: int | None = None


class OfficialProcess(JsonProcess):
    """The official implementation with one model in one precision. A context manager. Raises ``ProcessLost``."""

    def __init__(
        self, where: Whereabouts, model: Path, generation: str, material: Material, *, is_half: bool, log: Path
    ) -> None:
        command = [where.python, "-B", str(_SCRIPT), "--official", str(where.official), "--matcha", str(where.matcha)]
        command += ["--model", str(model), "--generation", generation]
        command += ["--speech-tokens", str(material.num_speech_tokens)]
        command += ["--instruction", json.dumps(material.instruction)]
        command += ["--threads", str(where.num_threads)] if where.num_threads else []
        command += ["--fp16"] if is_half else []
        super().__init__(command, log=log, most_seconds=_STARTING_SECONDS, environment=_environment(where))

    def measured(self, measure: str, arguments: dict[str, int]) -> Entry:
        """Return ``seconds`` or ``error``. Raise ``ProcessLost``."""
        order = {"measure": measure, "arguments": arguments}
        return next(self.ask(order, most_seconds=_MEASURE_SECONDS))


def _environment(where: Whereabouts) -> dict[str, str]:
    """Forbid downloads; drop the PYTHONPATH of another Python."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}
    inherited = environment.pop("PYTHONPATH", "") if where.python == sys.executable else ""
    environment.pop("PYTHONPATH", None)
    parts = [*([str(where.site)] if where.site else []), *([inherited] if inherited else [])]
    return environment | ({"PYTHONPATH": os.pathsep.join(parts)} if parts else {})
