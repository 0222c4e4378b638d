"""Where sound can be heard: the devices of this machine, as the window needs them."""

from __future__ import annotations

from typing import Protocol

from studio.audio import portaudio
from studio.audio.output_device import FillCallback, OutputStream, open_output_on


class AudioOutputs(Protocol):
    """May be asked from any thread; tests hand in sound cards without sound."""

    def names(self) -> tuple[str, ...]:
        """What can be chosen besides the default device."""
        ...

    def look_again(self) -> None:
        """Learns what was plugged in or out; may take half a second."""
        ...

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        """None is the default device. Raises ``NoAudioDevice``."""
        ...


class PortAudioOutputs:
    """The real ones."""

    def names(self) -> tuple[str, ...]:
        return portaudio.device_names("output")

    def look_again(self) -> None:
        portaudio.rescan_devices()

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        return open_output_on(device, sample_rate, fill, buffer_seconds)
