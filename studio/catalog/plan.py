"""What is to be fetched from where, kept beside the parts: going on tomorrow asks for the same revision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from studio.catalog.file_names import is_safe_path
from studio.catalog.known import KnownModel, ModelFile
from studio.catalog.sources import Listing, ModelSource, RemoteFile
from studio.errors import SourceRefused, WrongDownload
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_PLAN_NAME = "timbre-plan.json"
_ARRIVED_NAME = "timbre-arrived.json"


@dataclass(frozen=True, slots=True)
class InstallPlan:
    endpoint: str
    repository: str
    revision: str
    files: tuple[RemoteFile, ...]

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def is_for(self, model: KnownModel, source: ModelSource, variants: frozenset[str]) -> bool:
        """Whether it still is what is wanted: the same files from the same place."""
        is_same_place = (self.endpoint, self.repository) == (source.endpoint, model.repositories[source.kind])
        return is_same_place and {f.path for f in self.files} == {f.path for f in model.files_of(variants)}


def make_plan(model: KnownModel, variants: frozenset[str], source: ModelSource, listing: Listing) -> InstallPlan:
    """Raises ``SourceRefused`` where a file is not there, ``WrongDownload`` where it is not the released one."""
    files = tuple(_checked(model, file, source, listing) for file in model.files_of(variants))
    return InstallPlan(source.endpoint, model.repositories[source.kind], listing.revision, files)


def _checked(model: KnownModel, file: ModelFile, source: ModelSource, listing: Listing) -> RemoteFile:
    remote = listing.files.get(file.path)
    if remote is None:
        raise SourceRefused(
            "{place} does not have {file} of {model}.",
            remedy="Choose another source (Settings, Models).",
            place=source.endpoint,
            file=file.path,
            model=model.name,
        )
    is_other_size = file.size_bytes is not None and file.size_bytes != remote.size_bytes
    is_other_content = bool(file.sha256 and remote.sha256 and file.sha256 != remote.sha256)
    if is_other_size or is_other_content:
        raise WrongDownload(
            "{file} is another one at {place} than in the release of {model} that this program knows.",
            remedy="Choose another source (Settings, Models), or update the program.",
            file=file.path,
            place=source.endpoint,
            model=model.name,
        )
    return RemoteFile(remote.path, remote.size_bytes, file.sha256 or remote.sha256, remote.git_sha1)


def write_plan(folder: Path, plan: InstallPlan) -> None:
    """Raises ``DiskFull``, ``CannotWrite``."""
    atomic_write(folder / _PLAN_NAME, json.dumps(asdict(plan), indent=2).encode())


def read_plan(folder: Path) -> InstallPlan | None:
    """Return the plan of an interrupted installation, or None where it is missing or unreadable."""
    try:
        values: dict[str, Any] = read_json(folder / _PLAN_NAME)
        files = tuple(_read_file(file) for file in values.pop("files"))
        plan = InstallPlan(**{name: str(value) for name, value in values.items()}, files=files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return plan if all(is_safe_path(file.path) for file in files) else None


def _read_file(values: dict[str, Any]) -> RemoteFile:
    sha256, git_sha1 = values["sha256"], values["git_sha1"]
    return RemoteFile(
        path=str(values["path"]),
        size_bytes=int(values["size_bytes"]),
        sha256=None if sha256 is None else str(sha256),
        git_sha1=None if git_sha1 is None else str(git_sha1),
    )


def delete_plan(folder: Path) -> None:
    """So that the next attempt asks again; what has arrived stays."""
    (folder / _PLAN_NAME).unlink(missing_ok=True)


def save_completed(folder: Path, sums: Mapping[str, str]) -> None:
    """The SHA-256 of each complete file: worked out while it arrived. Raises ``DiskFull``, ``CannotWrite``."""
    atomic_write(folder / _ARRIVED_NAME, json.dumps(dict(sums), indent=2).encode())


def load_completed(folder: Path) -> dict[str, str]:
    try:
        sums = read_json(folder / _ARRIVED_NAME)
        return {str(path): str(sha256) for path, sha256 in sums.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def delete_all_except(folder: Path, paths: Set[str]) -> None:
    """The plan has been carried out: notes go, and parts of what is not wanted any more."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in paths:
            path.unlink()
