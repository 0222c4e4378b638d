"""The way to the loudspeaker: a stream on a device that asks for samples when it needs them.

PortAudio is loaded on demand: a machine without it, or without a sound card, must still speak into files.
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

# Fills all of the samples it is given; is told whether the device ran dry since the last time.
FillCallback = Callable[[Samples, bool], None]
LONGEST_BUFFER_SECONDS = 1.2


class OutputStream(Protocol):
    """A running device, on its own thread calling the ``FillCallback`` it was opened with."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def latency_seconds(self) -> float:
        """How much later a sample is heard than it was filled in."""
        ...

    @property
    def is_running(self) -> bool:
        """False once the device has vanished."""
        ...

    def close(self) -> None:
        """Silence at once; what was filled in and not yet heard is lost."""
        ...


@dataclass(slots=True)
class LatencyPolicy:
    """How much sound the device is asked to hold. Lasts as long as a session: what a device once needed, it needs again.

    With ALSA on PulseAudio each time the device ran dry cost one to two seconds in which it took nothing,
    so a buffer that is too short does not stutter: it stands still.
    """

    seconds: float = LATENCY_SECONDS

    def grow(self) -> bool:
        """Twice as much; False where that would be too much to stop or to follow with the eye."""
        if 2 * self.seconds > LONGEST_BUFFER_SECONDS:
            return False
        self.seconds *= 2
        return True


# The rate that is wanted, what fills, and how many seconds the device is to hold.
OpenOutput = Callable[[int, FillCallback, float], OutputStream]


def open_default_output(sample_rate: int, fill: FillCallback, buffer_seconds: float = LATENCY_SECONDS) -> OutputStream:
    """The default device at ``sample_rate`` and mono if it can do that, else as it can. Raises ``NoAudioDevice``."""
    return open_output_on(None, sample_rate, fill, buffer_seconds)


def open_output_on(
    device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float = LATENCY_SECONDS
) -> OutputStream:
    """The same on the device of that name (``portaudio.device_names``); None is the default one."""
    sounddevice = load_portaudio()
    try:
        return _PortAudioStream(sounddevice, device, sample_rate, fill, buffer_seconds)
    except sounddevice.PortAudioError as error:
        reason = error.args[0]
        if device is not None:
            raise NoAudioDevice(
                "The sound device {device} cannot be used now ({reason}).",
                remedy="Connect it, or choose another in the settings.",
                device=device,
                reason=reason,
            ) from error
        raise NoAudioDevice(
            "No sound card can be used here ({reason}).",
            remedy="Connect loudspeakers or headphones, or write to a file instead.",
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
    """Rate and channels: the wanted ones first; some devices know only their own rate, or only stereo."""
    own_rate = round(sounddevice.query_devices(device, "output")["default_samplerate"])
    for rate, num_channels in ((sample_rate, 1), (sample_rate, 2), (own_rate, 1), (own_rate, 2)):
        try:
            sounddevice.check_output_settings(device=device, samplerate=rate, channels=num_channels, dtype="float32")
        except sounddevice.PortAudioError as error:
            _log.debug("not %d Hz with %d channels: %s", rate, num_channels, error)
        else:
            return rate, num_channels
    return sample_rate, 1  # opening it tells why not


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
