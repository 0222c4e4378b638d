"""Disks that are full, places that may not be written: sentences instead of numbers."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DiskFull
from studio.wording import Wording


def write_error(error: OSError, path: Path, *, if_full: Wording, if_refused: Wording) -> DiskFull | CannotWrite:
    """What a person is told when ``path`` cannot be written; the last two say what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("The disk is full: {file} could not be written.", remedy=if_full, file=path.name)
    return CannotWrite("{path} cannot be written ({reason}).", remedy=if_refused, path=path, reason=error)


@contextlib.contextmanager
def writing(path: Path, *, if_full: Wording, if_refused: Wording) -> Iterator[None]:
    """Turns the system's errors into ``DiskFull`` and ``CannotWrite`` about ``path``."""
    try:
        yield
    except OSError as error:
        raise write_error(error, path, if_full=if_full, if_refused=if_refused) from error
