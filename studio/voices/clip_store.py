"""Store of the clip files of the voice library. Files are written atomically."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Set
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

    def copy_by_hash(self, source: Path) -> str:
        """Copy ``source`` into the store under its hash, and return the hash."""
        return self._named_by_hash(self.copy(source))

    def put_by_hash(self, content: BinaryIO, suffix: str) -> str:
        """Store ``content`` as a file named by its hash, and return the hash."""
        return self._named_by_hash(self.put(content, suffix))

    def _named_by_hash(self, stored: StoredClip) -> str:
        path = self.path(stored.file_name)
        path.replace(path.with_stem(stored.sha256))
        return stored.sha256

    def find_by_hash(self, sha256: str) -> Path | None:
        """Return the file that was copied with this hash, or None if it is gone."""
        return next(self._folder.glob(f"{sha256}*"), None)

    def remove(self, file_name: str) -> None:
        # Windows does not remove a file that is open. The next sweep removes it.
        with contextlib.suppress(OSError):
            (self._folder / file_name).unlink()

    def sweep(self, kept: Set[str]) -> None:
        """Remove files whose names or hashes are not in ``kept``, as after a crash. Recent files are not removed."""
        newest = time.time() - _ORPHAN_AGE_SECONDS
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if kept.isdisjoint((path.name, path.stem)) and path.stat().st_mtime < newest:
                    self.remove(path.name)
