"""From a microphone into memory: the level while one is only listening, the sound that is kept.

Decided: an input stream of its own. Because: full-duplex streams stutter on many drivers. Instead of:
one stream for microphone and loudspeaker. A machine without a microphone is a normal one.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from studio.audio import portaudio
from studio.audio.resampling import Samples
from studio.audio.waveform import Waveform
from studio.errors import NoAudioDevice

_log = logging.getLogger(__name__)

_LONGEST_SECONDS = 120.0
_GOOD_RATES = (48_000, 44_100)

# Is given (n,) new samples, and told whether some were lost before them. On the device's thread.
Take = Callable[[Samples, bool], None]


class InputStream(Protocol):
    """A running microphone, on its own thread calling the ``Take`` it was opened with."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def is_running(self) -> bool:
        """False once the device has vanished."""
        ...

    def close(self) -> None: ...


# By the names of ``portaudio.device_names("input")``; None: the default device.
OpenInput = Callable[[str | None, Take], InputStream]


def open_input(device: str | None, take: Take) -> InputStream:
    """Raises ``NoAudioDevice``."""
    try:
        sounddevice = portaudio.load_portaudio()
    except NoAudioDevice as error:
        raise NoAudioDevice(
            "Sound cannot be recorded: the PortAudio library is missing.",
            remedy="Install it (Debian, Ubuntu: apt-get install libportaudio2), or make the voice from a file.",
        ) from error
    try:
        return _PortAudioInput(sounddevice, device, take)
    except sounddevice.PortAudioError as error:
        raise NoAudioDevice(
            "No microphone can be used here ({reason}).",
            remedy="Connect a microphone, choose another, or make the voice from a file.",
            reason=error.args[0],
        ) from error


@dataclass(frozen=True, slots=True)
class InputBlock:
    """What came in since one last looked: all of it (for a meter), and what of it is being kept."""

    heard: Samples = field(repr=False)
    kept: Samples = field(repr=False)


class Recorder:
    """Listens from the moment it is made; keeps what it hears between ``start`` and ``stop``, again and again.

    Methods are called from one thread. Raises ``NoAudioDevice``, also when the microphone vanishes.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        longest_seconds: float = _LONGEST_SECONDS,
        open_input: OpenInput = open_input,
    ) -> None:
        self._blocks: deque[tuple[Samples, bool]] = deque()
        self._kept: list[Samples] = []
        self._num_kept = 0
        self._is_recording = False
        self._has_gaps = False
        self._longest_seconds = longest_seconds
        self._is_open = True
        self._input = open_input(device, self._take)
        self.sample_rate = self._input.sample_rate

    @property
    def is_recording(self) -> bool:
        """False again by itself when ``longest_seconds`` are full."""
        return self._is_recording

    @property
    def has_gaps(self) -> bool:
        """Whether the computer was too busy at some moment of the recording, and sound was lost."""
        return self._has_gaps

    @property
    def recorded_seconds(self) -> float:
        return self._num_kept / self.sample_rate

    def start(self) -> None:
        """Keeps what is heard from now on; what was recorded before is forgotten."""
        self._blocks.clear()
        self._kept, self._num_kept, self._has_gaps = [], 0, False
        self._is_recording = True

    def read_new(self) -> InputBlock:
        """To be called several times a second."""
        if self._is_open and not self._blocks and not self._input.is_running:
            self.close()
            raise NoAudioDevice(
                "The microphone vanished.", remedy="Check that it is connected, choose one, and record again."
            )
        heard, kept = [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]
        while self._blocks:
            samples, has_lost_some = self._blocks.popleft()
            heard.append(samples)
            if self._is_recording:
                kept.append(self._keep(samples, has_lost_some))
        return InputBlock(np.concatenate(heard), np.concatenate(kept))

    def stop(self) -> Waveform:
        """What was recorded, to the last sample that has come in; also after the microphone vanished."""
        if self._blocks:
            self.read_new()
        self._is_recording = False
        return Waveform(np.concatenate([np.zeros(0, np.float32), *self._kept]), self.sample_rate)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._is_recording = False
            self._input.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keep(self, samples: Samples, has_lost_some: bool) -> Samples:
        self._has_gaps |= has_lost_some and self._num_kept > 0
        room = round(self._longest_seconds * self.sample_rate) - self._num_kept
        samples = samples[:room]
        self._kept.append(samples)
        self._num_kept += len(samples)
        if len(samples) == room:
            self._is_recording = False
        return samples

    def _take(self, samples: Samples, has_lost_some: bool) -> None:
        """On the device's thread: no more than this."""
        self._blocks.append((samples, has_lost_some))


class _PortAudioInput(portaudio.RunningStream):
    sample_rate: int

    def __init__(self, sounddevice: Any, device: str | None, take: Take) -> None:
        self._take = take
        super().__init__(lambda: self._open(sounddevice, device))

    def _open(self, sounddevice: Any, device: str | None) -> Any:
        index = None if device is None else portaudio.device_index("input", device)
        self.sample_rate, num_channels = _settings(sounddevice, index)
        return sounddevice.InputStream(
            device=index,
            samplerate=self.sample_rate,
            channels=num_channels,
            dtype="float32",
            latency=portaudio.LATENCY_SECONDS,
            callback=self._on_samples,
        )

    def _on_samples(self, samples: Any, num_frames: int, times: Any, status: Any) -> None:  # noqa: ARG002
        self._take(samples.mean(axis=1, dtype=np.float32), bool(status.input_overflow))


def _settings(sounddevice: Any, index: int | None) -> tuple[int, int]:
    """Rate and channels: mono at a good rate if the device can do that, else as it can."""
    own_rate = round(sounddevice.query_devices(index, "input")["default_samplerate"])
    for rate in (*_GOOD_RATES, own_rate):
        for num_channels in (1, 2):
            try:
                sounddevice.check_input_settings(device=index, samplerate=rate, channels=num_channels, dtype="float32")
            except sounddevice.PortAudioError as error:
                _log.debug("not %d Hz with %d channels: %s", rate, num_channels, error)
            else:
                return rate, num_channels
    return own_rate, 1  # opening it tells why not
