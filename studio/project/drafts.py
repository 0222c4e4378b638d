"""Working copies in the drafts folder, and their recovery after a crash.

A working copy is an SQLite file with a lock file, which is locked by its process. If the lock is free at the next start
and the working copy contains unsaved work, the user can recover it.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from studio.errors import ProjectInUse, StudioError, UnreadableProject
from studio.project import database
from studio.project.script import Script
from studio.project.storage import Storage
from studio.storage.file_lock import FileLock

_log = logging.getLogger(__name__)
_SUFFIX = ".draft"
_DAMAGED_SUFFIX = ".damaged"
_TIME_FORMAT = "%Y%m%d-%H%M%S"
_PART_SUFFIX = ".part"
_SHOWN_CHARACTERS = 80
# A window that has just been started locks each draft while it reads it.
LOCK_WAIT_SECONDS = 1.0
# Suffixes of the database and of the files that SQLite creates beside it.
_COMPANIONS = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Draft:
    """A recoverable working copy. ``project_path`` is None if the project was never saved."""

    path: Path
    project_path: Path | None
    name: str
    num_lines: int
    num_takes: int
    first_words: str
    last_changed: datetime


class WorkingCopy:
    """The open storage of a draft, with its lock."""

    def __init__(self, storage: Storage, lock: FileLock) -> None:
        self.storage = storage
        self._lock = lock

    @property
    def path(self) -> Path:
        return self.storage.path

    @classmethod
    def create(cls, drafts: Path, *, copy_of: Path | None = None) -> WorkingCopy:
        """Create an empty working copy, or a working copy of the project file ``copy_of``.

        Raise ``UnreadableProject``, ``CannotWrite`` or ``DiskFull``.
        """
        path = drafts / f"{datetime.now(UTC):{_TIME_FORMAT}}-{secrets.token_hex(4)}{_SUFFIX}"
        if copy_of is not None:
            database.require_project(copy_of)
        with database.translate_errors(path), contextlib.ExitStack() as undo:
            drafts.mkdir(parents=True, exist_ok=True)
            lock = FileLock(_lock_path(path))
            undo.callback(lock.release, removes_file=True)
            undo.callback(_remove, path)
            if copy_of is not None:
                part = path.with_suffix(_PART_SUFFIX)
                undo.callback(part.unlink, missing_ok=True)
                shutil.copyfile(copy_of, part)
                part.rename(path)
            working_copy = cls(Storage(path, is_new=copy_of is None, copy_of=copy_of), lock)
            undo.pop_all()
        return working_copy

    @classmethod
    def open_existing(cls, path: Path, *, wait_seconds: float = 0.0) -> WorkingCopy:
        """Open a recoverable working copy. Raise ``ProjectInUse`` if it stays open elsewhere for ``wait_seconds``."""
        database.require_project(path)
        with database.translate_errors(path), contextlib.ExitStack() as undo:
            try:
                lock = FileLock(_lock_path(path), wait_seconds=wait_seconds)
            except BlockingIOError as error:
                raise ProjectInUse(
                    "This draft is open in another window.", remedy="Continue in that window, or close it."
                ) from error
            undo.callback(lock.release)
            working_copy = cls(Storage(path), lock)
            undo.pop_all()
        return working_copy

    def close(self, *, keeps_draft: bool) -> None:
        """Close the working copy. If its file cannot be deleted, raise ``CannotWrite`` after closing it."""
        with database.translate_errors(self.path):
            try:
                self.storage.close()
                if not keeps_draft:
                    _remove(self.path)
            finally:
                self._lock.release(removes_file=not keeps_draft)


def created_at(draft: Path) -> datetime:
    """Return the time in the draft's file name, or the file's modification time if it was renamed."""
    try:
        return datetime.strptime(draft.stem.rpartition("-")[0], _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(draft.stat().st_mtime, UTC)


def recoverable_drafts(drafts: Path, *, on_damage: Callable[[StudioError], object] = lambda _: None) -> list[Draft]:
    """Return the drafts with unsaved work, newest first, and delete the other drafts.

    An unreadable draft is kept under another name, and ``on_damage`` is called for it once.
    """
    found = [draft for path in sorted(drafts.glob(f"*{_SUFFIX}")) if (draft := _summary(path, on_damage))]
    for part in drafts.glob(f"*{_PART_SUFFIX}"):
        _discard(part.with_suffix(_SUFFIX), part)
    return sorted(found, key=lambda draft: draft.last_changed, reverse=True)


def discard_draft(draft: Draft) -> None:
    """Delete ``draft`` unless a process has opened it."""
    _discard(draft.path)


def _summary(path: Path, on_damage: Callable[[StudioError], object]) -> Draft | None:  # noqa: PLR0911 - one return per reason
    try:
        last_changed = _last_changed(path)
        if last_changed is None:
            return None
        working_copy = WorkingCopy.open_existing(path)
    except ProjectInUse:
        return None
    except UnreadableProject as error:
        _set_aside(path, error, on_damage)
        return None
    except (StudioError, OSError):
        _log.warning("the draft %s cannot be read", path, exc_info=True)
        return None
    has_unsaved_work = True
    damage: StudioError | None = None
    try:
        script = working_copy.storage.read()
        project_path, is_modified = working_copy.storage.binding()
        num_recordings = len(working_copy.storage.recordings())
        has_unsaved_work = num_recordings > 0 or (is_modified and (project_path is not None or _has_content(script)))
    except StudioError as error:
        damage = error
    finally:
        working_copy.close(keeps_draft=has_unsaved_work)
    if damage is not None:
        _set_aside(path, damage, on_damage)
        return None
    if not has_unsaved_work:
        return None
    return Draft(
        path=path,
        project_path=project_path,
        name=script.name,
        num_lines=len(script.lines),
        num_takes=sum(map(len, script.takes.values())) + num_recordings,
        first_words=next((line.text.strip() for line in script.lines if line.text.strip()), "")[:_SHOWN_CHARACTERS],
        last_changed=datetime.fromtimestamp(last_changed, UTC),
    )


def _set_aside(path: Path, error: StudioError, on_damage: Callable[[StudioError], object]) -> None:
    _log.warning("the draft %s cannot be read: %s", path, error)
    if database.is_of_newer_version(path):  # the newer version recovers it
        return
    kept = path.with_suffix(_DAMAGED_SUFFIX)
    try:
        for suffix in _COMPANIONS:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{kept}{suffix}")
    except OSError:
        _log.warning("%s cannot be renamed", path, exc_info=True)
    on_damage(
        UnreadableProject(
            "Unsaved work is damaged and cannot be recovered: {reason}",
            remedy="The damaged file is kept as {path}.",
            reason=error.problem,
            path=kept if kept.exists() else path,
        )
    )


def _has_content(script: Script) -> bool:
    """Return whether the script has takes, dictionary entries or text."""
    return bool(script.takes or script.dictionary.entries or any(line.text.strip() for line in script.lines))


def _last_changed(path: Path) -> float | None:
    """Return the time of the last change in seconds since the epoch, or None if another window has just deleted the draft."""
    times = []
    for suffix in _COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            times.append(Path(f"{path}{suffix}").stat().st_mtime)
    return max(times, default=None)


def _discard(path: Path, *others: Path) -> None:
    try:
        lock = FileLock(_lock_path(path), wait_seconds=LOCK_WAIT_SECONDS)
    except BlockingIOError:
        return
    except OSError:
        _log.warning("%s cannot be locked", path, exc_info=True)
        return
    try:
        _remove(path)
        for other in others:
            other.unlink(missing_ok=True)
    except OSError:
        _log.warning("%s cannot be removed", path, exc_info=True)
    finally:
        lock.release(removes_file=True)


def _remove(path: Path) -> None:
    for suffix in _COMPANIONS:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")
