"""Speech on the loudspeaker while it is still being made."""

from __future__ import annotations

import logging
import threading
import time
from enum import Enum
from types import TracebackType

import numpy as np
import soxr

from studio.audio.output_device import LatencyPolicy, OpenOutput, OutputStream, open_default_output
from studio.audio.resampling import Samples
from studio.audio.sample_ring import SampleRing
from studio.errors import NoAudioDevice
from studio.wording import Message, wording

_log = logging.getLogger(__name__)

_FADE_SECONDS = 0.01
# After a gap this much is collected before play goes on, twice as much after each further gap: a few
# longer pauses are better understood than a stutter.
_REFILL_SECONDS = 0.5
_LONGEST_REFILL_SECONDS = 4.0
# Devices drop up to their latency of queued sound when they close (seen with ALSA on PulseAudio).
_TAIL_MARGIN_SECONDS = 0.1
_LONGEST_FADE_WAIT_SECONDS = 0.3
_TICK_SECONDS = 0.1
_DEAD_AFTER_TICKS = 50
# A device that runs dry twice within so much sound holds too little of it.
_DRY_AGAIN_SECONDS = 30.0
# The end of a sound that takes this many times as long as it should is not waited for, nor ever less than the other.
_MOST_PATIENCE = 4.0
_LEAST_PATIENCE_SECONDS = 20.0


class _State(Enum):
    COLLECTING = "collecting"
    PLAYING = "playing"
    FADING = "fading"
    SILENT = "silent"


