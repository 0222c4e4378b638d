"""Writes speech to a file while it is synthesised. The file appears under its name only when complete."""

from __future__ import annotations

import threading
from pathlib import Path

from studio.audio.files import AudioWriter
from studio.pipeline.request import AudioChunk


class Recording:
    """Written on the connection's reading thread, completed or discarded on another."""

    def __init__(self, path: Path, sample_rate: int) -> None:
        self._writer = AudioWriter(path, sample_rate)
        self._lock = threading.Lock()
        self._is_over = False

    def add(self, chunk: AudioChunk) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        with self._lock:
            if not self._is_over:
                self._writer.write(chunk.samples)

    def complete(self) -> None:
        """Raises ``DiskFull`` and ``CannotWrite``."""
        with self._lock:
            self._is_over = True
            self._writer.close()

    def discard(self) -> None:
        """Delete the file, unless it is complete."""
        with self._lock:
            if not self._is_over:
                self._is_over = True
                self._writer.discard()


def require_writable(path: Path) -> None:
    """Raises ``CannotWrite`` or ``DiskFull`` before any work is done."""
    AudioWriter(path, 24_000).discard()


def free_path(path: Path) -> Path:
    """Return the first of ``path``, ``name-2``, ``name-3`` … that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem}-{number}")
    return candidate
