"""Conversion of measures to confidences of problems."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# A take is compared with the voice's other takes if there are this many.
MIN_EARLIER_TAKES = 8
_MAD_TO_DEVIATION = 1.4826


def ramp(value: float, limit: float, certain: float) -> float:
    """Return a confidence: 0.5 at ``limit``, 0.95 at ``certain``, linear between and beyond."""
    return min(max(0.5 + 0.45 * (value - limit) / (certain - limit), 0.0), 0.99)  # numpy is slow for single numbers


def odds(confidence: float) -> float:
    """Return the logarithm of the odds."""
    limited = min(max(confidence, 1e-6), 1.0 - 1e-6)
    return math.log(limited / (1.0 - limited))


def logistic(value: float) -> float:
    """Return the confidence with ``value`` as the logarithm of its odds."""
    return 1.0 / (1.0 + math.exp(-min(max(value, -30.0), 30.0)))


def median_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the median, and the standard deviation estimated from the median distance from it."""
    median = float(np.median(values))
    return median, _MAD_TO_DEVIATION * float(np.median(np.abs(np.asarray(values) - median)))
