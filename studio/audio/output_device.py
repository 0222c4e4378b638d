"""The way to the loudspeaker: a stream on a device that asks for samples when it needs them.

PortAudio is loaded on demand: a machine without it, or without a sound card, must still speak into files.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from studio.audio.portaudio import LATENCY_SECONDS, RunningStream, device_index, load_portaudio
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

# Fills all of the samples it is given; is told whether the device ran dry since the last time.
Fill = Callable[[Samples, bool], None]


class OutputStream(Protocol):
    """A running device, on its own thread calling the ``Fill`` it was opened with."""

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


OpenOutput = Callable[[int, Fill], OutputStream]


def open_default_output(sample_rate: int, fill: Fill) -> OutputStream:
    """The default device at ``sample_rate`` and mono if it can do that, else as it can. Raises ``NoAudioDevice``."""
    return open_output_on(None, sample_rate, fill)


def open_output_on(device: str | None, sample_rate: int, fill: Fill) -> OutputStream:
    """The same on the device of that name (``portaudio.device_names``); None is the default one."""
    sounddevice = load_portaudio()
    try:
        index = None if device is None else device_index("output", device)
        return _PortAudioStream(sounddevice, index, sample_rate, fill)
    except sounddevice.PortAudioError as error:
        raise NoAudioDevice(
            "No sound card can be used here ({reason}).",
            remedy="Connect loudspeakers or headphones, or write to a file instead.",
            reason=error.args[0],
        ) from error


class _PortAudioStream(RunningStream):
    sample_rate: int

    def __init__(self, sounddevice: Any, device: int | None, sample_rate: int, fill: Fill) -> None:
        self._fill = fill
        super().__init__(lambda: self._open(sounddevice, device, sample_rate))

    def _open(self, sounddevice: Any, device: int | None, sample_rate: int) -> Any:
        self.sample_rate, num_channels = _settings(sounddevice, device, sample_rate)
        return sounddevice.OutputStream(
            device=device,
            samplerate=self.sample_rate,
            channels=num_channels,
            dtype="float32",
            latency=LATENCY_SECONDS,
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
