"""Ring buffer between the thread that produces samples and the one that plays them."""

from __future__ import annotations

import numpy as np

from studio.audio.resampling import Samples


class SampleRing:
    """Lock-free queue of fixed capacity for one writer and one reader.

    Each side changes only its own counter, after copying the samples it counts; a stale counter shows less free
    space or fewer samples than there are, never more.
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
        """Total number of samples read."""
        return self._num_read

    def write(self, samples: Samples) -> int:
        """Write as many of ``samples`` as fit, and return their number."""
        num_samples = min(len(samples), self.capacity_samples - self.num_waiting)
        for ring_part, part in self._parts(self._num_written, num_samples):
            self._samples[ring_part] = samples[part]
        self._num_written += num_samples
        return num_samples

    def read_into(self, destination: Samples) -> int:
        """Fill the start of ``destination`` with what is available, and return the number of samples."""
        num_samples = min(len(destination), self.num_waiting)
        for ring_part, part in self._parts(self._num_read, num_samples):
            destination[part] = self._samples[ring_part]
        self._num_read += num_samples
        return num_samples

    def unread(self, num_samples: int) -> int:
        """Make up to ``num_samples`` readable again, and return their number. The reader must not be running."""
        num_samples = min(num_samples, self._num_read, self.capacity_samples - self.num_waiting)
        self._num_read -= num_samples
        return num_samples

    def _parts(self, position: int, num_samples: int) -> list[tuple[slice, slice]]:
        """Return pairs of slices, in the ring and in a plain array, for the samples from ``position`` on."""
        start = position % self.capacity_samples
        num_before_end = min(num_samples, self.capacity_samples - start)
        return [
            (slice(start, start + num_before_end), slice(0, num_before_end)),
            (slice(0, num_samples - num_before_end), slice(num_before_end, num_samples)),
        ]
