"""On-disk cache of built engines: atomic installs, checksums verified before use, LRU eviction.

It lies in the cache folder, for everything in it can be made again::

    engines/built/<key>/        a built thing and its manifest; renamed into place when all of it is there
    engines/building/<key>/     a build at work, held by its lock; whatever nobody holds is swept away
    engines/attempts/<key>.json written before a build begins: so one that kills the machine does not begin for ever
    engines/timing/<name>       what libraries learnt about this machine's speed, kept between builds
    engines/compiled/<plan>.bin what TensorRT for RTX compiled for the card when a plan first ran there
    engines/recorded/<weights>  inputs and outputs to hold candidates to (``recording.py``)
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from studio import paths
from studio.engines.manifest import FILE_NAME as MANIFEST_NAME
from studio.engines.manifest import BuiltFile, FailureKind, FailureRecord, Manifest, read_attempts, read_manifest
from studio.errors import CannotWrite, StudioError
from studio.storage.disk import require_regular_file
from studio.storage.file_lock import FileLock
from studio.wording import Message, wording

_log = logging.getLogger(__name__)
_BLOCK_BYTES = 1 << 20
_LOCK_TRIES = 4
_LOCK_PAUSE_SECONDS = 0.05
_PLAIN_NAME = re.compile(r"[\w-][\w.+-]*")
DEFAULT_LIMIT_BYTES = 20 << 30
# A first failure may be an accident (a driver being updated, a full disk); a second is not tried a third time.
MOST_FAILURES = 2


@dataclass(frozen=True, slots=True)
class Workspace:
    """A build's own folder, locked; ``folder`` holds nothing when it is handed out."""

    key: str
    folder: Path


