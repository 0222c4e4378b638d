"""Speech heard while it is made: played on a thread of its own, from the moment it need not pause any more."""

from __future__ import annotations

import asyncio
import threading
import time
from queue import SimpleQueue

from studio.audio.buffered_output import BufferedOutput
from studio.audio.output_device import OpenOutput
from studio.pipeline.request import AudioChunk


class Loudspeaker:
    """``add`` and ``stop`` may be called from any thread; ``listen`` is awaited meanwhile."""

    def __init__(self, sample_rate: int, open_output: OpenOutput) -> None:
        self._sample_rate = sample_rate
        self._open_output = open_output
        self._chunks: SimpleQueue[AudioChunk | None] = SimpleQueue()
        self._may_start = threading.Event()
        self._is_stopped = threading.Event()
        self._player: BufferedOutput | None = None
        self.started: float | None = None
        self.num_underruns = 0

    def add(self, chunk: AudioChunk) -> None:
        self._chunks.put(chunk)

    def start(self) -> None:
        """From now on play can go on without a gap. (Complete speech starts by itself.)"""
        self._may_start.set()

    def complete(self) -> None:
        """No chunk follows."""
        self._chunks.put(None)
        self._may_start.set()

    def stop(self) -> None:
        """Silence at once."""
        self._is_stopped.set()
        self.complete()
        if self._player is not None:
            self._player.stop()

    async def listen(self) -> None:
        """Returns when all has been heard, or ``stop`` was called. Raises ``NoAudioDevice``."""
        try:
            await asyncio.to_thread(self._play)
        except asyncio.CancelledError:
            self.stop()
            raise

    def _play(self) -> None:
        # Opening takes up to 300 ms: it happens while the first sound is being made.
        with BufferedOutput(self._sample_rate, open_output=self._open_output) as player:
            self._player = player
            self._may_start.wait()
            if self._is_stopped.is_set():
                player.stop()
                return
            self.started = time.monotonic()
            while not self._is_stopped.is_set() and (chunk := self._chunks.get()) is not None:
                player.play(chunk.samples)
            if self._is_stopped.is_set():
                player.stop()
        self.num_underruns = player.num_underruns
