"""Installed models by name, the record stored with each, and the state of every installed or available model."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.catalog.folders import bundled_folder, is_safe_path, models_folder, staging_folder
from studio.errors import DamagedModelFile, ModelNotFound, StudioError, UnknownGeneration
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import parse_json, read_json
from studio.take_checks.recognizers.sense_voice_files import find_network

if TYPE_CHECKING:
    from studio.catalog.known import KnownModel

DEFAULT_MODEL = "studio-mini"  # bundled
RECORD_NAME = "timbre-model.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RecordedFile:
    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """Origin of an installed model, and size and checksum of each file. Stored in the model's folder."""

    name: str
    origin: str  # the repository, folder or archive, as text
    revision: str
    files: tuple[RecordedFile, ...]
    damaged: tuple[str, ...] = ()  # paths of the files known to be damaged

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def file(self, path: str) -> RecordedFile | None:
        return next((file for file in self.files if file.path == path), None)

    def with_damaged(self, damaged: tuple[str, ...]) -> InstallRecord:
        return replace(self, damaged=tuple(sorted(damaged)))

    def missing_in(self, folder: Path) -> tuple[str, ...]:
        """Return the files that are missing or have a different size. Their content is not read."""
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
            files=tuple(_file_from(file) for file in values["files"]),
            damaged=tuple(map(str, values["damaged"])),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return record if all(is_safe_path(file.path) for file in record.files) else None


def _file_from(values: dict[str, Any]) -> RecordedFile:
    return RecordedFile(str(values["path"]), int(values["size_bytes"]), str(values["sha256"]))


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def installed_models() -> dict[str, Path]:
    """Return the folders of the complete speech models by name. A user's model hides a bundled one of the same name."""
    return {name: folder for name, folder in _complete_folders().items() if find_network(folder) is None}


def installed_recognizers() -> dict[str, Path]:
    """Return the folders of the complete speech recognisers by name."""
    return {name: folder for name, folder in _complete_folders().items() if find_network(folder) is not None}


def _complete_folders() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for base in (bundled_folder(), models_folder()):
        found.update({name: folder for name, folder in _folders(base).items() if _is_complete(folder)})
    return found


def _is_complete(folder: Path) -> bool:
    """Return whether all recorded files have the right size and none is known to be damaged. Reads no content."""
    record = read_record(folder)
    return record is None or not (record.damaged or record.missing_in(folder))


class ModelState(Enum):
    BUNDLED = "bundled"
    INSTALLED = "installed"
    DAMAGED = "damaged"  # installed, but not loaded until repaired
    PARTIAL = "partial"  # partly downloaded
    AVAILABLE = "available"
    UNSUPPORTED = "unsupported"  # known, but this version of the program cannot run it


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """State of one model."""

    name: str
    state: ModelState
    known: KnownModel | None
    folder: Path | None = None
    record: InstallRecord | None = None
    size_bytes: int = 0  # size on disk if installed, else download size
    arrived_bytes: int = 0  # received bytes of an unfinished download
    damaged: tuple[str, ...] = ()

    @property
    def variants(self) -> frozenset[str]:
        """Installed variants."""
        if self.known is None or self.folder is None:
            return frozenset()
        return frozenset(f.variant for f in self.known.files if f.variant and (self.folder / f.path).is_file())

    @property
    def is_recognizer(self) -> bool:
        """Whether it recognises speech, for checks of takes, and cannot speak."""
        if self.known is not None:
            return self.known.is_recognizer
        return self.folder is not None and find_network(self.folder) is not None

    @property
    def is_loadable(self) -> bool:
        """Whether it can speak."""
        return self.state in (ModelState.BUNDLED, ModelState.INSTALLED) and not self.is_recognizer


def model_statuses() -> list[ModelStatus]:
    """Return the bundled, known and imported models, in this order. Reads only small files."""
    from studio.catalog.known import known_models  # noqa: PLC0415 - not needed for the window's first paint

    statuses = {name: _installed_status(name, folder) for name, folder in _folders(bundled_folder()).items()}
    own = _folders(models_folder())
    for name, known in known_models().items():
        if name in own:
            statuses[name] = _installed_status(name, own[name])
        elif known.can_be_downloaded:
            statuses[name] = _available_status(known)
    for name, folder in own.items():
        statuses[name] = _installed_status(name, folder)
    return list(statuses.values())


def model_status(name: str) -> ModelStatus | None:
    return next((status for status in model_statuses() if status.name == name), None)


def model_not_found(name: str) -> ModelNotFound:
    return ModelNotFound(
        "The model {name} is not installed.", remedy="`timbre models list` lists all models.", name=name
    )


def unsupported(name: str) -> UnknownGeneration:
    return UnknownGeneration(
        "{name} is not supported by this version of the program.",
        remedy="Choose CosyVoice2-0.5B or Fun-CosyVoice3-0.5B-2512.",
        name=name,
    )


def why_not_loadable(name: str) -> StudioError | None:
    """Return why the model cannot be loaded, or None if it can be loaded or is not known."""
    status = model_status(name)
    match status.state if status else None:
        case ModelState.DAMAGED:
            can_be_downloaded = status is not None and status.known is not None and status.known.can_be_downloaded
            return DamagedModelFile(
                "{name} is damaged: {files} must be repaired.",
                remedy="Repair it on the Models page (Ctrl+M) or with `timbre models install {name}`."
                if can_be_downloaded
                else "Remove the model, then import a complete copy.",
                name=name,
                files=status.damaged if status else (),
            )
        case ModelState.PARTIAL | ModelState.AVAILABLE:
            return ModelNotFound(
                "{name} is not installed.",
                remedy="Download it on the Models page (Ctrl+M) or with `timbre models install {name}`.",
                name=name,
            )
        case ModelState.UNSUPPORTED:
            return unsupported(name)
        case _:
            return None


def _folders(base: Path) -> dict[str, Path]:
    try:
        found = sorted(base.iterdir())
    except OSError:  # missing or not readable
        return {}
    return {folder.name: folder for folder in found if os.path.isdir(folder) and folder.name[0] != "."}


def _installed_status(name: str, folder: Path) -> ModelStatus:
    from studio.catalog.known import known_models  # noqa: PLC0415 - as above

    record = read_record(folder)
    damaged = tuple(sorted({*record.damaged, *record.missing_in(folder)})) if record else ()
    is_bundled = folder.parent == bundled_folder()
    state = ModelState.BUNDLED if is_bundled else ModelState.DAMAGED if damaged else ModelState.INSTALLED
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return ModelStatus(name, state, known_models().get(name), folder, record, size, _arrived_bytes(name), damaged)


def _available_status(known: KnownModel) -> ModelStatus:
    from studio.catalog.staging import read_plan  # noqa: PLC0415 - as above

    arrived = _arrived_bytes(known.name)
    state = ModelState.PARTIAL if arrived else ModelState.AVAILABLE
    if not known.is_supported:
        state = ModelState.UNSUPPORTED
    plan = read_plan(staging_folder(known.name))
    size = plan.size_bytes if plan else known.size_bytes()
    return ModelStatus(known.name, state, known, size_bytes=size, arrived_bytes=arrived)


def _arrived_bytes(name: str) -> int:
    from studio.catalog.staging import downloaded_bytes, read_plan  # noqa: PLC0415 - as above

    staging = staging_folder(name)
    plan = read_plan(staging)
    return sum(downloaded_bytes(staging / file.path) for file in plan.files) if plan else 0
