"""Audio that may still be growing: one thread appends to it, others play and draw it."""

from __future__ import annotations

import threading
from bisect import bisect_right

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
_NO_SAMPLES: Samples = np.zeros(0, np.float32)


class StreamingAudio:
    """Append-only sequence of samples. Thread-safe."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._pieces: list[Samples] = []
        self._starts: list[int] = []
        self._num_samples = 0
        self._is_complete = False
        self._grown = threading.Condition()

    @classmethod
    def of(cls, samples: Samples, sample_rate: int) -> StreamingAudio:
        """Return complete audio."""
        sound = cls(sample_rate)
        sound.append(samples)
        sound.complete()
        return sound

    @property
    def num_samples(self) -> int:
        return self._num_samples

    @property
    def seconds(self) -> float:
        return self._num_samples / self.sample_rate

    @property
    def is_complete(self) -> bool:
        return self._is_complete

    def append(self, samples: Samples) -> None:
        if not len(samples):
            return
        with self._grown:
            self._starts.append(self._num_samples)
            self._pieces.append(samples)
            self._num_samples += len(samples)
            self._grown.notify_all()

    def complete(self) -> None:
        """Declare that no more samples follow."""
        with self._grown:
            self._is_complete = True
            self._grown.notify_all()

    def wait_beyond(self, position: int, timeout_seconds: float) -> bool:
        """Wait for samples after ``position``. Return False at the end of the audio or after the timeout."""
        with self._grown:
            self._grown.wait_for(lambda: self._num_samples > position or self._is_complete, timeout_seconds)
            return self._num_samples > position

    def piece_from(self, position: int) -> Samples:
        """Return the rest of the appended chunk that contains ``position``. It is empty beyond the end."""
        with self._grown:
            if position >= self._num_samples:
                return _NO_SAMPLES
            index = bisect_right(self._starts, position) - 1
            return self._pieces[index][position - self._starts[index] :]

    def between(self, start: int, end: int) -> Samples:
        """Return a copy of the samples from ``start`` to ``end``, as far as they exist."""
        found = []
        position = max(0, start)
        while position < end and len(piece := self.piece_from(position)):
            found.append(piece[: end - position])
            position += len(piece)
        return np.concatenate(found) if found else _NO_SAMPLES

    def all(self) -> Samples:
        return self.between(0, self._num_samples)
