"""Streaming time stretching: speech faster or slower at the same pitch.

WSOLA: windows of the input are read at ``speed`` times the pace at which they are written, each shifted by a few
milliseconds to where it best continues the previous one. Every decision depends on sample positions alone, so the
output does not depend on how the input is split into chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from studio.audio.resampling import Samples

MIN_SPEED = 0.25
MAX_SPEED = 4.0

_WINDOW_SECONDS = 0.032
# Search range to each side. Both sides together are one period of the deepest voices (62 Hz).
_SEARCH_SECONDS = 0.008
# Weight of the distance from the centre: of two equally good positions the nearer one is chosen, so that silence and
# noise are stretched evenly.
_PULL_TO_CENTRE = 1e-3


class TimeStretch:
    """Time stretch of one stream. ``n`` samples of input give ``round(n / speed)`` samples of output."""

    def __init__(self, speed: float, sample_rate: int) -> None:
        assert MIN_SPEED <= speed <= MAX_SPEED
        self._speed = speed
        self._hop = round(_WINDOW_SECONDS * sample_rate / 2)
        self._search = round(_SEARCH_SECONDS * sample_rate)
        fade_in = 0.5 - 0.5 * np.cos(np.pi * (np.arange(self._hop) + 0.5) / self._hop)
        self._fade_in = fade_in.astype(np.float32)
        self._fade_out = (1.0 - fade_in).astype(np.float32)
        self._input = _SlidingInput()
        self._num_windows = 0
        self._num_emitted = 0
        # Position of the last window in the input; the next one continues its second half.
        self._window_start = 0

    def process(self, samples: Samples) -> Samples:
        """Add ``samples`` of shape (n,) and return the output that is now final, which is often empty."""
        if self._speed == 1.0:
            return samples
        self._input.append(samples)
        return self._emit()

    def finish(self) -> Samples:
        """Return the rest of the output. This must be the last call."""
        if self._speed == 1.0:
            return np.zeros(0, np.float32)
        num_left = round(self._input.end / self._speed) - self._num_emitted
        # Enough silence for every window that starts within the input.
        self._input.append(np.zeros(3 * self._hop + 2 * self._search + round(self._hop * self._speed), np.float32))
        return self._emit()[:num_left]

    def _emit(self) -> Samples:
        """Place all windows that can be placed. Each of them completes one hop of output."""
        pieces = [np.zeros(0, np.float32)]
        while self._can_place():
            if self._num_windows == 0:
                pieces.append(self._input.between(0, self._hop).copy())
            else:
                before = self._window_start + self._hop
                self._window_start = self._best_start(continuing=before)
                fading_out = self._input.between(before, before + self._hop) * self._fade_out
                fading_in = self._input.between(self._window_start, self._window_start + self._hop) * self._fade_in
                pieces.append(fading_out + fading_in)
            self._num_windows += 1
            self._input.forget_before(min(self._window_start + self._hop, self._centre() - self._search))
        output = np.concatenate(pieces)
        self._num_emitted += len(output)
        return output

    def _centre(self) -> int:
        """Return the position where the next window would start without the search, in input samples."""
        return round(self._num_windows * self._hop * self._speed)

    def _can_place(self) -> bool:
        last_sample = max(self._centre() + self._search, self._window_start + self._hop) + 2 * self._hop
        # Above a speed of 2.5, a hop of output stands for more input than its window reads.
        num_represented = round((self._num_windows + 1) * self._hop * self._speed)
        return self._input.end >= max(last_sample, num_represented)

    def _best_start(self, *, continuing: int) -> int:
        """Return the position near the centre where the input best matches what follows the last window."""
        earliest = max(0, self._centre() - self._search)
        latest = self._centre() + self._search
        template = self._input.between(continuing, continuing + self._hop).astype(np.float64)
        signal = self._input.between(earliest, latest + self._hop).astype(np.float64)
        correlation = _normalised_correlation(signal, template)
        distance = np.abs(np.arange(earliest, latest + 1) - self._centre()) / self._search
        return earliest + int(np.argmax(correlation - _PULL_TO_CENTRE * distance))


def _normalised_correlation(
    signal: npt.NDArray[np.float64], template: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the correlation in -1..1 at each of the len(signal) - len(template) + 1 offsets. It is 0 for silence."""
    size = 1 << (len(signal) + len(template)).bit_length()
    product = np.fft.irfft(np.fft.rfft(signal, size) * np.fft.rfft(template[::-1], size), size)
    dot = product[len(template) - 1 : len(signal)]
    # The sums use cumsum, whose order of addition does not depend on the alignment of the array in memory.
    energy_until = np.cumsum(np.concatenate([[0.0], signal**2]))
    energies = np.maximum(energy_until[len(template) :] - energy_until[: -len(template)], 0.0)
    correlation: npt.NDArray[np.float64] = dot / np.sqrt(energies * np.cumsum(template**2)[-1] + 1e-12)
    return correlation


def stretched(chunks: Iterable[Samples], speed: float, sample_rate: int) -> Iterator[Samples]:
    """Yield the time-stretched ``chunks`` of one stream. Some may be empty."""
    stretch = TimeStretch(speed, sample_rate)
    for samples in chunks:
        yield stretch.process(samples)
    yield stretch.finish()


class _SlidingInput:
    """Buffer of recent samples, addressed by absolute position."""

    def __init__(self) -> None:
        self._samples: Samples = np.zeros(0, np.float32)
        self._start = 0

    @property
    def end(self) -> int:
        return self._start + len(self._samples)

    def append(self, samples: Samples) -> None:
        self._samples = np.concatenate([self._samples, samples])

    def between(self, start: int, end: int) -> Samples:
        assert self._start <= start <= end <= self.end
        return self._samples[start - self._start : end - self._start]

    def forget_before(self, position: int) -> None:
        num_forgotten = max(0, position - self._start)
        self._samples = self._samples[num_forgotten:]
        self._start += num_forgotten
