"""Disk errors of an export."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from studio.messages import wording
from studio.storage import disk


def writing(path: Path) -> AbstractContextManager[None]:
    """Translate ``OSError`` in the block into ``DiskFull`` or ``CannotWrite`` about ``path``."""
    return disk.disk_errors(
        path,
        if_full=wording("Free some space and export again; finished files are kept."),
        if_refused=wording("Choose another folder, or change its permissions."),
    )
