"""On-disk cache of built engines: atomic installs, checksums verified before use, LRU eviction.

It is part of the cache folder, because all of it can be rebuilt::

    engines/built/<key>/        a built engine and its manifest; renamed here when complete
    engines/building/<key>/     a running build, protected by a lock file; unlocked ones are deleted
    engines/attempts/<key>.json written before a build starts, so that one that crashes the machine is not repeated
    engines/timing/<name>       libraries' timing caches, kept between builds
    engines/compiled/<plan>.bin kernels that TensorRT for RTX compiled when a plan first ran
    engines/recorded/<weights>  reference inputs and outputs (``reference_io.py``)
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from studio import paths
from studio.engines.manifest import FILE_NAME as MANIFEST_NAME
from studio.engines.manifest import BuiltFile, FailureKind, FailureRecord, Manifest, read_attempts, read_manifest
from studio.errors import CannotWrite, StudioError
from studio.messages import Message, message
from studio.storage.disk import require_regular_file
from studio.storage.file_lock import FileLock
from studio.storage.lru import delete_least_used, mark_used

_log = logging.getLogger(__name__)
_LOCK_TRIES = 4
_LOCK_PAUSE_SECONDS = 0.05
_PLAIN_NAME = re.compile(r"[\w-][\w.+-]*")
DEFAULT_LIMIT_BYTES = 20 << 30
# One failure may be temporary (a driver update, a full disk); after two there is no automatic retry.
MAX_FAILURES = 2


class EngineStore:
    """The cache of one machine, which several processes may use. Built engines take up at most ``limit_bytes``."""

    def __init__(self, folder: Path | None = None, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder or paths.cache_folder() / "engines"
        self._built = self.folder / "built"
        self._building = self.folder / "building"
        self._attempts = self.folder / "attempts"
        self.limit_bytes = limit_bytes

    def manifest(self, key: str, facts: Mapping[str, str]) -> Manifest | None:
        """Return the manifest for ``key``, or None if it is missing or contains different facts."""
        found = read_manifest(_child(self._built, key))
        return found if found is not None and found.key == key and dict(found.facts) == dict(facts) else None

    def verified_files(self, manifest: Manifest) -> Path | None:
        """Return the folder of a built engine if all checksums match; otherwise, delete the folder and return None.

        Reads every file, because a damaged plan produces noise or crashes the process. Marks the engine as used.
        """
        folder = _child(self._built, manifest.key)
        for name, file in manifest.files.items():
            if not _is_undamaged(folder / name, file):
                _log.warning("%s of %s is damaged and will be built again", name, manifest.key)
                self.discard(manifest.key)
                return None
        mark_used(folder)
        return folder

    def all_manifests(self) -> list[Manifest]:
        """Return all manifests, the latest first."""
        found = [manifest for folder in self._folders(self._built) if (manifest := read_manifest(folder)) is not None]
        return sorted(found, key=lambda manifest: manifest.made_at, reverse=True)

    def has_manifests(self) -> bool:
        """Return whether the cache holds the result of any trial."""
        return bool(self._folders(self._built))

    def num_bytes(self) -> int:
        return sum(_size(folder) for folder in self._folders(self._built))

    @contextlib.contextmanager
    def workspace(self, key: str) -> Iterator[Path]:
        """Lock and yield an empty folder to build ``key`` in.

        Raises ``BlockingIOError`` if another process is building it, and ``StudioError``.
        """
        try:
            self._building.mkdir(parents=True, exist_ok=True)
            lock = _locked(self._lock_path(key))
        except BlockingIOError:
            raise
        except OSError as error:
            raise CannotWrite(
                "{folder} cannot be written to ({reason}).",
                remedy="Check the permissions of the folder.",
                folder=self._building,
                reason=error,
            ) from error
        folder = _child(self._building, key)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def install(self, workspace: Path, manifest: Manifest) -> None:
        """Install a finished build atomically, then evict others down to the limit. Raises ``StudioError``.

        If the build was rejected, only its manifest is kept.
        """
        if not manifest.is_good:
            for path in workspace.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        manifest.write(workspace / MANIFEST_NAME)
        target = _child(self._built, manifest.key)
        try:
            self._built.mkdir(parents=True, exist_ok=True)
            self.discard(manifest.key)
            workspace.replace(target)
        except OSError as error:
            raise CannotWrite(
                "The built engine cannot be stored ({reason}).", remedy="Check the permissions of {folder}.",
                reason=error, folder=self._built,
            ) from error  # fmt: skip
        self.clear_failures(manifest.key)
        others = [folder for folder in self._folders(self._built) if folder != target and _size(folder)]
        delete_least_used(others, max_bytes=self.limit_bytes - manifest.num_bytes)

    def discard(self, key: str) -> None:
        """Delete a built engine."""
        shutil.rmtree(_child(self._built, key), ignore_errors=True)

    def timing_cache(self, name: str) -> Path:
        folder = self.folder / "timing"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    def attempts(self, key: str) -> FailureRecord | None:
        """Return the failures of ``key``; a running build does not count as one."""
        found = read_attempts(self._attempts_path(key))
        if found is not None and found.kind is FailureKind.UNDERWAY and self.is_being_built(key):
            return FailureRecord(found.num_failures - 1, found.kind, found.reason, found.last_at)
        return found

    def begin(self, key: str) -> None:
        """Record a failure in advance, since a killed process cannot. Raises ``StudioError``."""
        before = read_attempts(self._attempts_path(key))
        reason = message("the build was interrupted: the program was killed, or the computer was turned off")
        self._record(key, FailureKind.UNDERWAY, reason, 1 + (before.num_failures if before else 0))

    def fail(self, key: str, kind: FailureKind, reason: Message) -> None:
        """Record that the build started by ``begin`` has failed."""
        before = read_attempts(self._attempts_path(key))
        with contextlib.suppress(StudioError):  # the failure itself is already reported
            self._record(key, kind, reason, before.num_failures if before else 1)

    def cancel_attempt(self, key: str) -> None:
        """Undo ``begin``: a cancelled build is not a failure."""
        before = read_attempts(self._attempts_path(key))
        if before is not None and before.num_failures > 1:
            with contextlib.suppress(StudioError):
                self._record(key, FailureKind.FAILED, before.reason, before.num_failures - 1)
        else:
            self.clear_failures(key)

    def clear_failures(self, key: str) -> None:
        """Forget the failures of ``key``, so that it is tried again."""
        with contextlib.suppress(OSError):
            self._attempts_path(key).unlink(missing_ok=True)

    def num_backed_off(self) -> int:
        """Return the number of candidates that failed too often to be retried automatically."""
        found = (read_attempts(path) for path in self._attempts.glob("*.json"))
        return sum(attempts is not None and attempts.num_failures >= MAX_FAILURES for attempts in found)

    def is_being_built(self, key: str) -> bool:
        """Return whether any process is building ``key``."""
        path = self._lock_path(key)
        if not path.exists():
            return False
        try:
            FileLock(path).release()
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def remove_stale(self) -> None:
        """Delete the folders of builds that are not running."""
        for folder in self._folders(self._building):
            try:
                lock = FileLock(self._lock_path(folder.name))
            except OSError:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def clear(self, keys: Collection[str] | None = None) -> int:
        """Delete built engines and failure records, all or those of ``keys``; return the number of bytes freed."""
        freed = 0
        for folder in list(self._folders(self._built)):
            if keys is None or folder.name in keys:
                freed += _size(folder)
                self.discard(folder.name)
        if self._attempts.is_dir():
            for path in list(self._attempts.glob("*.json")):
                if keys is None or path.stem in keys:
                    path.unlink(missing_ok=True)
        return freed

    def _record(self, key: str, kind: FailureKind, reason: Message, num_failures: int) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        FailureRecord(num_failures, kind, reason, now).write(self._attempts_path(key))

    def _attempts_path(self, key: str) -> Path:
        return _child(self._attempts, f"{key}.json")

    def _lock_path(self, key: str) -> Path:
        return _child(self._building, f"{key}.lock")

    @staticmethod
    def _folders(parent: Path) -> list[Path]:
        with contextlib.suppress(OSError):  # missing or unreadable
            return [path for path in parent.iterdir() if path.is_dir()]
        return []


def _child(folder: Path, name: str) -> Path:
    """Return the entry ``name`` of ``folder``. Raise ``ValueError`` for a path that leads elsewhere.

    Names may come from a manifest written by another program, and the entry is deleted later.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a built engine")
    return folder / name


def _locked(path: Path) -> FileLock:
    """Lock ``path``, retrying because ``is_being_built`` holds the lock briefly. Raises ``BlockingIOError``."""
    for _ in range(_LOCK_TRIES - 1):
        with contextlib.suppress(BlockingIOError):
            return FileLock(path)
        time.sleep(_LOCK_PAUSE_SECONDS)
    return FileLock(path)


def file_records(folder: Path) -> dict[str, BuiltFile]:
    """Return size and checksum of every file in ``folder``, by relative path."""
    return {
        path.relative_to(folder).as_posix(): BuiltFile(path.stat().st_size, _sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST_NAME
    }


def _is_undamaged(path: Path, file: BuiltFile) -> bool:
    try:
        require_regular_file(path)
        return path.stat().st_size == file.num_bytes and _sha256(path) == file.sha256
    except OSError:
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(folder: Path) -> int:
    """Return the size of an engine's files without the manifest."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST_NAME)
