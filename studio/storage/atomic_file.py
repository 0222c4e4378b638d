"""Atomic writes: a file appears complete or not at all.

The content goes to a part file beside the target, which is synced to disk and then renamed. The name of a part file
contains the id of its process, so that the next write into the folder can remove those of ended processes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

from studio.messages import message
from studio.storage.disk import disk_errors

_PART_NAME = re.compile(r"\.timbre\.(?P<host>[0-9a-f]{6})-(?P<process>\d+)-[0-9a-f]+\.part")
# For part files whose process cannot be checked, because it is on another computer or its id was reused.
_ABANDONED_SECONDS = 24 * 3600.0


def new_part(folder: Path) -> Path:
    """Return an unused path for a part file in ``folder``, after removing stale ones once in each process."""
    _sweep_once(folder)
    # The name of the target is omitted, because it may be as long as the file system allows.
    return folder / f".timbre.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"


def sweep_parts(folder: Path) -> None:
    """Remove part files whose process has ended, and those of other computers that have not changed for a day."""
    with contextlib.suppress(OSError):
        for path in folder.glob(".timbre.*.part"):
            match = _PART_NAME.fullmatch(path.name)
            if match and _is_stale(path, match["host"], int(match["process"])):
                path.unlink(missing_ok=True)


def own_parts(folder: Path) -> list[Path]:
    """Return the part files that this process is writing in ``folder``."""
    return list(folder.glob(f".timbre.{_host()}-{os.getpid()}-*.part"))


def commit(part: Path, target: Path, *, syncs: bool = True) -> None:
    """Sync ``part`` to disk and rename it to ``target``, whose permissions it takes on."""
    if syncs:
        sync(part)
    if target.exists():
        shutil.copymode(target, part)
    part.replace(target)
    if syncs:
        sync_folder(target.parent)


@contextlib.contextmanager
def atomic_path(target: Path, *, syncs: bool = True) -> Iterator[Path]:
    """Yield the path of a part file, which becomes ``target`` at the end of the block and is deleted if it raises.

    Links are followed. ``OSError`` passes through. With ``syncs=False``, a power cut may leave an empty file.
    """
    target = target.resolve()
    part = new_part(target.parent)
    try:
        yield part
        commit(part, target, syncs=syncs)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that becomes ``path`` at the end of the block. Raise ``DiskFull`` or ``CannotWrite``.

    Creates the folder. If the block raises, an existing file is left unchanged.
    """
    if_full = message("Free some space and try again.")
    with disk_errors(path, if_full=if_full, if_refused=message("Check the permissions of its folder.")):
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part, part.open("xb") as file:
            yield file


def atomic_write(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, like :func:`atomic_file`."""
    with atomic_file(path) as file:
        file.write(content)


def _is_stale(path: Path, host: str, process: int) -> bool:
    if host == _host():
        import psutil  # noqa: PLC0415 - needed only for a file that a crash left behind

        if not psutil.pid_exists(process):
            return True
        if process == os.getpid():
            return False
    return time.time() - path.stat().st_mtime > _ABANDONED_SECONDS


def sync(path: Path, flags: int = os.O_RDWR) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable, if the platform and the file system support it."""
    if sys.platform == "win32":
        return
    try:
        sync(folder, os.O_RDONLY)
    except OSError as error:  # some network and user-space file systems cannot sync a folder
        if error.errno == errno.EIO:
            raise


_sweep_once = cache(sweep_parts)


@cache
def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:6]
