"""Install plans: which files to download from where. Stored with the download, so that resuming it uses one revision."""

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
_COMPLETED_NAME = "timbre-arrived.json"


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
        """Return whether the plan has the wanted files and comes from the same repository."""
        is_same_repository = (self.endpoint, self.repository) == (source.endpoint, model.repositories[source.kind])
        return is_same_repository and {f.path for f in self.files} == {f.path for f in model.files_of(variants)}


def make_plan(model: KnownModel, variants: frozenset[str], source: ModelSource, listing: Listing) -> InstallPlan:
    """Return a plan for ``model``.

    Raise ``SourceRefused`` if the repository lacks a file, ``WrongDownload`` if a file differs from the release.
    """
    files = tuple(_checked(model, file, source, listing) for file in model.files_of(variants))
    return InstallPlan(source.endpoint, model.repositories[source.kind], listing.revision, files)


def _checked(model: KnownModel, file: ModelFile, source: ModelSource, listing: Listing) -> RemoteFile:
    remote = listing.files.get(file.path)
    if remote is None:
        raise SourceRefused(
            "{file} of {model} is missing at {place}.",
            remedy="Choose another source (Settings, Models).",
            place=source.endpoint,
            file=file.path,
            model=model.name,
        )
    is_other_size = file.size_bytes is not None and file.size_bytes != remote.size_bytes
    is_other_content = bool(file.sha256 and remote.sha256 and file.sha256 != remote.sha256)
    if is_other_size or is_other_content:
        raise WrongDownload(
            "{file} at {place} differs from the release of {model} that this version supports.",
            remedy="Choose another source (Settings, Models), or update the program.",
            file=file.path,
            place=source.endpoint,
            model=model.name,
        )
    return RemoteFile(remote.path, remote.size_bytes, file.sha256 or remote.sha256, remote.git_sha1)


def write_plan(folder: Path, plan: InstallPlan) -> None:
    """Store ``plan`` with the download. Raise ``DiskFull``, ``CannotWrite``."""
    atomic_write(folder / _PLAN_NAME, json.dumps(asdict(plan), indent=2).encode())


def read_plan(folder: Path) -> InstallPlan | None:
    """Return the plan of an interrupted installation, or None if it is missing or unreadable."""
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
    """Make the next attempt plan again. Downloaded files stay."""
    (folder / _PLAN_NAME).unlink(missing_ok=True)


def save_completed(folder: Path, checksums: Mapping[str, str]) -> None:
    """Store the SHA-256 of each completed file by path. Raise ``DiskFull``, ``CannotWrite``."""
    atomic_write(folder / _COMPLETED_NAME, json.dumps(dict(checksums), indent=2).encode())


def load_completed(folder: Path) -> dict[str, str]:
    try:
        checksums = read_json(folder / _COMPLETED_NAME)
        return {str(path): str(sha256) for path, sha256 in checksums.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def delete_all_except(folder: Path, paths: Set[str]) -> None:
    """Delete everything in ``folder`` but ``paths``: the plan, and part files of earlier plans."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in paths:
            path.unlink()
