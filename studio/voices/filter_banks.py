"""Mel filter banks: matrices from the bins of a spectrum to the bands of a network.

Banks are cached by all parameters, so that two models of different rates in one process do not share one
(SPECIFICATION.md, J2 14). The arrays are read-only.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

DoubleArray = npt.NDArray[np.float64]

_LINEAR_HZ_PER_MEL = 200.0 / 3.0
_LOG_FROM_HZ = 1000.0
_LOG_FROM_MEL = _LOG_FROM_HZ / _LINEAR_HZ_PER_MEL
_LOG_STEP = math.log(6.4) / 27.0


@lru_cache(maxsize=16)
def slaney_filter_bank(
    sample_rate: int, fft_size: int, num_bins: int, min_hz: float, max_hz: float | None
) -> DoubleArray:
    """(bins, fft_size // 2 + 1): triangles of equal area on Slaney's mel scale; ``max_hz`` None is half the rate."""
    highest_hz = sample_rate / 2 if max_hz is None else max_hz
    edges_mel = np.linspace(_slaney_mel(min_hz), _slaney_mel(highest_hz), num_bins + 2, dtype=np.float64)
    edges_hz = _slaney_hz(edges_mel)
    bank = _triangles(np.arange(fft_size // 2 + 1, dtype=np.float64) * (sample_rate / fft_size), edges_hz)
    bank *= (2.0 / (edges_hz[2:] - edges_hz[:-2]))[:, None]
    bank.setflags(write=False)
    return bank


@lru_cache(maxsize=4)
def kaldi_filter_bank(sample_rate: int, fft_size: int, num_bins: int, min_hz: float) -> DoubleArray:
    """(bins, fft_size // 2 + 1): triangles linear in Kaldi's mel, all of height one; the Nyquist bin is in none."""
    bins_hz = np.arange(fft_size // 2 + 1, dtype=np.float64) * (sample_rate / fft_size)
    limits_mel = _kaldi_mel(np.array([min_hz, sample_rate / 2]))
    bank = _triangles(_kaldi_mel(bins_hz), np.linspace(limits_mel[0], limits_mel[1], num_bins + 2))
    bank[:, -1] = 0.0
    bank.setflags(write=False)
    return bank


def _triangles(points: DoubleArray, edges: DoubleArray) -> DoubleArray:
    """(len(edges) - 2, len(points)): row i rises from edge i to one at edge i + 1 and falls to edge i + 2."""
    rising = (points - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - points) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def _slaney_mel(hz: float) -> float:
    """Linear below 1000 Hz, logarithmic above."""
    if hz < _LOG_FROM_HZ:
        return hz / _LINEAR_HZ_PER_MEL
    return _LOG_FROM_MEL + math.log(hz / _LOG_FROM_HZ) / _LOG_STEP


def _slaney_hz(mel: DoubleArray) -> DoubleArray:
    logarithmic = _LOG_FROM_HZ * np.exp(_LOG_STEP * (mel - _LOG_FROM_MEL))
    return np.where(mel < _LOG_FROM_MEL, mel * _LINEAR_HZ_PER_MEL, logarithmic)


def _kaldi_mel(hz: DoubleArray) -> DoubleArray:
    return 1127.0 * np.log1p(hz / 700.0)
