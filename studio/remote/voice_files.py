"""Files of voices as they are sent to another computer."""

from __future__ import annotations

import hashlib
from pathlib import Path

from studio.errors import UnreadableClip
from studio.storage.disk import require_regular_file


class VoiceHashes:
    """SHA-256 of voice files, computed once for each version of a file."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, int, int], str] = {}

    def of(self, clip: Path) -> str:
        """Return the hash of a file. Raise ``UnreadableClip``."""
        try:
            require_regular_file(clip)
            facts = clip.stat()
            key = (clip, facts.st_size, facts.st_mtime_ns)
            if key not in self._known:
                with clip.open("rb") as file:
                    self._known[key] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise UnreadableClip(
                "{file} cannot be read ({reason}).", remedy="Add the voice again.", file=clip.name, reason=error
            ) from error
        return self._known[key]
