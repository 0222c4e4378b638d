"""Part file of a download that survives a power cut.

``llm.pt.part.json`` beside ``llm.pt.part`` holds the number of bytes that were synced to disk and the version (ETag)
they belong to. Bytes beyond that number are not trusted and are cut off when the download resumes.
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
    """An open part file. Received bytes stay when it is closed."""

    def __init__(self, target: Path) -> None:
        """Open or create the part file of ``target``. Raise ``DiskFull``, ``CannotWrite``."""
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

        if not self._file.closed:
            with contextlib.suppress(OSError):
                self._sync()
            self._file.close()

    def hash_existing(self, stop: CancelToken, on_bytes: Callable[[int], None]) -> None:
        """Hash the existing bytes, for the checksum at the end. Raise ``DownloadCancelled``."""
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
        """Write ``content``. Raise ``DiskFull``, ``CannotWrite``."""
        with writing(self.target):
            self._file.write(content)
            self.num_bytes += len(content)
            self._sha256.update(content)
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                self._sync()

    def restart(self, etag: str = "") -> None:
        """Discard all bytes and begin again with the version ``etag``."""
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
        """Return git's blob id of the content. Reads the whole file into memory."""
        self._file.seek(0)
        content = self._file.read()
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()

    def complete(self) -> None:
        """Sync to disk and rename to ``target``. Raise ``DiskFull``, ``CannotWrite``."""
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
    """Return the size of ``target`` or of its part file; 0 if neither exists."""
    for path in (target, target.with_name(f"{target.name}.part")):
        with contextlib.suppress(OSError):
            return path.stat().st_size
    return 0
