"""Manifests of built engines and records of failed builds, stored as JSON. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from studio.messages import Message
from studio.model.measurements import JSON_KEY, Record, read_message, read_values, record_fields, write_json

FILE_NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class BuiltFile:
    num_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest(Record):
    """The result of a trial. A rejected candidate has a manifest without files, so that it is not built again.

    Attributes:
        phase_seconds: Duration of each phase, for later time estimates.
        was_disturbed: Whether other programs kept the machine busy, so that the timing is unreliable.
    """

    phase_seconds: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, BuiltFile] = field(default_factory=dict)
    was_disturbed: bool = False

    @property
    def num_bytes(self) -> int:
        return sum(file.num_bytes for file in self.files.values())

    @property
    def is_good(self) -> bool:
        return self.verification.rejection is None and self.timing is not None


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
    kind: FailureKind = field(metadata={JSON_KEY: "trouble"})
    reason: Message
    last_at: str = ""

    def write(self, path: Path) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        write_json(path, self)


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in ``folder``, or None if it is missing, damaged, or from another version or folder."""
    values = read_values(folder / FILE_NAME)
    try:
        if values["key"] != folder.name:
            return None
        return Manifest(
            **record_fields(values),
            phase_seconds={str(name): float(seconds) for name, seconds in values["phase_seconds"].items()},
            files={str(name): BuiltFile(**file) for name, file in values["files"].items()},
            was_disturbed=values.get("was_disturbed") is True,  # absent before this field existed
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def read_attempts(path: Path) -> FailureRecord | None:
    values = read_values(path)
    try:
        return FailureRecord(
            num_failures=int(values["num_failures"]),
            kind=FailureKind(values["trouble"]),
            reason=read_message(values["reason"]),
            last_at=str(values["last_at"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
