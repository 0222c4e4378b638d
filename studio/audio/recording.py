"""Recording from a microphone into memory.

Decision: open a separate input stream. Reason: full-duplex streams stutter on many drivers. Alternative: one stream
for input and output. A computer without a microphone is a normal case.
"""

from __future__ import annotations

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

_MAX_SECONDS = 120.0
_GOOD_RATES = (48_000, 44_100)

# Receives new samples of shape (n,), and whether samples were lost before them. Called on the device's thread.
InputCallback = Callable[[Samples, bool], None]


class InputStream(Protocol):
    """Running microphone. It calls its ``InputCallback`` on its own thread."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def is_running(self) -> bool:
        """False once the device is disconnected."""
        ...

    def close(self) -> None: ...


# Opens a device by its name in ``portaudio.device_names("input")``, or the system default for None.
OpenInput = Callable[[str | None, InputCallback], InputStream]


def open_input(device: str | None, on_samples: InputCallback) -> InputStream:
    """Open a microphone. Raise ``NoAudioDevice``."""
    try:
        sounddevice = portaudio.load_portaudio()
    except NoAudioDevice as error:
        raise NoAudioDevice(
            "Recording is not possible: the PortAudio library is missing.",
            remedy="Install it (Debian, Ubuntu: apt-get install libportaudio2), or create the voice from a file.",
        ) from error
    try:
        return _PortAudioInput(device, on_samples)
    except sounddevice.PortAudioError as error:
        raise NoAudioDevice(
            "No microphone is available ({reason}).",
            remedy="Connect a microphone, choose another, or create the voice from a file.",
            reason=error.args[0],
        ) from error


@dataclass(frozen=True, slots=True)
class InputBlock:
    """New samples of the microphone."""

    samples: Samples = field(repr=False)  # all new samples, for the level meter
    recorded: Samples = field(repr=False)  # samples that belong to the recording


class Recorder:
    """Open microphone that records between ``start`` and ``stop``.

    All methods must be called from one thread. The constructor and ``read_new`` raise ``NoAudioDevice``; the latter
    when the microphone is disconnected.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        longest_seconds: float = _MAX_SECONDS,
        open_input: OpenInput = open_input,
    ) -> None:
        self._blocks: deque[tuple[Samples, bool]] = deque()
        self._kept: list[Samples] = []
        self._num_kept = 0
        self._is_recording = False
        self._has_gaps = False
        self._longest_seconds = longest_seconds
        self._is_open = True
        self._input = open_input(device, self._on_samples)
        self.sample_rate = self._input.sample_rate

    @property
    def is_recording(self) -> bool:
        """Whether a recording is running. It ends automatically after ``longest_seconds``."""
        return self._is_recording

    @property
    def has_gaps(self) -> bool:
        """Whether samples of the recording were lost because the computer was too busy."""
        return self._has_gaps

    @property
    def recorded_seconds(self) -> float:
        return self._num_kept / self.sample_rate

    def start(self) -> None:
        """Start a new recording and discard the previous one."""
        self._blocks.clear()
        self._kept, self._num_kept, self._has_gaps = [], 0, False
        self._is_recording = True

    def read_new(self) -> InputBlock:
        """Return the samples since the last call. Call it several times a second."""
        if self._is_open and not self._blocks and not self._input.is_running:
            self.close()
            raise NoAudioDevice(
                "The microphone was disconnected.", remedy="Connect it or choose another, and record again."
            )
        heard, kept = [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]
        while self._blocks:
            samples, has_lost_some = self._blocks.popleft()
            heard.append(samples)
            if self._is_recording:
                kept.append(self._keep(samples, has_lost_some))
        return InputBlock(np.concatenate(heard), np.concatenate(kept))

    def stop(self) -> Waveform:
        """End the recording and return it, even if the microphone has been disconnected."""
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

    def _on_samples(self, samples: Samples, has_lost_some: bool) -> None:
        """Runs on the device's thread."""
        self._blocks.append((samples, has_lost_some))


class _PortAudioInput(portaudio.RunningStream):
    def __init__(self, device: str | None, on_samples: InputCallback) -> None:
        self._callback = on_samples
        super().__init__("input", device, _GOOD_RATES, self._on_samples, portaudio.LATENCY_SECONDS)

    def _on_samples(self, samples: Any, num_frames: int, times: Any, status: Any) -> None:  # noqa: ARG002
        self._callback(samples.mean(axis=1, dtype=np.float32), bool(status.input_overflow))
