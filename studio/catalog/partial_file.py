"""A file that is being downloaded: as much of it as is safe on the disk, and what it will have to equal.

Beside ``llm.pt.part`` lies ``llm.pt.part.json``, which says how much of it had reached the disk for certain and
which version of the file it is a part of (its ETag). What a loss of power left behind that is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from studio.catalog.cancellation import CancelToken
from studio.catalog.disk import writing
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json

_SYNC_SECONDS = 3.0
_READ_BYTES = 1 << 20


class PartialFile:
    """Open for as long as one program receives it."""

    def __init__(self, target: Path) -> None:
        """Raises ``DiskFull``, ``CannotWrite``."""
        self.target = target
        self.etag = ""
        self._path = target.with_name(f"{target.name}.part")
        self._state_path = target.with_name(f"{target.name}.part.json")
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("r+b" if self._path.exists() else "x+b")
            self.num_bytes = self._begin()
        self._sha256 = hashlib.sha256()
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Whatever happened, what was received stays."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                self._sync()
            self._file.close()

    def hash_existing(self, stop: CancelToken, on_bytes: Callable[[int], None]) -> None:
        """Its sum is needed at the end. Raises ``Stopped``."""
        self._sha256 = hashlib.sha256()
        self._file.seek(0)
        read = 0
        while read < self.num_bytes and (content := self._file.read(min(_READ_BYTES, self.num_bytes - read))):
            stop.check()
            self._sha256.update(content)
            read += len(content)
            on_bytes(read)
        self.num_bytes = read

    def append(self, content: bytes) -> None:
        """Raises ``DiskFull``, ``CannotWrite``."""
        with writing(self.target):
            self._file.write(content)
            self.num_bytes += len(content)
            self._sha256.update(content)
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                self._sync()

    def restart(self, etag: str = "") -> None:
        """From nothing, as a part of another version."""
        with writing(self.target):
            self._file.seek(0)
            self._file.truncate()
            self.num_bytes, self.etag = 0, etag
            self._sha256 = hashlib.sha256()
            self._sync()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def git_sha1(self) -> str:
        """Git's name for the content: for small files only, it is read again."""
        self._file.seek(0)
        content = self._file.read()
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()

    def complete(self) -> None:
        """Takes its name. Raises ``DiskFull``, ``CannotWrite``."""
        with writing(self.target):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._path.replace(self.target)
            self._state_path.unlink(missing_ok=True)

    def _begin(self) -> int:
        size = self._file.seek(0, os.SEEK_END)
        try:
            state = read_json(self._state_path)
            safe_bytes, self.etag = max(0, int(state["num_bytes"])), str(state["etag"])
        except (OSError, ValueError, KeyError, TypeError):
            safe_bytes = 0
        kept = min(size, safe_bytes)
        self._file.truncate(kept)
        return kept

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        atomic_write(self._state_path, json.dumps({"num_bytes": self.num_bytes, "etag": self.etag}).encode())
        self._synced = time.monotonic()


def downloaded_bytes(target: Path) -> int:
    """How much of ``target`` is there, complete or not; takes no longer than looking."""
    for path in (target, target.with_name(f"{target.name}.part")):
        with contextlib.suppress(OSError):
            return path.stat().st_size
    return 0
