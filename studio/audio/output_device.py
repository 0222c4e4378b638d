"""Output devices: streams that request samples through a callback, and the buffer that feeds one of them.

PortAudio is loaded on demand: without it or without a sound card, speech can still be written to files.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any, Protocol

import numpy as np
import soxr

from studio.audio.portaudio import LATENCY_SECONDS, RunningStream, device_names, load_portaudio, rescan_devices
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice
from studio.messages import Message, message

_log = logging.getLogger(__name__)

# Fills the whole array. The flag is True if the device has underrun since the last call.
FillCallback = Callable[[Samples, bool], None]
MAX_BUFFER_SECONDS = 1.2
# Samples that may be buffered before ``play`` blocks.
_CAPACITY_SECONDS = 600.0
_FADE_SECONDS = 0.01
# Amount buffered before playback resumes after a dropout. It is doubled after every dropout, because a few long
# pauses are easier to follow than stuttering.
_REFILL_SECONDS = 0.5
_MAX_REFILL_SECONDS = 4.0
# Devices drop up to their latency of queued samples when they close (seen with ALSA on PulseAudio).
_TAIL_MARGIN_SECONDS = 0.1
_MAX_FADE_WAIT_SECONDS = 0.3
_TICK_SECONDS = 0.1
_DEAD_AFTER_TICKS = 50
# Two underruns within this much audio enlarge the device's buffer.
_UNDERRUN_WINDOW_SECONDS = 30.0
# Longest wait until the rest is played: a multiple of its duration, but at least this many seconds.
_DRAIN_TIMEOUT_FACTOR = 4.0
_MIN_DRAIN_TIMEOUT_SECONDS = 20.0


class OutputStream(Protocol):
    """Running output device. It calls its ``FillCallback`` on its own thread."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def latency_seconds(self) -> float:
        """Delay between filling in a sample and hearing it."""
        ...

    @property
    def is_running(self) -> bool:
        """False once the device is disconnected."""
        ...

    def close(self) -> None:
        """Stop at once and drop the samples that are queued in the device."""
        ...


# Opens a device with the requested sample rate, callback, and buffer length in seconds.
OpenOutput = Callable[[int, FillCallback, float], OutputStream]


@dataclass(slots=True)
class LatencyPolicy:
    """Length of the device's buffer, kept for the whole session.

    With ALSA on PulseAudio each underrun blocks the device for one to two seconds, so a buffer that is too short
    causes long gaps.
    """

    seconds: float = LATENCY_SECONDS

    def grow(self) -> bool:
        """Double the buffer. Return False if stopping and the cursor would then lag too far behind."""
        if 2 * self.seconds > MAX_BUFFER_SECONDS:
            return False
        self.seconds *= 2
        return True


class AudioOutputs(Protocol):
    """The output devices of a computer. Thread-safe. Tests use simulated devices."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the devices, without the system default."""
        ...

    def rescan(self) -> None:
        """Update the list of devices. This may take half a second."""
        ...

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        """Open a device by its name, or the system default for None. Raise ``NoAudioDevice``.

        The stream is mono, and has the given sample rate if the device supports it.
        """
        ...


class PortAudioOutputs:
    """``AudioOutputs`` implemented with PortAudio."""

    def names(self) -> tuple[str, ...]:
        return device_names("output")

    def rescan(self) -> None:
        rescan_devices()

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        sounddevice = load_portaudio()
        try:
            return _PortAudioOutput(device, sample_rate, fill, buffer_seconds)
        except sounddevice.PortAudioError as error:
            reason = error.args[0]
            if device is not None:
                raise NoAudioDevice(
                    "The output device {device} is not available ({reason}).",
                    remedy="Connect it, or choose another in the settings.",
                    device=device,
                    reason=reason,
                ) from error
            raise NoAudioDevice(
                "No output device is available ({reason}).",
                remedy="Connect speakers or headphones, or write to a file.",
                reason=reason,
            ) from error


