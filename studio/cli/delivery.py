"""Destination of the audio of a request: ``-o``, ``--play``, or by default the sound device; without one, a file."""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studio.audio.files import AudioWriter
from studio.audio.output_device import AudioOutputs
from studio.audio.player import PlaybackEnd, Player, StreamingAudio
from studio.cli.command_context import CommandContext
from studio.cli.pipe_writer import STANDARD_OUTPUT, PipeWriter
from studio.cli.progress import ProgressLine
from studio.cli.signing import add_signing_options
from studio.errors import NoAudioDevice, StudioError, UnusableSetting
from studio.pipeline.request import AudioChunk, EngineDescription, SynthesisReport
from studio.provenance.mark import Marker
from studio.provenance.statement import AudioHash
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

_DEFAULT_FILE = Path("timbre.wav")
# Shorter waits are not announced.
_NOTICEABLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Destination:
    path: Path | None
    is_played: bool
    is_fallback: bool = False  # the file was chosen by default, so its name is printed together with the reason
    is_raw: bool = False
    mark_code: str = ""  # of the mark that the file gets, and what is played does not; empty: none

    @property
    def is_final(self) -> bool:
        """Whether audio cannot be replaced by another take: it is played, or written to a pipe."""
        return self.is_played or self.path == STANDARD_OUTPUT

    def open_writer(self, sample_rate: int) -> AudioWriter | PipeWriter | None:
        """Return the writer of the file or pipe. Raise ``CannotWrite``, ``DiskFull``."""
        if self.path == STANDARD_OUTPUT:
            return PipeWriter(sample_rate, "pcm" if self.is_raw else "wav")
        if self.path is None:
            return None
        return AudioWriter(
            self.path, sample_rate, process=Marker(sample_rate, code=self.mark_code) if self.mark_code else None
        )


def add_destination_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("destination", f"default: the sound device, or {_DEFAULT_FILE} if there is none")
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write a .wav, .flac, .ogg or .mp3 file; - writes WAV to standard output while it is synthesised",
    )
    group.add_argument("--raw", action="store_true", help="with -o -: 16-bit samples without a header")
    group.add_argument(
        "--play", action="store_true", help="play it as soon as playback can continue without interruption"
    )
    group.add_argument("--json", action="store_true", help="print one JSON object with all measurements")
    add_signing_options(group)


def choose_destination(arguments: argparse.Namespace, command_context: CommandContext) -> Destination:
    """Choose and check the destination before any work is done.

    Raise ``NoAudioDevice``, ``CannotWrite``, ``DiskFull``, ``UnusableSetting``.
    """
    if arguments.output == STANDARD_OUTPUT:
        _require_pipe(arguments)
    elif arguments.raw:
        raise UnusableSetting("--raw needs -o -.", remedy="Add it, or omit --raw.")
    elif arguments.output is not None:
        _require_writable(arguments.output)
    if arguments.play:
        command_context.require_sound_card()
    if arguments.output is not None or arguments.play:
        return Destination(arguments.output, arguments.play, is_raw=arguments.raw)
    if command_context.has_sound_card():
        return Destination(None, is_played=True)
    path = _unused_path(_DEFAULT_FILE)
    _require_writable(path)
    return Destination(path, is_played=False, is_fallback=True)


def _require_pipe(arguments: argparse.Namespace) -> None:
    if arguments.json:
        raise UnusableSetting(
            "Standard output cannot contain both audio and JSON.", remedy="Write the audio to a file, or omit --json."
        )
    if sys.stdout.isatty():
        raise UnusableSetting(
            "Standard output is a terminal, which cannot show audio.",
            remedy="Pipe it to a program, or redirect it to a file: timbre say … -o - | aplay",
        )


def _require_writable(path: Path) -> None:
    AudioWriter(path, 24_000).discard()


