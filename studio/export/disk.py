"""Disks that are full, folders that may not be written: sentences instead of numbers."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DiskFull


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the system's errors into ``DiskFull`` and ``CannotWrite`` about ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                "The disk is full: {file} could not be written.",
                remedy="Free some space and export again: what is done stays.",
                file=path.name,
            ) from error
        raise CannotWrite(
            "{path} cannot be written ({reason}).",
            remedy="Choose another folder, or allow writing there.",
            path=path,
            reason=error,
        ) from error
