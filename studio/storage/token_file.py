"""Files with a token, which only their owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from studio.errors import UnusableSetting
from studio.messages import message
from studio.storage.atomic_file import atomic_path
from studio.storage.disk import disk_errors


def read_token(path: Path) -> str | None:
    """Return the token in ``path``, or None if the file is empty or missing.

    Raise ``UnusableSetting`` if other users can read it, or if it is not a token.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        token = path.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableSetting(
            "The token file {path} cannot be used ({reason}).",
            remedy="Check the file, or name another one.",
            path=path,
            reason=error,
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise UnusableSetting(
            "Other users can read the token file {path}.", remedy="Restrict it: chmod 600 {path}.", path=path
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UnusableSetting(
            "The token in {path} contains characters that tokens do not have.",
            remedy="Use letters, digits and signs, without spaces, on one line.",
            path=path,
        )
    return token or None


def write_token(path: Path, token: str) -> None:
    """Write the token into a file that only this user can read, or delete the file if ``token`` is empty.

    Raise ``DiskFull`` or ``CannotWrite``.
    """
    if_refused = message("Check the permissions of its folder.")
    with disk_errors(path, if_full=message("Free some space and try again."), if_refused=if_refused):
        if not token:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a replaced file would keep its permissions
        with atomic_path(path) as part:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(token + "\n")
