"""Manifests of built engines and records of failed builds, stored as JSON. No torch."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from studio.messages import Message
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

FILE_NAME = "manifest.json"
# Metadata of a field whose key in JSON differs from its name.
_JSON_KEY = "json_key"
# Bump when the meaning of a field changes.
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Verification:
    """The comparison of a candidate with plain float32 on recorded inputs.

    Attributes:
        relative_error: RMS of the difference divided by the RMS of the reference.
        max_error: Largest difference, in units of the output.
        mel_distance_db: Mean mel-cepstral distance of the test sentence, for stages whose output is audible.
        agreement: Share of equal tokens, for stages that choose tokens.
        rejection: Reason why the candidate is rejected, or None.
    """

    is_finite: bool
    relative_error: float
    max_error: float
    num_values: int
    mel_distance_db: float | None = None
    agreement: float | None = None
    rejection: Message | None = field(default=None, metadata={_JSON_KEY: "complaint"})


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per second of audio. If there is memory for both, engine and reference are measured alternately, so that
    other load affects them equally.

    ``first_seconds`` is the time until the first result of a line.
    """

    seconds_per_audio_second: float
    reference_seconds_per_audio_second: float
    first_seconds: float
    num_rounds: int

    @property
    def speedup(self) -> float:
        return self.reference_seconds_per_audio_second / self.seconds_per_audio_second


@dataclass(frozen=True, slots=True)
class BuiltFile:
    num_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The result of a trial. A rejected candidate has a manifest without files, so that it is not built again.

    Attributes:
        facts: Everything the engine depends on; see ``candidate.facts_of``.
        phase_seconds: Duration of each phase, for later time estimates.
        was_disturbed: Whether other programs kept the machine busy, so that the timing is unreliable.
    """

    key: str
    facts: Mapping[str, str]
    made_at: str  # ISO 8601, UTC
    program_version: str
    verification: Verification
    timing: Timing | None = None
    phase_seconds: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, BuiltFile] = field(default_factory=dict)
    was_disturbed: bool = False

    @property
    def num_bytes(self) -> int:
        return sum(file.num_bytes for file in self.files.values())

    @property
    def is_good(self) -> bool:
        return self.verification.rejection is None and self.timing is not None

    def write(self, folder: Path) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        write_json(folder / FILE_NAME, {"version": _VERSION, **as_json(self)})


class FailureKind(Enum):
    """Kinds of build failures."""

    UNDERWAY = "underway"  # running; interrupted (kill, power cut) if its lock is free
    FAILED = "failed"
    CRASHED = "crashed"
    HUNG = "hung"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """Consecutive build failures and the last failure's reason."""

    num_failures: int
    kind: FailureKind = field(metadata={_JSON_KEY: "trouble"})
    reason: Message
    last_at: str = ""

    def write(self, path: Path) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        write_json(path, {"version": _VERSION, **as_json(self)})


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in ``folder``, or None if it is missing, damaged, or from another version or folder."""
    values = _read(folder / FILE_NAME)
    try:
        if values["key"] != folder.name:
            return None
        return Manifest(
            key=folder.name,
            facts={str(name): str(value) for name, value in values["facts"].items()},
            made_at=str(values["made_at"]),
            program_version=str(values["program_version"]),
            verification=_verification(values["verification"]),
            timing=None if values["timing"] is None else Timing(**values["timing"]),
            phase_seconds={str(name): float(seconds) for name, seconds in values["phase_seconds"].items()},
            files={str(name): BuiltFile(**file) for name, file in values["files"].items()},
            was_disturbed=values.get("was_disturbed") is True,  # absent before this field existed
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def read_attempts(path: Path) -> FailureRecord | None:
    values = _read(path)
    try:
        return FailureRecord(
            num_failures=int(values["num_failures"]),
            kind=FailureKind(values["trouble"]),
            reason=_message(values["reason"]),
            last_at=str(values["last_at"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def write_json(path: Path, values: Mapping[str, object]) -> None:
    atomic_write(path, json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True).encode())


def as_json(value: object) -> Any:
    """Convert dataclasses, enums and their contents to JSON values; numbers that are not finite become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            part.metadata.get(_JSON_KEY, part.name): as_json(getattr(value, part.name))
            for part in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _verification(values: dict[str, Any]) -> Verification:
    rejection = values["complaint"]
    return Verification(
        is_finite=bool(values["is_finite"]),
        relative_error=_number(values["relative_error"]),
        max_error=_number(values["max_error"]),
        num_values=int(values["num_values"]),
        mel_distance_db=None if values["mel_distance_db"] is None else float(values["mel_distance_db"]),
        agreement=None if values["agreement"] is None else float(values["agreement"]),
        rejection=None if rejection is None else _message(rejection),
    )


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def _message(values: dict[str, Any]) -> Message:
    facts = {
        str(name): _message(fact) if isinstance(fact, dict) else fact
        for name, fact in values["facts"].items()
        if isinstance(fact, str | int | float | dict)
    }
    return Message(str(values["template"]), facts)


def _read(path: Path) -> dict[str, Any]:
    """Return the content of ``path``, empty if it is unreadable or from another version."""
    try:
        values = read_json(path)
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) and values.get("version") == _VERSION else {}
