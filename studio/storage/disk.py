"""Disk errors as messages, free space, and the check that a path is a regular file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from studio.errors import CannotWrite, DiskFull
from studio.messages import Message


class NotRegularFile(OSError):
    """Raised for a pipe, socket or device where a file is expected."""

    reason = Message("it is not an ordinary file")  # a translatable clause for messages


def require_regular_file(path: Path) -> None:
    """Raise ``OSError`` unless ``path`` is a regular file or a link to one.

    Call this before opening a file that the user or another program put there: opening a named pipe blocks until
    something writes to it, and a device may never end. The error is ``FileNotFoundError`` for a missing file,
    ``IsADirectoryError`` for a folder and ``NotRegularFile`` otherwise, so an ``except OSError`` around the code
    that reads the file handles it.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise NotRegularFile(errno.EINVAL, str(NotRegularFile.reason), str(path))


def free_bytes(folder: Path) -> int:
    """Return the free space on the disk of ``folder``, which need not exist; 0 for a disk that was removed."""
    existing = next((path for path in (folder, *folder.absolute().parents) if os.path.exists(path)), None)
    return shutil.disk_usage(existing).free if existing else 0


def write_error(error: OSError, path: Path, *, if_full: Message, if_refused: Message) -> DiskFull | CannotWrite:
    """Return the error for a failed write to ``path``. The remedy depends on whether the disk is full."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("The disk is full: {file} could not be written.", remedy=if_full, file=path.name)
    return CannotWrite("{path} cannot be written ({reason}).", remedy=if_refused, path=path, reason=error)


@contextlib.contextmanager
def disk_errors(path: Path, *, if_full: Message, if_refused: Message) -> Iterator[None]:
    """Translate ``OSError`` in the block into ``DiskFull`` or ``CannotWrite`` about ``path``."""
    try:
        yield
    except OSError as error:
        raise write_error(error, path, if_full=if_full, if_refused=if_refused) from error
