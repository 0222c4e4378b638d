"""Samples on their way from the thread that makes them to the one that plays them."""

from __future__ import annotations

import numpy as np

from studio.audio.resampling import Samples


class SampleRing:
    """A queue of samples of fixed size for one writer and one reader, without a lock.

    Each side changes only its own counter, after the samples it counts are in place; a counter read
    late shows less room or less sound than there is, never more.
    """

    def __init__(self, capacity_samples: int) -> None:
        self._samples: Samples = np.zeros(capacity_samples, np.float32)
        self._num_written = 0
        self._num_read = 0

    @property
    def capacity_samples(self) -> int:
        return len(self._samples)

    @property
    def num_waiting(self) -> int:
        return self._num_written - self._num_read

    @property
    def num_read(self) -> int:
        """Samples handed to the reader since the beginning."""
        return self._num_read

    def write(self, samples: Samples) -> int:
        """How many of ``samples`` there was room for, from the first on."""
        num_samples = min(len(samples), self.capacity_samples - self.num_waiting)
        for ring_part, part in self._parts(self._num_written, num_samples):
            self._samples[ring_part] = samples[part]
        self._num_written += num_samples
        return num_samples

    def read_into(self, destination: Samples) -> int:
        """How many samples came; the rest of ``destination`` is left alone."""
        num_samples = min(len(destination), self.num_waiting)
        for ring_part, part in self._parts(self._num_read, num_samples):
            destination[part] = self._samples[ring_part]
        self._num_read += num_samples
        return num_samples

    def unread(self, num_samples: int) -> int:
        """Puts up to ``num_samples`` of what was read back in front, while nobody reads; how many there still were."""
        num_samples = min(num_samples, self._num_read, self.capacity_samples - self.num_waiting)
        self._num_read -= num_samples
        return num_samples

    def _parts(self, position: int, num_samples: int) -> list[tuple[slice, slice]]:
        """Where in the ring, and where in a plain array, the samples from ``position`` on lie."""
        start = position % self.capacity_samples
        num_before_end = min(num_samples, self.capacity_samples - start)
        return [
            (slice(start, start + num_before_end), slice(0, num_before_end)),
            (slice(0, num_samples - num_before_end), slice(num_before_end, num_samples)),
        ]
