"""Player of one take, clip or request, on its own thread so that a busy event loop does not interrupt it, and audio that
may still be growing: one thread appends to it, others play and draw it.

The device is opened at once, while the audio is still being generated. If it is disconnected, playback pauses, the
list of devices is updated, and playback continues on the system default device at the same position.
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from functools import partial

import numpy as np
import numpy.typing as npt

from studio.audio.output_device import AudioOutputs, BufferedOutput, LatencyPolicy
from studio.errors import NoAudioDevice, StudioError

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.1
# Delay before another device is opened: a reconnected device cannot be opened sooner.
_BEFORE_NEXT_DEVICE_SECONDS = 0.3
# Playback ends after more failures of the default device than this. The count restarts when the device has played for
# ``_FAILURE_RESET_SECONDS`` without a failure.
_MAX_FAILURES = 3
_FAILURE_RESET_SECONDS = 10.0


class PlaybackEnd(Enum):
    FINISHED = "heard"
    STOPPED = "stopped"
    NO_DEVICE = "no device"


class Player:
    """Plays ``sound`` from ``start_sample`` on, once ``allow_start`` is called.

    ``on_device_lost`` and ``on_end`` are called on the player's thread, never before ``allow_start`` or ``stop``.
    """

    def __init__(
        self,
        sound: StreamingAudio,
        outputs: AudioOutputs,
        *,
        device: str | None = None,
        start_sample: int = 0,
        buffer: LatencyPolicy | None = None,
        on_device_lost: Callable[[Player, StudioError], None],
        on_end: Callable[[Player, PlaybackEnd], None],
    ) -> None:
        self.audio = sound
        self.started: float | None = None
        self._outputs = outputs
        self._device = device
        self._output_device: str | None = None
        self._buffer = buffer or LatencyPolicy()
        self._on_device_lost = on_device_lost
        self._on_end = on_end
        self._next_sample = start_sample
        self._heard_before = start_sample
        self._underruns_before = 0
        self._output: BufferedOutput | None = None
        self._may_start = threading.Event()
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="playback", daemon=True)
        self._thread.start()

    def use_device(self, device: str | None) -> None:
        """Play on ``device`` instead. This has no effect once playback has started."""
        self._device = device

    def allow_start(self) -> None:
        """Start playback. Call this when playback can run without a gap."""
        self._may_start.set()

    def stop(self) -> None:
        """Stop at once, without blocking. The fade-out of 10 ms ends on another thread."""
        self._is_stopped.set()
        self._may_start.set()
        if self._output is not None:
            threading.Thread(target=self._output.stop, name="playback-stop", daemon=True).start()

    def wait(self, timeout_seconds: float | None = None) -> None:
        """Wait for the end of playback."""
        self._thread.join(timeout_seconds)

    @property
    def has_started(self) -> bool:
        return self.started is not None

    @property
    def position_seconds(self) -> float:
        """Position of the last sample the device has taken."""
        return min(self._heard_before / self.audio.sample_rate + self._heard_now_seconds, self.audio.seconds)

    @property
    def buffered_seconds(self) -> float:
        """Duration of the audio that is available but not yet played."""
        return max(0.0, self.audio.seconds - self.position_seconds)

    @property
    def num_underruns(self) -> int:
        return self._underruns_before + (self._output.num_underruns if self._output else 0)

    @property
    def _heard_now_seconds(self) -> float:
        return self._output.heard_seconds if self._output else 0.0

    # The methods below run on the player's thread.

    def _run(self) -> None:
        self._open_ahead()
        self._may_start.wait()
        try:
            end = self._play_somewhere()
        except Exception:  # noqa: BLE001 - top level of a thread
            _log.exception("playback failed unexpectedly")
            end = PlaybackEnd.NO_DEVICE
        if self._output is not None:
            self._output.stop()  # has no effect after the end of the audio
        self._on_end(self, end)

    def _open_ahead(self) -> None:
        """Open the device before playback may start, because opening takes up to 300 ms."""
        try:
            self._open_output(self._device)
        except NoAudioDevice as error:
            _log.info("the device is tried again when playback starts: %s", error)
        except Exception:  # noqa: BLE001 - the error occurs again when playback starts, and is reported then
            _log.exception("the device cannot be opened ahead")

    def _open_output(self, device: str | None) -> BufferedOutput:
        open_output = partial(self._outputs.open, device)
        self._output = BufferedOutput(self.audio.sample_rate, open_output=open_output, buffer=self._buffer)
        self._output_device = device
        return self._output

    def _output_on(self, device: str | None) -> BufferedOutput:
        """Return the output opened ahead, or a new one if the device has changed or is disconnected."""
        ahead, self._output = self._output, None
        if ahead is not None and self._output_device == device and ahead.has_device:
            self._output = ahead
            return ahead
        if ahead is not None:
            ahead.stop()
        return self._open_output(device)

    def _play_somewhere(self) -> PlaybackEnd:
        device = self._device
        num_failures = 0
        while not self._is_stopped.is_set():
            try:
                self._play_on(device)
            except NoAudioDevice as error:
                _log.info("playback was interrupted: %s", error)
                heard_seconds = self._heard_now_seconds
                self._remember_position()
                self._on_device_lost(self, error)
                num_failures = 1 if heard_seconds > _FAILURE_RESET_SECONDS else num_failures + 1
                if device is None and num_failures > (_MAX_FAILURES if heard_seconds else 1):
                    return PlaybackEnd.NO_DEVICE
                device = None
                self._is_stopped.wait(_BEFORE_NEXT_DEVICE_SECONDS)
                self._outputs.rescan()
            else:
                return PlaybackEnd.STOPPED if self._is_stopped.is_set() else PlaybackEnd.FINISHED
        return PlaybackEnd.STOPPED

    def _play_on(self, device: str | None) -> None:
        with self._output_on(device) as output:
            self.started = self.started or time.monotonic()
            while not self._is_stopped.is_set():
                if self.audio.wait_beyond(self._next_sample, _WAIT_SECONDS):
                    piece = self.audio.piece_from(self._next_sample)
                    output.play(piece)
                    self._next_sample += len(piece)
                elif self.audio.is_complete:
                    break
                else:
                    output.service()
            if self._is_stopped.is_set():
                output.stop()

    def _remember_position(self) -> None:
        """Continue on the next device with the first sample that the last one did not take."""
        if self._output is not None:
            self._underruns_before += self._output.num_underruns
            self._heard_before += round(self._heard_now_seconds * self.audio.sample_rate)
            self._output = None
        self._next_sample = self._heard_before


Samples = npt.NDArray[np.float32]
_NO_SAMPLES: Samples = np.zeros(0, np.float32)


class StreamingAudio:
    """Append-only sequence of samples. Thread-safe."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._pieces: list[Samples] = []
        self._starts: list[int] = []
        self._num_samples = 0
        self._is_complete = False
        self._grown = threading.Condition()

    @classmethod
    def of(cls, samples: Samples, sample_rate: int) -> StreamingAudio:
        """Return complete audio."""
        sound = cls(sample_rate)
        sound.append(samples)
        sound.complete()
        return sound

    @property
    def num_samples(self) -> int:
        return self._num_samples

    @property
    def seconds(self) -> float:
        return self._num_samples / self.sample_rate

    @property
    def is_complete(self) -> bool:
        return self._is_complete

    def append(self, samples: Samples) -> None:
        if not len(samples):
            return
        with self._grown:
            self._starts.append(self._num_samples)
            self._pieces.append(samples)
            self._num_samples += len(samples)
            self._grown.notify_all()

    def complete(self) -> None:
        """Declare that no more samples follow."""
        with self._grown:
            self._is_complete = True
            self._grown.notify_all()

    def wait_beyond(self, position: int, timeout_seconds: float) -> bool:
        """Wait for samples after ``position``. Return False at the end of the audio or after the timeout."""
        with self._grown:
            self._grown.wait_for(lambda: self._num_samples > position or self._is_complete, timeout_seconds)
            return self._num_samples > position

    def piece_from(self, position: int) -> Samples:
        """Return the rest of the appended chunk that contains ``position``. It is empty beyond the end."""
        with self._grown:
            if position >= self._num_samples:
                return _NO_SAMPLES
            index = bisect_right(self._starts, position) - 1
            return self._pieces[index][position - self._starts[index] :]

    def between(self, start: int, end: int) -> Samples:
        """Return a copy of the samples from ``start`` to ``end``, as far as they exist."""
        found = []
        position = max(0, start)
        while position < end and len(piece := self.piece_from(position)):
            found.append(piece[: end - position])
            position += len(piece)
        return np.concatenate(found) if found else _NO_SAMPLES

    def all(self) -> Samples:
        return self.between(0, self._num_samples)
