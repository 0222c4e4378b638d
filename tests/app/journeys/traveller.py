"""Starts the real program on a virtual screen, and takes journeys through it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virtual_screen import VirtualScreen

_FOLDER = Path(__file__).resolve().parent
_ROOT = _FOLDER.parents[2]
_PLAYER = _FOLDER / "take_journey.py"
_JOURNEY_SECONDS = 1500


@dataclass(frozen=True)
class Traveller:
    """Takes journeys on one screen. All of them have the same home folder."""

    screen: VirtualScreen

    @property
    def folder(self) -> Path:
        return self.screen.folder

    def start(self, journey: str, pictures: Path | None = None) -> subprocess.Popen[str]:
        """Start the program and a journey in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, str(_PLAYER), journey, str(self.folder), *([str(pictures)] if pictures else [])],
            cwd=_ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def take(self, journey: str, pictures: Path | None = None) -> dict[str, Any]:
        """Take a journey to its end. Return its report."""
        process = self.start(journey, pictures)
        try:
            output, _ = process.communicate(timeout=_JOURNEY_SECONDS)
        finally:
            process.kill()
        if process.returncode != 0:
            raise AssertionError(f"The journey {journey} failed; the screen is in {self.folder}.\n{output}")
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text("utf-8"))
        return report

    @property
    def _environment(self) -> dict[str, str]:
        """A user who has never started the program."""
        environment = {
            name: value
            for name, value in self.screen.environment.items()
            if not name.startswith(("TIMBRE_", "XDG_")) and name not in ("LANG", "LANGUAGE", "LC_ALL")
        }
        return {
            **environment,
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(map(str, (_ROOT, _FOLDER, _ROOT / "tests" / "fakes"))),
        }


def require_effort(report: dict[str, Any], *, keys: int, clicks: int, drags: int = 0) -> None:
    """Fail if a journey needed more keys, clicks or drags; README.md lists the numbers."""
    effort = report["effort"]
    assert (effort["keys"] <= keys, effort["clicks"] <= clicks, effort["drags"] <= drags) == (True, True, True), effort
