"""Report of all checks, for the window, the terminal and bug reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import studio
from studio.catalog.machine import probe_machine
from studio.health.checks import (
    Check,
    CheckVerdict,
    check_accelerators,
    check_engines,
    check_folders,
    check_libraries,
    check_media,
    check_memory,
    check_models,
    check_plans,
    check_processor,
    check_program,
    check_python,
    check_recent_errors,
    check_services,
    check_sound_card,
    check_voices,
)
from studio.health.redaction import redact
from studio.messages import printable
from studio.voices.library import VoiceLibrary

_SIGNS = {CheckVerdict.FINE: "ok  ", CheckVerdict.LIMITED: "note", CheckVerdict.BROKEN: "BAD "}
_ABSENT = "-   "
# Subjects in JSON are identifiers, so they keep their value when the displayed text changes.
_JSON_SUBJECTS = {
    "GPU": "graphics card",
    "sound device": "sound card",
    "audio formats": "recordings",
    "built engines": "engine plans",
    "recent errors": "last errors",
}


@dataclass(frozen=True, slots=True)
class HealthReport:
    checks: tuple[Check, ...]

    @property
    def num_limited(self) -> int:
        return sum(check.verdict is CheckVerdict.LIMITED for check in self.checks)

    @property
    def verdict(self) -> str:
        """Return the summary."""
        if not self.can_speak:
            return "Synthesis does not work until the items marked BAD are fixed."
        match self.num_limited:
            case 0:
                return "Everything works."
            case 1:
                return "Synthesis works. One item can be improved."
            case several:
                return f"Synthesis works. {several} items can be improved."

    @property
    def can_speak(self) -> bool:
        return all(check.verdict is not CheckVerdict.BROKEN for check in self.checks)

    def as_text(self) -> str:
        """Return one page in English without the user's name, suitable for bug reports."""
        lines = []
        for check in self.checks:
            sign = _ABSENT if check.is_absent else _SIGNS[check.verdict]
            lines.append(f"{sign}  {check.subject}: {check.finding}")
            if check.remedy.template:
                lines.append(f"      {check.remedy}")
        lines += ["", self.verdict]
        return redact("\n".join(map(printable, lines)))

    def as_json(self) -> dict[str, Any]:
        """Return the report as values for JSON. Keys and subjects are never removed or renamed."""
        checks = [
            {
                "subject": _JSON_SUBJECTS.get(str(check.subject), str(check.subject)),
                "verdict": check.verdict.value,
                "finding": redact(str(check.finding)),
                "remedy": redact(str(check.remedy)),
            }
            for check in self.checks
        ]
        verdict = self.verdict
        return {"can_speak": self.can_speak, "checks": checks, "version": studio.__version__, "verdict": verdict}


def examine(
    require_sound_card: Callable[[], None],
    open_library: Callable[[], VoiceLibrary],
    on_check: Callable[[Check], None] = lambda _check: None,
) -> HealthReport:
    """Run all checks, ordered by importance. Takes seconds, because PyTorch is loaded in another process.

    ``on_check`` receives each result as soon as it is known.
    """
    checks = []
    for check in _checks(require_sound_card, open_library):
        checks.append(check)
        on_check(check)
    return HealthReport(tuple(checks))


def _checks(require_sound_card: Callable[[], None], open_library: Callable[[], VoiceLibrary]) -> Iterator[Check]:
    yield check_program()
    yield check_python()
    machine = probe_machine()
    yield from check_engines(machine)
    yield check_libraries()
    yield check_accelerators()
    yield from check_services()
    yield check_processor(machine)
    yield check_memory(machine)
    yield check_sound_card(require_sound_card)
    yield check_media()
    yield from check_models(machine)
    yield check_plans()
    yield check_voices(open_library)
    yield from check_folders()
    yield check_recent_errors()
