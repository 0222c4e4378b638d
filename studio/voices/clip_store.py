"""Store of the clip files of the voice library. Files are written atomically."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from studio.errors import UnreadableClip
from studio.storage.atomic_file import atomic_file
from studio.storage.disk import require_regular_file

_BLOCK_BYTES = 1 << 20
# The minimum age of a file to be removed as an orphan. Another process may be using a newer file.
_ORPHAN_AGE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class StoredClip:
    """A file of the store and its hash in hexadecimal digits."""

    file_name: str
    sha256: str


class ClipStore:
    """A folder of clips under random names. Raises ``DiskFull``, ``CannotWrite``, ``UnreadableClip``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, file_name: str) -> Path:
        return self._folder / file_name

    def copy(self, source: Path) -> StoredClip:
        """Copy ``source`` into the store."""
        try:
            require_regular_file(source)
            with source.open("rb") as file:
                return self.put(file, source.suffix)
        except FileNotFoundError as error:
            raise UnreadableClip(
                "There is no file {path}.", remedy="Check the spelling of its name and folder.", path=source
            ) from error
        except OSError as error:
            raise UnreadableClip(
                "{file} cannot be read ({reason}).",
                remedy="Check the permissions of the file.",
                file=source.name,
                reason=error,
            ) from error

    def put(self, content: BinaryIO, suffix: str) -> StoredClip:
        """Store the bytes of ``content`` as a file with ``suffix``."""
        path = self._folder / f"{secrets.token_hex(8)}{suffix.lower()}"
        digest = hashlib.sha256()
        with atomic_file(path) as file:
            while block := content.read(_BLOCK_BYTES):
                digest.update(block)
                file.write(block)
        return StoredClip(path.name, digest.hexdigest())

    def remove(self, file_name: str) -> None:
        # Windows does not remove a file that is open. The next sweep removes it.
        with contextlib.suppress(OSError):
            (self._folder / file_name).unlink()

    def sweep(self, kept: Collection[str]) -> None:
        """Remove files that are not in ``kept``. A crash may have left them; recent files are not removed."""
        newest = time.time() - _ORPHAN_AGE_SECONDS
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.name not in kept and path.stat().st_mtime < newest:
                    self.remove(path.name)
