"""All checks, and their report: for the window, for a terminal, and for whoever mends the program."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.catalog.machine import look_at_machine
from studio.health.check import Check, Verdict
from studio.health.machine_checks import (
    check_engines,
    check_media,
    check_memory,
    check_processor,
    check_program,
    check_python,
    check_sound_card,
)
from studio.health.state_checks import check_folders, check_models, check_recent_errors, check_voices
from studio.voices.library import VoiceLibrary

_SIGNS = {Verdict.FINE: "ok  ", Verdict.LIMITED: "note", Verdict.BROKEN: "BAD "}


@dataclass(frozen=True, slots=True)
class HealthReport:
    checks: tuple[Check, ...]

    @property
    def can_speak(self) -> bool:
        return all(check.verdict is not Verdict.BROKEN for check in self.checks)

    def as_text(self) -> str:
        """One page, in English: also for bug reports. Folders are told without the name of their owner."""
        lines = []
        for check in self.checks:
            lines.append(f"{_SIGNS[check.verdict]}  {check.subject}: {check.finding}")
            if check.remedy.template:
                lines.append(f"      {check.remedy}")
        lines += ["", "Speaking will work." if self.can_speak else "Speaking will not work."]
        return without_home("\n".join(lines))

    def as_json(self) -> dict[str, Any]:
        """Keys are only ever added."""
        checks = [
            {
                "subject": str(check.subject),
                "verdict": check.verdict.value,
                "finding": without_home(str(check.finding)),
                "remedy": without_home(str(check.remedy)),
            }
            for check in self.checks
        ]
        return {"can_speak": self.can_speak, "checks": checks}


def examine(require_sound_card: Callable[[], None], open_library: Callable[[], VoiceLibrary]) -> HealthReport:
    """Everything the program needs, in the order in which it is worth mending. Takes seconds: engines are loaded."""
    machine = look_at_machine()
    return HealthReport(
        (
            check_program(),
            check_python(),
            *check_engines(machine),
            check_processor(machine),
            check_memory(machine),
            check_sound_card(require_sound_card),
            check_media(),
            *check_models(),
            check_voices(open_library),
            *check_folders(),
            check_recent_errors(),
        )
    )


def without_home(text: str) -> str:
    """The user's folder, which most often is called after them, becomes ``~``."""
    home = str(Path.home())
    return text.replace(home + os.sep, f"~{os.sep}") if len(home) > 1 else text