class _PortAudioOutput(RunningStream):
    def __init__(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> None:
        self._fill = fill
        super().__init__("output", device, (sample_rate,), self._on_samples_needed, buffer_seconds)

    def _on_samples_needed(self, output: Any, num_frames: int, times: Any, status: Any) -> None:  # noqa: ARG002
        mono = output[:, 0]
        self._fill(mono, bool(status.output_underflow))
        output[:, 1:] = mono[:, None]


class SampleRing:
    """Lock-free queue of fixed capacity for one writer and one reader.

    Each side changes only its own counter, and only after it has copied the samples. A stale counter therefore
    understates the free space or the number of samples, and never overstates it.
    """

    def __init__(self, capacity_samples: int) -> None:
        self._samples: Samples = np.zeros(capacity_samples, np.float32)
        self._num_written = 0
        self._num_read = 0

    @property
    def capacity_samples(self) -> int:
        return len(self._samples)

    @property
    def num_waiting(self) -> int:
        return self._num_written - self._num_read

    @property
    def num_read(self) -> int:
        """Total number of samples read."""
        return self._num_read

    def write(self, samples: Samples) -> int:
        """Write as many of ``samples`` as fit, and return their number."""
        num_samples = min(len(samples), self.capacity_samples - self.num_waiting)
        for ring_part, part in self._parts(self._num_written, num_samples):
            self._samples[ring_part] = samples[part]
        self._num_written += num_samples
        return num_samples

    def read_into(self, destination: Samples) -> int:
        """Fill the start of ``destination`` with the available samples, and return their number."""
        num_samples = min(len(destination), self.num_waiting)
        for ring_part, part in self._parts(self._num_read, num_samples):
            destination[part] = self._samples[ring_part]
        self._num_read += num_samples
        return num_samples

    def unread(self, num_samples: int) -> int:
        """Make up to ``num_samples`` readable again, and return their number. The reader must not be running."""
        num_samples = min(num_samples, self._num_read, self.capacity_samples - self.num_waiting)
        self._num_read -= num_samples
        return num_samples

    def _parts(self, position: int, num_samples: int) -> list[tuple[slice, slice]]:
        """Return pairs of slices, in the ring and in a plain array, for the samples from ``position`` on."""
        start = position % self.capacity_samples
        num_before_end = min(num_samples, self.capacity_samples - start)
        return [
            (slice(start, start + num_before_end), slice(0, num_before_end)),
            (slice(0, num_samples - num_before_end), slice(num_before_end, num_samples)),
        ]


class _State(Enum):
    COLLECTING = "collecting"
    PLAYING = "playing"
    FADING = "fading"
    SILENT = "silent"


class BufferedOutput:
    """Plays one stream of mono audio on one device.

    After repeated underruns the device is reopened with a longer buffer. If it still underruns with the longest
    buffer, playback fails. On leaving a ``with`` block, playback finishes, or stops if the block raised. All methods
    except ``stop`` must be called from one thread. The constructor, ``play`` and ``finish`` raise ``NoAudioDevice``,
    including when the device is disconnected.
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        open_output: OpenOutput,
        buffer: LatencyPolicy | None = None,
    ) -> None:
        self._state = _State.COLLECTING
        self._is_complete = False
        self._is_after_gap = False
        self._num_underruns = 0
        self._refill_seconds = _REFILL_SECONDS
        self._num_fills = 0
        self._num_silent_after_end = 0
        self._underrun_at: int | None = None  # position of the last underrun, in samples
        self._underrun_window_samples = 0
        self._needs_longer_buffer = False
        self._buffer = buffer or LatencyPolicy()
        self._consumed = threading.Event()
        self._silenced = threading.Event()
        # The device may call back before its sample rate is stored here.
        self._ring = SampleRing(1)
        self._start_samples = 1
        self._is_open = True
        self._open_output = open_output
        self._output: OutputStream = open_output(sample_rate, self._fill, self._buffer.seconds)
        rate = self._output.sample_rate
        self._underrun_window_samples = round(_UNDERRUN_WINDOW_SECONDS * rate)
        self._fade_samples = round(_FADE_SECONDS * rate)
        self._to_device_rate = (
            soxr.ResampleStream(sample_rate, rate, 1, dtype="float32") if rate != sample_rate else None
        )
        self._ring = SampleRing(round(_CAPACITY_SECONDS * rate))

    @property
    def num_underruns(self) -> int:
        """Number of dropouts, because samples arrived too late or because the device underran."""
        return self._num_underruns

    @property
    def heard_seconds(self) -> float:
        """Duration of the audio the device has taken."""
        return self._ring.num_read / self._output.sample_rate

    @property
    def buffered_seconds(self) -> float:
        """Duration of the audio the device has not taken yet."""
        return self._ring.num_waiting / self._output.sample_rate

    @property
    def has_device(self) -> bool:
        """False once the device is disconnected or closed."""
        return self._is_open and self._output.is_running

    def play(self, samples: Samples) -> None:
        """Add ``samples`` of shape (n,) in -1..1. Blocks while the buffer is full."""
        self.service()
        if self._to_device_rate is not None:
            samples = self._to_device_rate.resample_chunk(samples)
        self._enqueue(samples)

    def finish(self) -> None:
        """Wait until all samples have been played, and close the device."""
        if not self._is_open:
            return
        self.service()
        if self._to_device_rate is not None:
            self._enqueue(self._to_device_rate.resample_chunk(np.zeros(0, np.float32), last=True))
        self._is_complete = True
        try:
            if self._ring.num_read or self._ring.num_waiting:
                tail_seconds = self._output.latency_seconds + _TAIL_MARGIN_SECONDS
                self._wait_until_silent(round(tail_seconds * self._output.sample_rate))
        finally:
            self._close()

    def service(self) -> None:
        """Check the device and enlarge its buffer if necessary. Call this regularly while there is nothing to play."""
        self._require_device()
        if self._needs_longer_buffer and self._is_open:
            self._open_with_longer_buffer()

    def stop(self) -> None:
        """Fade out and drop the samples that have not been played. Thread-safe."""
        if not self._is_open:
            return
        if self._state is _State.PLAYING and self._output.is_running:
            self._state = _State.FADING
            if self._silenced.wait(_MAX_FADE_WAIT_SECONDS):
                # The fade is queued in the device; closing the device before the fade has been played causes a click.
                time.sleep(min(self._output.latency_seconds, _MAX_FADE_WAIT_SECONDS))
        self._state = _State.SILENT
        self._consumed.set()
        self._close()

    def __enter__(self) -> BufferedOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.stop()

    def _enqueue(self, samples: Samples) -> None:
        while len(samples) and self._is_open:
            samples = samples[self._ring.write(samples) :]
            if len(samples):
                self._wait_for_device()

    def _wait_until_silent(self, num_samples: int) -> None:
        timeout_seconds = max(_DRAIN_TIMEOUT_FACTOR * self.buffered_seconds, _MIN_DRAIN_TIMEOUT_SECONDS)
        deadline = time.monotonic() + timeout_seconds
        while self._num_silent_after_end < num_samples and self._is_open:
            self._wait_for_device()
            self.service()
            if time.monotonic() > deadline:
                self._give_up(message("The output device plays far too slowly."))

    def _wait_for_device(self) -> None:
        """Wait until the device takes samples."""
        for _ in range(_DEAD_AFTER_TICKS):
            num_fills = self._num_fills
            self._consumed.clear()
            if self._consumed.wait(_TICK_SECONDS) or self._num_fills != num_fills:
                return
            self._require_device()
        self._give_up(message("The output device does not respond."))

    def _require_device(self) -> None:
        if self._is_open and not self._output.is_running and self._state is not _State.SILENT:
            self._give_up(message("The output device was disconnected during playback."))

    def _give_up(self, reason: Message) -> None:
        self._close()
        raise NoAudioDevice(reason, remedy="Check that it is connected and play again, or write to a file.")

    def _open_with_longer_buffer(self) -> None:
        self._needs_longer_buffer = False
        held_samples = round(self._output.latency_seconds * self._output.sample_rate)
        if not self._buffer.grow():
            self._give_up(message("The output device keeps stuttering."))
        _log.info("the sound device underruns: the new buffer is %g s", self._buffer.seconds)
        self._output.close()
        # The samples that the device took since the last underrun have not been played; closing it drops them.
        self._ring.unread(min(self._ring.num_read - (self._underrun_at or 0), held_samples))
        self._underrun_at = None
        self._num_silent_after_end = 0
        try:
            self._output = self._open_output(self._output.sample_rate, self._fill, self._buffer.seconds)
        except NoAudioDevice:
            self._is_open = False
            raise
        if not self._is_open:  # playback was stopped while the device was being opened
            self._output.close()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._output.close()

    # The methods below run on the device's thread.

    def _fill(self, output: Samples, has_underrun: bool) -> None:
        self._num_fills += 1
        is_complete = (
            self._is_complete
        )  # read this before the ring, because it is set after the last samples are written
        if has_underrun and self._state is _State.PLAYING:
            self._num_underruns += 1
            self._on_underrun()
        if self._state is _State.COLLECTING and (is_complete or self._ring.num_waiting >= self._start_samples):
            self._state = _State.PLAYING
        num_given = 0
        if self._state is _State.PLAYING:
            num_given = self._ring.read_into(output)
            if self._is_after_gap and num_given:
                self._is_after_gap = False
                self._num_underruns += 1
                _fade(output[: min(num_given, self._fade_samples)], 0.0, 1.0)
            if num_given < len(output) and is_complete:
                self._num_silent_after_end += len(output) - num_given
            elif num_given < len(output):
                self._await_refill(output[:num_given])
        elif self._state is _State.FADING:
            num_given = self._ring.read_into(output[: self._fade_samples])
            _fade(output[:num_given], 1.0, 0.0)
            self._state = _State.SILENT
            self._silenced.set()
        output[num_given:] = 0.0
        self._consumed.set()

    def _on_underrun(self) -> None:
        now, before = self._ring.num_read, self._underrun_at
        self._needs_longer_buffer |= before is not None and now - before < self._underrun_window_samples
        self._underrun_at = now

    def _await_refill(self, last: Samples) -> None:
        _fade(last[-self._fade_samples :], 1.0, 0.0)
        refill_samples = round(self._refill_seconds * self._output.sample_rate)
        self._start_samples = min(refill_samples, self._ring.capacity_samples)
        self._refill_seconds = min(2 * self._refill_seconds, _MAX_REFILL_SECONDS)
        self._is_after_gap = True
        self._state = _State.COLLECTING


def _fade(samples: Samples, start_gain: float, end_gain: float) -> None:
    samples *= np.linspace(start_gain, end_gain, len(samples), dtype=np.float32)
