"""Writes or plays the audio of one request and shows its progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studio.cli.command_context import CommandContext
from studio.cli.destination import Destination
from studio.cli.loudspeaker import Loudspeaker
from studio.cli.progress import ProgressLine
from studio.cli.recording import Recording
from studio.pipeline.request import AudioChunk, EngineDescription, SynthesisReport
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

# Shorter waits are not announced.
_NOTICEABLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class OutputResult:
    """Result of a request. Seconds count from its start, with the model loaded.

    ``promised_start_seconds``: the start of playback that was predicted after the first chunk.
    """

    report: SynthesisReport
    output: Path | None
    promised_start_seconds: float | None = None
    play_start_seconds: float | None = None
    num_underruns: int | None = None


class OutputSink:
    """The outputs of one request: a file, the loudspeaker, or both."""

    def __init__(
        self,
        destination: Destination,
        description: EngineDescription,
        command_context: CommandContext,
        line: ProgressLine,
    ) -> None:
        self._destination = destination
        self._line = line
        rate = description.sample_rate
        self._loudspeaker = Loudspeaker(rate, command_context.open_output) if destination.is_played else None
        self._recording = Recording(destination.path, rate) if destination.path else None
        self._audio_seconds = 0.0
        self._promise: StartTime | None = None
        self._start_timer: asyncio.TimerHandle | None = None

    async def deliver(self, begin: Callable[[Callbacks], RequestHandle]) -> OutputResult:
        """Start the request and wait for its end. A failure stops playback and leaves no partial file."""
        begun = time.monotonic()
        listening = asyncio.create_task(self._loudspeaker.listen()) if self._loudspeaker else None
        speech = begin(Callbacks(self._take, self._line.stage, self._announce))
        if listening:
            # If playback fails, the rest of the speech is not needed.
            listening.add_done_callback(lambda _: speech.cancel())
        try:
            report = await speech.finished()
            if self._loudspeaker and listening:
                self._loudspeaker.complete()
                self._line.show("playing")
                await listening
            assert report is not None, "a request is cancelled only if playback fails, which raises"
            if self._recording:
                await asyncio.to_thread(self._recording.complete)
        finally:
            self._line.clear()
            speech.cancel()
            if self._recording:
                self._recording.discard()
            if self._loudspeaker and listening:
                self._loudspeaker.stop()
                await asyncio.wait([listening])
        started = self._loudspeaker.started if self._loudspeaker else None
        return OutputResult(
            report=report,
            output=self._destination.path,
            promised_start_seconds=self._promise.seconds_after_start if self._promise else None,
            play_start_seconds=started - begun if started is not None else None,
            num_underruns=self._loudspeaker.num_underruns if self._loudspeaker else None,
        )

    def _take(self, chunk: AudioChunk) -> None:
        """Called on the connection's reading thread."""
        if self._recording:
            self._recording.add(chunk)
        if self._loudspeaker:
            self._loudspeaker.add(chunk)
        self._audio_seconds += chunk.seconds
        self._line.spoken(self._audio_seconds, chunk.sentence_index + 1, chunk.num_sentences)

    def _announce(self, start: StartTime) -> None:
        """Schedule playback by the latest estimate; print the first one."""
        loop = asyncio.get_running_loop()
        wait_seconds = start.loop_time - loop.time()
        if self._promise is None and self._loudspeaker and wait_seconds > _NOTICEABLE_SECONDS:
            self._line.say(f"about {wait_seconds:.0f} s until playback can start without gaps")
        self._promise = self._promise or start
        if self._start_timer:
            self._start_timer.cancel()
        if self._loudspeaker:
            self._start_timer = loop.call_at(start.loop_time, self._loudspeaker.start)
