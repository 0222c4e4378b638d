"""Small files that are there completely or not at all: written beside, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from studio.storage.disk import disk_errors
from studio.wording import wording


def atomic_write(path: Path, content: bytes) -> None:
    """Puts ``content`` under ``path``, whose folder is made. Raises ``DiskFull`` and ``CannotWrite``; what was there stays."""
    target = path.resolve()  # through a link, not in its place
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    if_full = wording("Free some space and try again.")
    with disk_errors(path, if_full=if_full, if_refused=wording("Check the permissions of its folder.")):
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
