"""Audio on standard output, for a player or an encoder."""

from __future__ import annotations

import queue
import sys
import threading
from pathlib import Path

from studio.audio.resampling import Samples
from studio.serve.encoders import new_encoder

STANDARD_OUTPUT = Path("-")


class PipeWriter:
    """Writes audio in a format of ``studio.serve.encoders`` to standard output.

    A thread writes, because a player reads no faster than it plays.
    """

    def __init__(self, sample_rate: int, format_name: str) -> None:
        self._encoder = new_encoder(format_name, sample_rate)
        self._blocks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="standard-output", daemon=True)
        self._thread.start()

    def write(self, samples: Samples) -> None:
        """Write ``samples`` of shape (n,). Raise ``BrokenPipeError`` if the reader has ended."""
        if self._error is not None:
            raise self._error
        self._blocks.put(self._encoder.encode(samples))

    def close(self) -> None:
        """Wait until everything is written. Raise ``BrokenPipeError`` if the reader has ended."""
        self._blocks.put(self._encoder.finish())
        self._blocks.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def discard(self) -> None:
        """Write nothing more."""
        self._blocks.put(None)

    def _run(self) -> None:
        try:
            while (block := self._blocks.get()) is not None:
                sys.stdout.buffer.write(block)
                sys.stdout.buffer.flush()
        except OSError as error:
            self._error = error
