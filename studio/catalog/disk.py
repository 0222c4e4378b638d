"""Disk space for models: sizes as text, free space, and errors that name the file."""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from studio.errors import DiskFull
from studio.messages import Message, wording
from studio.storage import disk

_SPARE_BYTES = 256 << 20  # left free for the rest of the system
_MEGABYTE, _GIGABYTE = 1e6, 1e9  # decimal, as model hubs and disk vendors count
_MIN_IN_GIGABYTES = 0.1 * _GIGABYTE
_KEEP_ELSEWHERE = wording("Free some space, or keep models on a larger disk (Settings, Models).")


def in_gigabytes(num_bytes: int) -> str:
    """Return a size such as ``3.09 GB``, or in MB below 0.1 GB."""
    if num_bytes < _MIN_IN_GIGABYTES:
        return f"{num_bytes / _MEGABYTE:.0f} MB"
    return f"{num_bytes / _GIGABYTE:.2f} GB"


def free_bytes(folder: Path) -> int:
    """Return the free space on the disk of ``folder``, which need not exist; 0 for a disk that was removed."""
    place = next((place for place in (folder, *folder.absolute().parents) if os.path.exists(place)), None)
    return shutil.disk_usage(place).free if place else 0


def require_free_space(folder: Path, num_bytes: int, *, what: str, remedy: Message = _KEEP_ELSEWHERE) -> None:
    """Raise ``DiskFull`` now rather than after hours of downloading."""
    free = free_bytes(folder)
    if num_bytes and num_bytes + _SPARE_BYTES > free:
        raise DiskFull(
            "{what} needs {needed} of disk space, but only {free} are free in {folder}.",
            remedy=remedy,
            what=what,
            needed=in_gigabytes(num_bytes + _SPARE_BYTES),
            free=in_gigabytes(free),
            folder=folder,
        )


def writing(path: Path) -> AbstractContextManager[None]:
    """Translate ``OSError`` in the block into ``DiskFull`` or ``CannotWrite`` about ``path``."""
    return disk.disk_errors(
        path,
        if_full=wording("Free some space and start again; downloaded data is kept."),
        if_refused=wording("Check the permissions of its folder."),
    )
