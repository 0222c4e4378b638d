"""Record of an installed model, stored in its folder: origin, and size and checksum of each file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from studio.catalog.file_names import is_safe_path
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import parse_json, read_json

RECORD_NAME = "timbre-model.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RecordedFile:
    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """``origin``: the repository, folder or archive, as text. ``damaged``: paths of files known to be damaged."""

    name: str
    origin: str
    revision: str
    files: tuple[RecordedFile, ...]
    damaged: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def file(self, path: str) -> RecordedFile | None:
        return next((file for file in self.files if file.path == path), None)

    def with_damaged(self, damaged: tuple[str, ...]) -> InstallRecord:
        return replace(self, damaged=tuple(sorted(damaged)))

    def missing_in(self, folder: Path) -> tuple[str, ...]:
        """Return the files that are missing or have a different size, without reading their content."""
        return tuple(file.path for file in self.files if _size(folder / file.path) != file.size_bytes)


def write_record(folder: Path, record: InstallRecord) -> None:
    """Write ``record`` into ``folder``. Raise ``DiskFull`` and ``CannotWrite``."""
    values = {"format": _FORMAT, **asdict(record)}
    atomic_write(folder / RECORD_NAME, json.dumps(values, ensure_ascii=False, indent=2).encode() + b"\n")


def read_record(folder: Path) -> InstallRecord | None:
    """Return the record of an installed model, or None if it is missing or unreadable."""
    try:
        return _record_from(read_json(folder / RECORD_NAME))
    except (OSError, ValueError):
        return None


def parse_record(content: bytes) -> InstallRecord | None:
    """Return the record in untrusted ``content``, or None if it is not one."""
    try:
        return _record_from(parse_json(content))
    except ValueError:
        return None


def _record_from(values: Any) -> InstallRecord | None:
    try:
        record = InstallRecord(
            name=str(values["name"]),
            origin=str(values["origin"]),
            revision=str(values["revision"]),
            files=tuple(_read_file(file) for file in values["files"]),
            damaged=tuple(map(str, values["damaged"])),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return record if all(is_safe_path(file.path) for file in record.files) else None


def _read_file(values: dict[str, Any]) -> RecordedFile:
    return RecordedFile(str(values["path"]), int(values["size_bytes"]), str(values["sha256"]))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
