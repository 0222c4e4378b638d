"""Simulated microphone."""

from __future__ import annotations

import numpy as np

from studio.audio.recording import InputCallback
from studio.audio.resampling import Samples
from studio.errors import NoAudioDevice


class Microphone:
    """``Microphone().open`` is an ``OpenInput``; ``deliver`` passes samples."""

    def __init__(self, sample_rate: int = 24_000) -> None:
        self.sample_rate = sample_rate
        self.is_running = False
        self.num_opened = 0
        self.device: str | None = None
        self._take: InputCallback | None = None

    def open(self, device: str | None, take: InputCallback) -> Microphone:
        self.num_opened += 1
        self.device = device
        self._take = take
        self.is_running = True
        return self

    def deliver(self, samples: Samples, *, has_lost_some: bool = False, block: int = 1024) -> None:
        assert self._take is not None
        for start in range(0, len(samples), block):
            if self.is_running:
                self._take(samples[start : start + block].astype(np.float32), has_lost_some and start == 0)

    def vanish(self) -> None:
        self.is_running = False

    def close(self) -> None:
        self.is_running = False


def no_microphone(device: str | None, take: InputCallback) -> Microphone:
    raise NoAudioDevice("No microphone can be used here.", remedy="Connect a microphone, or use a sound file.")
