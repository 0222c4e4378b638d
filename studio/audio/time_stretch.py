"""Speech faster or slower at the same pitch, while it streams.

WSOLA: windows of the input are taken at ``speed`` times the pace at which they are laid down, each
moved by a few milliseconds to where it best continues the one before. Every decision depends on
sample positions alone, so it does not matter in what pieces the samples arrive.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.audio.resampling import Samples

SLOWEST_SPEED = 0.5
FASTEST_SPEED = 2.0

_WINDOW_SECONDS = 0.032
# To either side; together a whole period of the deepest voices (62 Hz).
_SEARCH_SECONDS = 0.008
# Of two equally good places the nearer one: silence and noise then keep their pace.
_PULL_TO_CENTRE = 1e-3


class TimeStretch:
    """One stream of samples at another speed; lasts as long as the stream. ``speed`` 1 changes nothing.

    All output together has ``round(n / speed)`` samples for ``n`` of input.
    """

    def __init__(self, speed: float, sample_rate: int) -> None:
        assert SLOWEST_SPEED <= speed <= FASTEST_SPEED
        self._speed = speed
        self._hop = round(_WINDOW_SECONDS * sample_rate / 2)
        self._search = round(_SEARCH_SECONDS * sample_rate)
        fade_in = 0.5 - 0.5 * np.cos(np.pi * (np.arange(self._hop) + 0.5) / self._hop)
        self._fade_in = fade_in.astype(np.float32)
        self._fade_out = (1.0 - fade_in).astype(np.float32)
        self._input = _SlidingInput()
        self._num_windows = 0
        self._num_emitted = 0
        # Where the last window lies in the input; its second half is what the next one must continue.
        self._window_start = 0

    def process(self, samples: Samples) -> Samples:
        """What can be said for certain after ``samples`` (n,): any number of samples, often none."""
        if self._speed == 1.0:
            return samples
        self._input.append(samples)
        return self._emit()

    def finish(self) -> Samples:
        """The rest; no further call."""
        if self._speed == 1.0:
            return np.zeros(0, np.float32)
        num_left = round(self._input.end / self._speed) - self._num_emitted
        # Enough silence for every window that still begins within the sound.
        self._input.append(np.zeros(3 * self._hop + 2 * self._search + round(self._hop * self._speed), np.float32))
        return self._emit()[:num_left]

    def _emit(self) -> Samples:
        """Each window, once placed, completes one hop of output."""
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
        """Where the next window would start if only the speed counted."""
        return round(self._num_windows * self._hop * self._speed)

    def _can_place(self) -> bool:
        return self._input.end >= max(self._centre() + self._search, self._window_start + self._hop) + 2 * self._hop

    def _best_start(self, *, continuing: int) -> int:
        """Where, near the centre, the input most resembles what follows the last window."""
        earliest = max(0, self._centre() - self._search)
        latest = self._centre() + self._search
        wanted = self._input.between(continuing, continuing + self._hop).astype(np.float64)
        heard = self._input.between(earliest, latest + self._hop).astype(np.float64)
        likeness = _normalised_correlation(heard, wanted)
        distance = np.abs(np.arange(earliest, latest + 1) - self._centre()) / self._search
        return earliest + int(np.argmax(likeness - _PULL_TO_CENTRE * distance))


def _normalised_correlation(heard: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(len(heard) - len(wanted) + 1,): likeness -1..1 of ``wanted`` and each stretch of ``heard``; silence is 0."""
    size = 1 << (len(heard) + len(wanted)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.fft.rfft(wanted[::-1], size), size)
    dot = product[len(wanted) - 1 : len(heard)]
    # Sums by cumsum: its order of addition does not depend on where the array lies in memory.
    energy_until = np.cumsum(np.concatenate([[0.0], heard**2]))
    energies = np.maximum(energy_until[len(wanted) :] - energy_until[: -len(wanted)], 0.0)
    likeness: npt.NDArray[np.float64] = dot / np.sqrt(energies * np.cumsum(wanted**2)[-1] + 1e-12)
    return likeness


class _SlidingInput:
    """Samples by their absolute position, of which old ones are forgotten."""

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
