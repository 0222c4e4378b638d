"""Small files that are there completely or not at all: written beside, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from studio.errors import CannotWrite, DiskFull


def write_whole(path: Path, content: bytes) -> None:
    """Puts ``content`` under ``path``, whose folder is made. Raises ``DiskFull`` and ``CannotWrite``; what was there stays."""
    target = path.resolve()  # through a link, not in its place
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                "The disk is full: {file} could not be written.",
                remedy="Free some space and try again.",
                file=path.name,
            ) from error
        raise CannotWrite(
            "{path} cannot be written ({reason}).",
            remedy="Check the permissions of its folder.",
            path=path,
            reason=error,
        ) from error
