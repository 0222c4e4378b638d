"""Peak pyramid of a waveform: minima and maxima of blocks of several sizes, for drawing at any zoom. No Qt.

Drawing a minute of audio must not read a million samples, and appending a chunk must not recompute everything.
Therefore, each level is computed from the one below, starting at the first changed block.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

# Columns of a waveform thumbnail.
THUMBNAIL_COLUMNS = 96
_LEVEL_RATIO = 8
# Blocks of 64, 512, 4096 and 32 768 samples. Ten minutes of audio have a few hundred of the longest blocks.
_NUM_LEVELS = 4
_MIN_BLOCK_SAMPLES = 64
_MIN_CAPACITY = 1024
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class WaveformPeaks:
    """Minimum and maximum of the samples in each pixel column."""

    lows: Samples = field(repr=False)  # (columns,)
    highs: Samples = field(repr=False)  # (columns,)

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def loudest(self) -> float:
        return max(float(self.highs.max()), -float(self.lows.min())) if len(self) else 0.0


class Peaks:
    """Peak pyramid of a waveform, to which audio can be appended. The initial ``samples`` are not copied."""

    def __init__(self, sample_rate: int, samples: Samples | None = None) -> None:
        assert sample_rate > 0
        self.sample_rate = sample_rate
        self._samples = _Growing(samples if samples is not None else np.zeros(0, np.float32))
        self._lows = [_Growing(np.zeros(0, np.float32)) for _ in range(_NUM_LEVELS)]
        self._highs = [_Growing(np.zeros(0, np.float32)) for _ in range(_NUM_LEVELS)]
        self._update_levels(first_changed=0)

    @property
    def num_samples(self) -> int:
        return self._samples.count

    @property
    def seconds(self) -> float:
        return self.num_samples / self.sample_rate

    @property
    def samples(self) -> Samples:
        """All samples so far, (n,). Do not change them."""
        return self._samples.values

    def append(self, samples: Samples) -> None:
        first_changed = self.num_samples
        self._samples.replace_from(first_changed, samples)
        self._update_levels(first_changed)

    def outline(self, start_seconds: float, end_seconds: float, num_columns: int) -> WaveformPeaks:
        """Return the peaks of ``num_columns`` equal time ranges. They are zero outside the waveform."""
        assert end_seconds > start_seconds
        edges = np.linspace(start_seconds, end_seconds, num_columns + 1) * self.sample_rate
        samples_per_column = (edges[-1] - edges[0]) / max(1, num_columns)
        block, low, high = self._level_for(samples_per_column)
        lows, highs = np.zeros(num_columns, np.float32), np.zeros(num_columns, np.float32)
        has_samples = (edges[1:] > 0) & (edges[:-1] < self.num_samples)
        if not len(low) or not has_samples.any():
            return WaveformPeaks(lows, highs)
        # An edge may be rounded to a time slightly before its sample.
        first = np.clip(((edges[:-1][has_samples] + _ROUNDING) // block).astype(np.int64), 0, len(low) - 1)
        end = min(len(low), max(int(first[-1]) + 1, int(-(-(edges[1:][has_samples][-1] - _ROUNDING) // block))))
        # If two indices are equal, reduceat returns the value at the index: a short column shows the block around it.
        lows[has_samples] = np.minimum.reduceat(low[:end], first)
        highs[has_samples] = np.maximum.reduceat(high[:end], first)
        return WaveformPeaks(lows, highs)

    def _level_for(self, samples_per_column: float) -> tuple[int, Samples, Samples]:
        """Return block size, minima and maxima of the coarsest level that has at least two blocks per column."""
        block, low, high = 1, self._samples.values, self._samples.values
        for level in range(_NUM_LEVELS):
            block_samples = _MIN_BLOCK_SAMPLES * _LEVEL_RATIO**level
            if 2 * block_samples > samples_per_column:
                break
            block, low, high = block_samples, self._lows[level].values, self._highs[level].values
        return block, low, high

    def _update_levels(self, first_changed: int) -> None:
        ratio, lows_below, highs_below = _MIN_BLOCK_SAMPLES, self._samples.values, self._samples.values
        for lows, highs in zip(self._lows, self._highs, strict=True):
            first_changed //= ratio
            changed_lows, changed_highs = lows_below[first_changed * ratio :], highs_below[first_changed * ratio :]
            if not len(changed_lows):
                return
            starts = np.arange(0, len(changed_lows), ratio)
            lows.replace_from(first_changed, np.minimum.reduceat(changed_lows, starts))
            highs.replace_from(first_changed, np.maximum.reduceat(changed_highs, starts))
            ratio, lows_below, highs_below = _LEVEL_RATIO, lows.values, highs.values


def outline_of(samples: Samples, num_columns: int) -> WaveformPeaks:
    """Return the peaks of all ``samples``, (n,), in ``num_columns``."""
    if not len(samples):
        return WaveformPeaks(np.zeros(num_columns, np.float32), np.zeros(num_columns, np.float32))
    return Peaks(1, samples).outline(0.0, len(samples), num_columns)


class _Growing:
    """Array with amortised appends. The initial values are copied at the first change."""

    def __init__(self, values: Samples) -> None:
        self._buffer = values
        self.count = len(values)
        self._is_borrowed = True

    @property
    def values(self) -> Samples:
        return self._buffer[: self.count]

    def replace_from(self, start: int, values: Samples) -> None:
        end = start + len(values)
        if self._is_borrowed or end > len(self._buffer):
            grown = np.empty(max(_MIN_CAPACITY, 2 * end), np.float32)
            grown[:start] = self._buffer[:start]
            self._buffer, self._is_borrowed = grown, False
        self._buffer[start:end] = values
        self.count = end
