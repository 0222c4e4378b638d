"""Files of voices as they are sent to another computer."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from studio.errors import UnreadableClip
from studio.storage.disk import require_regular_file

_MAX_KNOWN = 1024


def clip_sha256(clip: Path) -> str:
    """Return the SHA-256 of a clip, computed once for each version of the file. Raise ``UnreadableClip``."""
    try:
        require_regular_file(clip)
        facts = clip.stat()
        return _sha256(clip, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be read ({reason}).", remedy="Add the voice again.", file=clip.name, reason=error
        ) from error


@lru_cache(_MAX_KNOWN)
def _sha256(clip: Path, _size: int, _modified: int) -> str:
    with clip.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
