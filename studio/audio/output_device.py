"""Output devices: streams that request samples through a callback.

PortAudio is loaded on demand: without it or without a sound card, speech can still be written to files.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from studio.audio.portaudio import (
    LATENCY_SECONDS,
    RunningStream,
    device_index,
    device_names,
    load_portaudio,
    rescan_devices,
)
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

# Fills the whole array; the flag is True if the device has underrun since the last call.
FillCallback = Callable[[Samples, bool], None]
LONGEST_BUFFER_SECONDS = 1.2


class OutputStream(Protocol):
    """Running output device; calls its ``FillCallback`` on its own thread."""

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


@dataclass(slots=True)
class LatencyPolicy:
    """Length of the device's buffer, kept for the whole session.

    With ALSA on PulseAudio each underrun blocks the device for one to two seconds, so a buffer that is too short
    makes long gaps.
    """

    seconds: float = LATENCY_SECONDS

    def grow(self) -> bool:
        """Double the buffer; return False if stopping or the cursor would lag too far behind."""
        if 2 * self.seconds > LONGEST_BUFFER_SECONDS:
            return False
        self.seconds *= 2
        return True


# Requested sample rate, callback and buffer length in seconds.
OpenOutput = Callable[[int, FillCallback, float], OutputStream]


def open_default_output(sample_rate: int, fill: FillCallback, buffer_seconds: float = LATENCY_SECONDS) -> OutputStream:
    """Open the system default device. Raises ``NoAudioDevice``."""
    return open_output_on(None, sample_rate, fill, buffer_seconds)


def open_output_on(
    device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float = LATENCY_SECONDS
) -> OutputStream:
    """Open a device by its name in ``portaudio.device_names``; None is the system default.

    The stream is mono and at ``sample_rate`` if the device supports that. Raises ``NoAudioDevice``.
    """
    sounddevice = load_portaudio()
    try:
        return _PortAudioStream(sounddevice, device, sample_rate, fill, buffer_seconds)
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


class _PortAudioStream(RunningStream):
    sample_rate: int

    def __init__(
        self, sounddevice: Any, device: str | None, sample_rate: int, fill: FillCallback, buffer: float
    ) -> None:
        self._fill = fill
        self._buffer_seconds = buffer
        super().__init__(lambda: self._open(sounddevice, device, sample_rate))

    def _open(self, sounddevice: Any, device: str | None, sample_rate: int) -> Any:
        index = None if device is None else device_index("output", device)
        self.sample_rate, num_channels = _settings(sounddevice, index, sample_rate)
        return sounddevice.OutputStream(
            device=index,
            samplerate=self.sample_rate,
            channels=num_channels,
            dtype="float32",
            latency=self._buffer_seconds,
            callback=self._on_samples_needed,
        )

    @property
    def latency_seconds(self) -> float:
        return float(self._stream.latency)

    def _on_samples_needed(self, output: Any, num_frames: int, times: Any, status: Any) -> None:  # noqa: ARG002
        mono = output[:, 0]
        self._fill(mono, bool(status.output_underflow))
        output[:, 1:] = mono[:, None]


def _settings(sounddevice: Any, device: int | None, sample_rate: int) -> tuple[int, int]:
    """Return sample rate and channels; some devices support only their own rate, or only stereo."""
    own_rate = round(sounddevice.query_devices(device, "output")["default_samplerate"])
    for rate, num_channels in ((sample_rate, 1), (sample_rate, 2), (own_rate, 1), (own_rate, 2)):
        try:
            sounddevice.check_output_settings(device=device, samplerate=rate, channels=num_channels, dtype="float32")
        except sounddevice.PortAudioError as error:
            _log.debug("not %d Hz with %d channels: %s", rate, num_channels, error)
        else:
            return rate, num_channels
    return sample_rate, 1  # opening the stream raises the reason


class AudioOutputs(Protocol):
    """The output devices of a computer. Thread-safe; tests pass simulated devices."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the devices, besides the system default."""
        ...

    def rescan(self) -> None:
        """Update the list of devices; may take half a second."""
        ...

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        """Open ``device``, or the system default for None. Raises ``NoAudioDevice``."""
        ...


class PortAudioOutputs:
    """``AudioOutputs`` of PortAudio."""

    def names(self) -> tuple[str, ...]:
        return device_names("output")

    def rescan(self) -> None:
        rescan_devices()

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        return open_output_on(device, sample_rate, fill, buffer_seconds)
