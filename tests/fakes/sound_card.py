"""Simulated output device, in real time, that records what it plays."""

from __future__ import annotations

import threading
import time

import numpy as np

from studio.audio.output_device import FillCallback, OutputStream
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice

_BLOCK_SAMPLES = 480


class SoundCard:
    """``SoundCard().open`` is an ``OpenOutput``. It is disconnected ``vanishes_after`` seconds after opening.

    If the buffer is shorter than ``runs_dry_below`` seconds, every fourth block is an underrun.
    """

    latency_seconds = 0.02

    def __init__(self, *, vanishes_after: float | None = None, runs_dry_below: float = 0.0) -> None:
        self.sample_rate = 0
        self.num_opened = 0
        self.first_sound: float | None = None
        self.buffers: list[float] = []
        self._vanishes_after = vanishes_after
        self._runs_dry_below = runs_dry_below
        self._blocks: list[Samples] = []
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, sample_rate: int, fill: FillCallback, buffer_seconds: float = 0.15) -> SoundCard:
        self.sample_rate = sample_rate
        self.num_opened += 1
        self.buffers.append(buffer_seconds)
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(fill, self._is_closed), daemon=True)
        self._thread.start()
        return self

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def heard(self) -> Samples:
        """The samples played, without leading and trailing silence."""
        sound = np.concatenate([np.zeros(0, np.float32), *self._blocks])
        (positions,) = np.nonzero(sound)
        return sound[positions[0] : positions[-1] + 1] if len(positions) else sound[:0]

    def stay(self) -> None:
        """Stay connected from now on."""
        self._vanishes_after = None

    def close(self) -> None:
        self._is_closed.set()

    def _run(self, fill: FillCallback, is_closed: threading.Event) -> None:
        started = time.monotonic()
        while not is_closed.is_set():
            if self._vanishes_after is not None and time.monotonic() - started > self._vanishes_after:
                return
            block = np.zeros(_BLOCK_SAMPLES, np.float32)
            fill(block, self.buffers[-1] < self._runs_dry_below and len(self._blocks) % 4 == 3)
            if self.first_sound is None and block.any():
                self.first_sound = time.monotonic()
            self._blocks.append(block)
            time.sleep(_BLOCK_SAMPLES / self.sample_rate)


class CardOutputs:
    """Simulated devices by name; the default one is ``card``."""

    def __init__(self, card: SoundCard, **others: SoundCard) -> None:
        self.card = card
        self.others = others
        self.num_rescans = 0

    def names(self) -> tuple[str, ...]:
        return tuple(self.others)

    def rescan(self) -> None:
        self.num_rescans += 1

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        card = self.card if device is None else self.others[device]
        return card.open(sample_rate, fill, buffer_seconds)


class DefaultOnlyOutputs(CardOutputs):
    """Only the system default exists."""

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        if device is not None:
            raise NoAudioDevice("No sound card can be used here.", remedy="Connect loudspeakers.")
        return super().open(device, sample_rate, fill, buffer_seconds)


class NoOutputs(CardOutputs):
    """No device can be opened."""

    def open(self, device: str | None, sample_rate: int, fill: FillCallback, buffer_seconds: float) -> OutputStream:
        raise NoAudioDevice("No sound card can be used here.", remedy="Connect loudspeakers.")