class BufferedOutput:
    """Plays one stream of mono sound on the default device; lasts as long as the stream.

    Play begins when ``start_after_seconds`` of sound have been collected, so that slow synthesis can be
    played without a gap. A device that runs dry again and again is opened anew with a longer buffer; one
    that does so with the longest is as good as none. As a context manager it finishes, or after an exception stops. Methods are
    called from one thread, except ``stop``. The constructor, ``play`` and ``finish`` raise
    ``NoAudioDevice``, also when the device vanishes.
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        start_after_seconds: float = 0.0,
        capacity_seconds: float = 600.0,
        open_output: OpenOutput = open_default_output,
        buffer: LatencyPolicy | None = None,
    ) -> None:
        """``capacity_seconds``: how far the player may lag behind before ``play`` waits for it.

        ``buffer`` is the device's own, and remembers what it needed.
        """
        self._state = _State.COLLECTING
        self._is_complete = False
        self._is_after_gap = False
        self._num_underruns = 0
        self._refill_seconds = _REFILL_SECONDS
        self._num_fills = 0
        self._num_silent_after_end = 0
        self._dry_at: int | None = None  # samples into the sound
        self._dry_again_samples = 0
        self._needs_longer_buffer = False
        self._buffer = buffer or LatencyPolicy()
        self._consumed = threading.Event()
        self._silenced = threading.Event()
        # The device may ask for sound before it says which rate it has chosen.
        self._ring = SampleRing(1)
        self._start_samples = 1
        self._is_open = True
        self._open_output = open_output
        self._output: OutputStream = open_output(sample_rate, self._fill, self._buffer.seconds)
        rate = self._output.sample_rate
        self._dry_again_samples = round(_DRY_AGAIN_SECONDS * rate)
        self._fade_samples = round(_FADE_SECONDS * rate)
        self._to_device_rate = (
            soxr.ResampleStream(sample_rate, rate, 1, dtype="float32") if rate != sample_rate else None
        )
        ring = SampleRing(round(capacity_seconds * rate))
        self._start_samples = min(max(1, round(start_after_seconds * rate)), ring.capacity_samples)
        self._ring = ring

    @property
    def num_underruns(self) -> int:
        """How often there was a gap: sound came too late, or the device ran dry."""
        return self._num_underruns

    @property
    def heard_seconds(self) -> float:
        """How much of what was given has reached the device."""
        return self._ring.num_read / self._output.sample_rate

    @property
    def buffered_seconds(self) -> float:
        """How much has been given and not yet reached the device."""
        return self._ring.num_waiting / self._output.sample_rate

    @property
    def has_device(self) -> bool:
        """False once the device has vanished or was closed."""
        return self._is_open and self._output.is_running

    def play(self, samples: Samples) -> None:
        """Adds ``samples`` (n,) in -1..1; waits only while ``capacity_seconds`` are full."""
        self.service()
        if self._to_device_rate is not None:
            samples = self._to_device_rate.resample_chunk(samples)
        self._enqueue(samples)

    def finish(self) -> None:
        """Returns when all that was given has been heard, and closes the device."""
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
        """Sees to the device: to be called now and then while there is nothing to ``play``."""
        self._require_device()
        if self._needs_longer_buffer and self._is_open:
            self._open_with_longer_buffer()

    def stop(self) -> None:
        """Silence at once, by a short fade; what was not heard yet is dropped. From any thread."""
        if not self._is_open:
            return
        if self._state is _State.PLAYING and self._output.is_running:
            self._state = _State.FADING
            if self._silenced.wait(_LONGEST_FADE_WAIT_SECONDS):
                # The fade is queued in the device and must be heard, or the end is a click.
                time.sleep(min(self._output.latency_seconds, _LONGEST_FADE_WAIT_SECONDS))
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
        patience = max(_MOST_PATIENCE * self.buffered_seconds, _LEAST_PATIENCE_SECONDS)
        deadline = time.monotonic() + patience
        while self._num_silent_after_end < num_samples and self._is_open:
            self._wait_for_device()
            self.service()
            if time.monotonic() > deadline:
                self._vanished(wording("The sound device takes the sound far too slowly."))

    def _wait_for_device(self) -> None:
        """Returns when the device has taken something."""
        for _ in range(_DEAD_AFTER_TICKS):
            num_fills = self._num_fills
            self._consumed.clear()
            if self._consumed.wait(_TICK_SECONDS) or self._num_fills != num_fills:
                return
            self._require_device()
        self._vanished(wording("The sound device does not answer any more."))

    def _require_device(self) -> None:
        if self._is_open and not self._output.is_running and self._state is not _State.SILENT:
            self._vanished(wording("The sound device vanished while it was playing."))

    def _vanished(self, what: Message) -> None:
        self._close()
        raise NoAudioDevice(what, remedy="Check that it is connected and play again, or write to a file instead.")

    def _open_with_longer_buffer(self) -> None:
        self._needs_longer_buffer = False
        held_samples = round(self._output.latency_seconds * self._output.sample_rate)
        if not self._buffer.grow():
            self._vanished(wording("The sound device runs dry again and again."))
        _log.info("the sound device runs dry: it is to hold %g s", self._buffer.seconds)
        self._output.close()
        # What it was given since it last ran dry is not heard yet, and is lost with it.
        self._ring.unread(min(self._ring.num_read - (self._dry_at or 0), held_samples))
        self._dry_at = None
        self._num_silent_after_end = 0
        try:
            self._output = self._open_output(self._output.sample_rate, self._fill, self._buffer.seconds)
        except NoAudioDevice:
            self._is_open = False
            raise
        if not self._is_open:  # stopped meanwhile
            self._output.close()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._output.close()

    # What follows runs on the device's thread.

    def _fill(self, output: Samples, has_run_dry: bool) -> None:
        self._num_fills += 1
        is_complete = self._is_complete  # before looking at the ring: what comes last is written before this is set
        if has_run_dry and self._state is _State.PLAYING:
            self._num_underruns += 1
            self._remember_dry()
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

    def _remember_dry(self) -> None:
        now = self._ring.num_read
        self._needs_longer_buffer |= self._dry_at is not None and now - self._dry_at < self._dry_again_samples
        self._dry_at = now

    def _await_refill(self, last: Samples) -> None:
        _fade(last[-self._fade_samples :], 1.0, 0.0)
        refill_samples = round(self._refill_seconds * self._output.sample_rate)
        self._start_samples = min(refill_samples, self._ring.capacity_samples)
        self._refill_seconds = min(2 * self._refill_seconds, _LONGEST_REFILL_SECONDS)
        self._is_after_gap = True
        self._state = _State.COLLECTING


def _fade(samples: Samples, start_gain: float, end_gain: float) -> None:
    samples *= np.linspace(start_gain, end_gain, len(samples), dtype=np.float32)
