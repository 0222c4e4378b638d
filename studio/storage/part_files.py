"""Names of unfinished files, by which those of a program that died are found and removed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
from functools import cache
from pathlib import Path

_NAME = re.compile(r"\..+\.(?P<host>[0-9a-f]{6})-(?P<process>\d+)-[0-9a-f]+\.part")


def part_name(name: str) -> str:
    """A hidden name beside ``name`` that tells which process of which computer writes the file."""
    return f".{name}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"


def sweep_parts(folder: Path) -> None:
    """Remove unfinished files in ``folder`` whose process on this computer has ended."""
    import psutil  # noqa: PLC0415 - only where there is something to sweep

    with contextlib.suppress(OSError):
        for path in folder.glob(".*.part"):
            match = _NAME.fullmatch(path.name)
            if match and match["host"] == _host() and not psutil.pid_exists(int(match["process"])):
                path.unlink(missing_ok=True)


@cache
def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:6]
