"""Error measures between a reference output and a candidate's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_CEPSTRA = 24
# From the natural logarithm of an amplitude to decibels of mel-cepstral distance.
_DECIBELS = 10.0 * np.sqrt(2.0) / np.log(10.0)

Array = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Distance:
    """``relative_error``: RMS of the difference over RMS of the reference; ``max_error`` in units of the output."""

    is_finite: bool
    relative_error: float
    max_error: float
    num_values: int


def distance(wanted: Array, found: Array) -> Distance:
    """Return the error of ``found`` against ``wanted``; infinite if shapes differ or values are not finite."""
    if wanted.shape != found.shape or not np.isfinite(found).all():
        return Distance(bool(np.isfinite(found).all()), np.inf, np.inf, found.size)
    difference = found.astype(np.float64) - wanted.astype(np.float64)
    norm = float(np.linalg.norm(wanted.astype(np.float64)))
    error = float(np.linalg.norm(difference))
    return Distance(
        is_finite=True,
        relative_error=error / norm if norm else (0.0 if error == 0.0 else np.inf),
        max_error=float(np.abs(difference).max(initial=0.0)),
        num_values=found.size,
    )


def mel_distance_db(wanted: Array, found: Array) -> float:
    """Return the mean mel-cepstral distance of two log-mels (bins, frames) in decibels, ignoring loudness."""
    if wanted.shape != found.shape or not np.isfinite(found).all():
        return float("inf")
    if wanted.shape[1] == 0:
        return 0.0
    num_bins = wanted.shape[0]
    orders = np.arange(1, min(_CEPSTRA, num_bins - 1) + 1)[:, None]
    cosines = np.cos(np.pi * orders * (np.arange(num_bins)[None] + 0.5) / num_bins) / num_bins
    cepstra = cosines @ (found.astype(np.float64) - wanted.astype(np.float64))
    return float(_DECIBELS * np.sqrt((cepstra**2).sum(axis=0)).mean())
