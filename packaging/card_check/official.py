"""The official side as a process: started where its checkouts are named, asked measure by measure."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from card_check.material import Material

_SCRIPT = Path(__file__).with_name("official_side.py")
_LAST_WORDS = 2000
_ENDING_SECONDS = 20.0


class OfficialFailed(Exception):
    """The official side cannot be asked; the message is the last it said."""


@dataclass(frozen=True)
class Whereabouts:
    """``python``: one that has what the package needs (transformers 4.51.3 above all). ``site`` is put before what that has."""

    official: Path
    matcha: Path
    python: str = sys.executable
    site: Path | None = None
    num_threads: int | None = None


class OfficialProcess:
    """Of one model folder in one precision. A context: leaving it ends the process."""

    def __init__(
        self, where: Whereabouts, model: Path, generation: str, material: Material, *, is_half: bool, log: Path
    ) -> None:
        """Raises ``OfficialFailed`` where it does not come up."""
        command = [where.python, "-B", str(_SCRIPT), "--official", str(where.official), "--matcha", str(where.matcha)]
        command += ["--model", str(model), "--generation", generation]
        command += ["--speech-tokens", str(material.num_speech_tokens)]
        command += ["--instruction", json.dumps(material.instruction)]
        command += ["--threads", str(where.num_threads)] if where.num_threads else []
        command += ["--fp16"] if is_half else []
        self._log = log
        with log.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=_environment(where),
            )
        try:
            self._answer()
        except OfficialFailed:
            self.close()
            raise

    def ask(self, measure: str, arguments: dict[str, int]) -> dict[str, Any]:
        """The answer: ``seconds``, or ``error``. Raises ``OfficialFailed`` where the process is gone."""
        with contextlib.suppress(OSError):  # that it is gone is found when there is no answer
            pipe = _there(self._process.stdin)
            pipe.write(json.dumps({"measure": measure, "arguments": arguments}) + "\n")
            pipe.flush()
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            _there(self._process.stdin).close()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _there(self._process.stdout).close()

    def _answer(self) -> dict[str, Any]:
        line = _there(self._process.stdout).readline()
        if not line:
            self._process.wait()
            raise OfficialFailed(self._log.read_text("utf-8", errors="replace")[-_LAST_WORDS:].strip())
        answer: dict[str, Any] = json.loads(line)
        return answer


def _environment(where: Whereabouts) -> dict[str, str]:
    """Nothing is fetched; the packages of this program stay out of the way."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}
    if where.site is not None:
        environment["PYTHONPATH"] = os.pathsep.join(_present(str(where.site), environment.get("PYTHONPATH", "")))
    return environment


def _present(*parts: str) -> Iterator[str]:
    return (part for part in parts if part)


def _there(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
