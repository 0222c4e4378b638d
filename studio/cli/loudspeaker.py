"""Plays speech while it is synthesised, on its own thread."""

from __future__ import annotations

import asyncio
import threading
import time
from queue import SimpleQueue

from studio.audio.buffered_output import BufferedOutput
from studio.audio.output_device import OpenOutput
from studio.pipeline.request import AudioChunk


class Loudspeaker:
    """``add`` and ``stop`` may be called from any thread while ``listen`` is awaited."""

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
        """Start playback; called when it can continue without gaps. ``complete`` starts it too."""
        self._may_start.set()

    def complete(self) -> None:
        """Declare that no chunk follows."""
        self._chunks.put(None)
        self._may_start.set()

    def stop(self) -> None:
        """Stop playback at once."""
        self._is_stopped.set()
        self.complete()
        if self._player is not None:
            self._player.stop()

    async def listen(self) -> None:
        """Play until the end or ``stop``. Raises ``NoAudioDevice``."""
        try:
            await asyncio.to_thread(self._play)
        except asyncio.CancelledError:
            self.stop()
            raise

    def _play(self) -> None:
        # Opening the device takes up to 300 ms and overlaps with the synthesis of the first chunk.
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