class EngineStore:
    """Of one machine; several processes may use it at once. ``limit_bytes`` bounds the files of built things."""

    def __init__(self, folder: Path | None = None, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder or paths.cache_folder() / "engines"
        self._built = self.folder / "built"
        self._building = self.folder / "building"
        self._attempts = self.folder / "attempts"
        self.limit_bytes = limit_bytes

    # What is there.

    def manifest(self, key: str, facts: Mapping[str, str]) -> Manifest | None:
        """What is known of ``key``; None where nothing is, or where it was made from other facts."""
        found = read_manifest(_child(self._built, key))
        return found if found is not None and found.key == key and dict(found.facts) == dict(facts) else None

    def verified_files(self, manifest: Manifest) -> Path | None:
        """Return the folder of a built engine if every byte is as it was made; else delete it and return None.

        Reads it all: a damaged plan is heard as noise, or ends the process. Counts as a use.
        """
        folder = _child(self._built, manifest.key)
        for name, file in manifest.files.items():
            if not _is_undamaged(folder / name, file):
                _log.warning("%s of %s is damaged and will be made again", name, manifest.key)
                self.discard(manifest.key)
                return None
        with contextlib.suppress(OSError):
            os.utime(folder / MANIFEST_NAME)
        return folder

    def all_manifests(self) -> list[Manifest]:
        """Those used last first."""
        folders = sorted(self._folders(self._built), key=_last_used, reverse=True)
        return [manifest for folder in folders if (manifest := read_manifest(folder)) is not None]

    def has_manifests(self) -> bool:
        """Whether anything was ever tried on this machine."""
        return bool(self._folders(self._built))

    def num_bytes(self) -> int:
        return sum(_size(folder) for folder in self._folders(self._built))

    # Building.

    @contextlib.contextmanager
    def workspace(self, key: str) -> Iterator[Workspace]:
        """An empty folder to build ``key`` in. Raises ``BlockingIOError`` where another process does, ``StudioError``."""
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
            yield Workspace(key, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def install(self, workspace: Workspace, manifest: Manifest) -> None:
        """Puts a finished build in its place, all at once, and makes room for it. Raises ``StudioError``.

        A refused one is remembered without its files.
        """
        if not manifest.is_good:
            for path in workspace.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        manifest.write(workspace.folder)
        target = _child(self._built, manifest.key)
        try:
            self._built.mkdir(parents=True, exist_ok=True)
            self.discard(manifest.key)
            workspace.folder.replace(target)
        except OSError as error:
            raise CannotWrite(
                "What was built cannot be kept ({reason}).", remedy="Check the permissions of {folder}.",
                reason=error, folder=self._built,
            ) from error  # fmt: skip
        self.clear_failures(manifest.key)
        self.make_room(keep={manifest.key})

    def make_room(self, *, keep: Collection[str] = ()) -> list[str]:
        """Throws away what was not used for longest until the limit is kept; the keys of what went."""
        folders = sorted(self._folders(self._built), key=_last_used)
        excess = sum(map(_size, folders)) - self.limit_bytes
        gone = []
        for folder in folders:
            size = _size(folder)
            if excess <= 0 or folder.name in keep or not size:
                continue
            self.discard(folder.name)
            gone.append(folder.name)
            excess -= size
        return gone

    def discard(self, key: str) -> None:
        """Delete a built engine."""
        shutil.rmtree(_child(self._built, key), ignore_errors=True)

    def timing_cache(self, name: str) -> Path:
        folder = self.folder / "timing"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    # Builds that came to nothing.

    def attempts(self, key: str) -> FailureRecord | None:
        """What went wrong with ``key`` so far; a build that is at work now is not a failure."""
        found = read_attempts(self._attempts_path(key))
        if found is not None and found.trouble is FailureKind.UNDERWAY and self.is_being_built(key):
            return FailureRecord(found.num_failures - 1, found.trouble, found.reason, found.last_at)
        return found

    def begin(self, key: str) -> None:
        """Counts a failure in advance: who is killed cannot do it afterwards. Raises ``StudioError``."""
        before = read_attempts(self._attempts_path(key))
        reason = wording("the build was interrupted: the program was killed, or the computer went off")
        self._note(key, FailureKind.UNDERWAY, reason, 1 + (before.num_failures if before else 0))

    def fail(self, key: str, trouble: FailureKind, reason: Message) -> None:
        """The build that ``begin`` announced has failed."""
        before = read_attempts(self._attempts_path(key))
        with contextlib.suppress(StudioError):  # the failure is told; that it is forgotten is no second one
            self._note(key, trouble, reason, before.num_failures if before else 1)

    def cancel_attempt(self, key: str) -> None:
        """The build that ``begin`` announced was cancelled, which is not a failure."""
        before = read_attempts(self._attempts_path(key))
        if before is not None and before.num_failures > 1:
            with contextlib.suppress(StudioError):
                self._note(key, FailureKind.FAILED, before.reason, before.num_failures - 1)
        else:
            self.clear_failures(key)

    def clear_failures(self, key: str) -> None:
        """Forgets failures: it is tried again."""
        with contextlib.suppress(OSError):
            self._attempts_path(key).unlink(missing_ok=True)

    def num_resting(self) -> int:
        """Builds that failed so often that they are not tried again by themselves."""
        found = (read_attempts(path) for path in self._attempts.glob("*.json"))
        return sum(attempts is not None and attempts.num_failures >= MOST_FAILURES for attempts in found)

    def is_being_built(self, key: str) -> bool:
        """By whichever process."""
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

    # Cleaning up.

    def remove_stale(self) -> None:
        """Removes what builds left behind that died; those at work are left alone."""
        for folder in self._folders(self._building):
            try:
                lock = FileLock(self._lock_path(folder.name))
            except OSError:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def clear(self, keys: Collection[str] | None = None) -> int:
        """Throws away built things and forgets failures; of all, or of ``keys``. Returns the bytes that were freed."""
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

    def _note(self, key: str, trouble: FailureKind, reason: Message, num_failures: int) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        FailureRecord(num_failures, trouble, reason, now).write(self._attempts_path(key))

    def _attempts_path(self, key: str) -> Path:
        return _child(self._attempts, f"{key}.json")

    def _lock_path(self, key: str) -> Path:
        return _child(self._building, f"{key}.lock")

    @staticmethod
    def _folders(parent: Path) -> list[Path]:
        with contextlib.suppress(OSError):  # not there yet, or not to be looked into
            return [path for path in parent.iterdir() if path.is_dir()]
        return []


def _child(folder: Path, name: str) -> Path:
    """Return the entry ``name`` of ``folder``. Raise ``ValueError`` for a path that leads elsewhere.

    Keys come from manifests too, which anybody may have written, and what they name is deleted.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a built engine")
    return folder / name


def _locked(path: Path) -> FileLock:
    """Raises ``BlockingIOError`` where a build holds it. Whoever only looks (``is_being_built``) holds it for a moment."""
    for _ in range(_LOCK_TRIES - 1):
        with contextlib.suppress(BlockingIOError):
            return FileLock(path)
        time.sleep(_LOCK_PAUSE_SECONDS)
    return FileLock(path)


def file_records(folder: Path) -> dict[str, BuiltFile]:
    """Size and checksum of every file in ``folder``, by its path in it."""
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
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _size(folder: Path) -> int:
    """Of the built files; manifests are not worth counting."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST_NAME)


def _last_used(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return (folder / MANIFEST_NAME).stat().st_mtime
    return 0.0
