"""Output devices: streams that request samples through a callback.

PortAudio is loaded on demand: without it or without a sound card, speech can still be written to files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from studio.audio.portaudio import LATENCY_SECONDS, RunningStream, device_names, load_portaudio, rescan_devices
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice

# Fills the whole array. The flag is True if the device has underrun since the last call.
FillCallback = Callable[[Samples, bool], None]
MAX_BUFFER_SECONDS = 1.2


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