def _unused_path(path: Path) -> Path:
    """Return the first of ``path``, ``name-2``, ``name-3`` … that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem}-{number}")
    return candidate


@dataclass(frozen=True, slots=True)
class OutputResult:
    """Result of a request. Seconds count from its start, after the model was loaded."""

    report: SynthesisReport
    output: Path | None
    promised_start_seconds: float | None = None  # start of playback, as predicted after the first chunk
    play_start_seconds: float | None = None
    num_underruns: int | None = None
    audio_sha256: str = ""


class OutputSink:
    """Writes the audio of one request to a file, plays it, or both, and shows its progress."""

    def __init__(
        self,
        destination: Destination,
        description: EngineDescription,
        command_context: CommandContext,
        line: ProgressLine,
    ) -> None:
        rate = description.sample_rate
        self._path = destination.path
        self._outputs: AudioOutputs | None = command_context.outputs if destination.is_played else None
        self._line = line
        self._audio = StreamingAudio(rate)
        self._player: Player | None = None
        self._device_error: StudioError | None = None
        self._playback_error: StudioError | None = None
        self._writer = destination.open_writer(rate)
        # Audio is written on the connection's reading thread; the file is closed on another thread.
        self._writer_lock = threading.Lock()
        self._audio_seconds = 0.0
        self._audio_hash = AudioHash()
        self._promise: StartTime | None = None
        self._start_timer: asyncio.TimerHandle | None = None

    async def deliver(self, begin: Callable[[Callbacks], RequestHandle]) -> OutputResult:
        """Start the request and wait for its end. A failure stops playback and leaves no partial file."""
        begun = time.monotonic()
        listening: asyncio.Task[None] | None = None
        if self._outputs is not None:
            self._player = Player(
                self._audio, self._outputs, on_device_lost=self._on_device_lost, on_end=self._on_playback_end
            )
            listening = asyncio.create_task(asyncio.to_thread(self._player.wait))
        request = begin(Callbacks(self._take, self._line.stage, self._announce))
        if listening is not None:
            # If playback fails, the rest of the speech is not needed.
            listening.add_done_callback(lambda _: request.cancel())
        try:
            report = await request.finished()
            self._audio.complete()
            if self._player is not None and listening is not None:
                self._player.allow_start()
                self._line.show("playing")
                await listening
            if self._playback_error is not None:
                raise self._playback_error
            assert report is not None, "a request is cancelled only if playback fails, which raises"
            await asyncio.to_thread(self._end_file, is_complete=True)
        finally:
            self._line.clear()
            request.cancel()
            self._end_file(is_complete=False)
            if self._player is not None and listening is not None:
                self._player.stop()
                await asyncio.wait([listening])
        started = self._player.started if self._player else None
        return OutputResult(
            report=report,
            output=self._path,
            promised_start_seconds=self._promise.seconds_after_start if self._promise else None,
            play_start_seconds=started - begun if started is not None else None,
            num_underruns=self._player.num_underruns if self._player else None,
            audio_sha256=self._audio_hash.hexdigest(),
        )

    def _take(self, chunk: AudioChunk) -> None:
        """Write and play a chunk. Called on the connection's reading thread."""
        with self._writer_lock:
            if self._writer is not None:
                self._writer.write(chunk.samples)
                self._audio_hash.add(chunk.samples)
        if self._player is not None:
            self._audio.append(chunk.samples)
        self._audio_seconds += chunk.seconds
        self._line.spoken(self._audio_seconds, chunk.sentence_index + 1, chunk.num_sentences)

    def _end_file(self, *, is_complete: bool) -> None:
        """Close or discard the file, if this was not done before."""
        with self._writer_lock:
            writer, self._writer = self._writer, None
            if writer is not None:
                (writer.close if is_complete else writer.discard)()

    def _announce(self, start: StartTime) -> None:
        """Schedule playback by the latest prediction, and print the first one."""
        if self._promise is None:
            self._promise = start
        if self._player is None:
            return
        loop = asyncio.get_running_loop()
        wait_seconds = start.loop_time - loop.time()
        if self._start_timer is not None:
            self._start_timer.cancel()
        elif wait_seconds > _NOTICEABLE_SECONDS:
            self._line.say(f"about {wait_seconds:.0f} s until playback can start without gaps")
        self._start_timer = loop.call_at(start.loop_time, self._player.allow_start)

    def _on_device_lost(self, _player: Player, error: StudioError) -> None:
        self._device_error = error

    def _on_playback_end(self, _player: Player, end: PlaybackEnd) -> None:
        if end is PlaybackEnd.NO_DEVICE:
            self._playback_error = self._device_error or NoAudioDevice(
                "Playback failed.", remedy="The log file contains the reason. Try again, or write to a file."
            )
