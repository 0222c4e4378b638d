"""State of an unfinished download on disk: the install plan, the completed files, and the part file of the current one.

The plan is stored with the download, so that resuming it uses the same revision. Part files survive a power cut:
``llm.pt.part.json`` beside ``llm.pt.part`` holds the number of bytes that were synced to disk, and the version (ETag)
they belong to. Bytes beyond that number are not trusted and are cut off when the download resumes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from studio.catalog.folders import files_in, is_safe_path, writing
from studio.catalog.known import KnownModel, ModelFile
from studio.catalog.progress import Phase, ProgressCounter
from studio.catalog.sources import FileList, ModelSource, RemoteFile
from studio.errors import SourceRefused, WrongDownload
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_PLAN_NAME = "timbre-plan.json"
_COMPLETED_NAME = "timbre-arrived.json"
_SYNC_SECONDS = 3.0
_READ_BYTES = 1 << 20


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
        """Return whether the plan contains the wanted files and is for the same repository."""
        is_same_repository = (self.endpoint, self.repository) == (source.endpoint, model.repositories[source.kind])
        return is_same_repository and {f.path for f in self.files} == {f.path for f in model.files_of(variants)}


def make_plan(model: KnownModel, variants: frozenset[str], source: ModelSource, listing: FileList) -> InstallPlan:
    """Return a plan for ``model``.

    Raise ``SourceRefused`` if the repository lacks a file, ``WrongDownload`` if a file differs from the release.
    """
    files = tuple(_checked_file(model, file, source, listing) for file in model.files_of(variants))
    return InstallPlan(source.endpoint, model.repositories[source.kind], listing.revision, files)


def _checked_file(model: KnownModel, file: ModelFile, source: ModelSource, listing: FileList) -> RemoteFile:
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
        files = tuple(_file_from(file) for file in values.pop("files"))
        plan = InstallPlan(**{name: str(value) for name, value in values.items()}, files=files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return plan if all(is_safe_path(file.path) for file in files) else None


def _file_from(values: dict[str, Any]) -> RemoteFile:
    sha256, git_sha1 = values["sha256"], values["git_sha1"]
    return RemoteFile(
        path=str(values["path"]),
        size_bytes=int(values["size_bytes"]),
        sha256=None if sha256 is None else str(sha256),
        git_sha1=None if git_sha1 is None else str(git_sha1),
    )


def delete_plan(folder: Path) -> None:
    """Delete the plan, so that the next attempt makes a new one. Downloaded files are kept."""
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
    """Delete all files in ``folder`` except ``paths``, such as the plan and the part files of earlier plans."""
    for path in files_in(folder):
        if path not in paths:
            (folder / path).unlink()


class PartialFile:
    """An open part file. Received bytes are kept when it is closed."""

    def __init__(self, target: Path) -> None:
        """Open or create the part file of ``target``. Raise ``DiskFull``, ``CannotWrite``."""
        self.target = target
        self.etag = ""
        self._origin = ""  # host of the server that sent the bytes
        self._path = target.with_name(f"{target.name}.part")
        self._state_path = target.with_name(f"{target.name}.part.json")
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("r+b" if self._path.exists() else "x+b")
            self.num_bytes = self._begin()
        self._sha256 = hashlib.sha256()
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._file.closed:
            with contextlib.suppress(OSError):
                self._sync()
            self._file.close()

    def hash_existing(self, counter: ProgressCounter) -> None:
        """Hash the bytes of an earlier attempt, for the checksum at the end. Raise ``DownloadCancelled``."""
        self._sha256 = hashlib.sha256()
        self._file.seek(0)
        read = 0
        while read < self.num_bytes and (content := self._file.read(min(_READ_BYTES, self.num_bytes - read))):
            counter.stop.check()
            self._sha256.update(content)
            read += len(content)
            counter.report(Phase.CHECKING, read)
        self.num_bytes = read

    def use_origin(self, host: str, *, is_verified: bool) -> None:
        """Continue with bytes from ``host``.

        Servers name versions differently. Bytes from the previous server are kept if the content is verified by its
        SHA-256.
        """
        if self._origin != host and is_verified:
            self.etag = ""
        self._origin = host

    def append(self, content: bytes) -> None:
        """Write ``content``. Raise ``DiskFull``, ``CannotWrite``."""
        with writing(self.target):
            self._file.write(content)
            self.num_bytes += len(content)
            self._sha256.update(content)
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                self._sync()

    def restart(self, etag: str = "") -> None:
        """Discard all bytes and start again with the version ``etag``."""
        with writing(self.target):
            self._file.seek(0)
            self._file.truncate()
            self.num_bytes, self.etag = 0, etag
            self._sha256 = hashlib.sha256()
            self._sync()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def git_sha1(self) -> str:
        """Return git's blob id of the content. Reads the whole file into memory."""
        self._file.seek(0)
        content = self._file.read()
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()

    def complete(self) -> None:
        """Sync to disk and rename to ``target``. Raise ``DiskFull``, ``CannotWrite``."""
        with writing(self.target):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._path.replace(self.target)
            self._state_path.unlink(missing_ok=True)

    def _begin(self) -> int:
        size = self._file.seek(0, os.SEEK_END)
        try:
            state = read_json(self._state_path)
            safe_bytes, self.etag = max(0, int(state["num_bytes"])), str(state["etag"])
            self._origin = str(state.get("origin", ""))
        except (OSError, ValueError, KeyError, TypeError):
            safe_bytes = 0
        kept = min(size, safe_bytes)
        self._file.truncate(kept)
        return kept

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        atomic_write(
            self._state_path,
            json.dumps({"num_bytes": self.num_bytes, "etag": self.etag, "origin": self._origin}).encode(),
        )
        self._synced = time.monotonic()


def downloaded_bytes(target: Path) -> int:
    """Return the size of ``target`` or of its part file; 0 if neither exists."""
    for path in (target, target.with_name(f"{target.name}.part")):
        with contextlib.suppress(OSError):
            return path.stat().st_size
    return 0
