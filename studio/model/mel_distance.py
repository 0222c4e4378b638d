"""Distance between two log-mel spectrograms of the same speech."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_CEPSTRA = 24
# From cepstra of the natural logarithm of an amplitude to decibels (Kubichek 1993).
_DECIBELS = 10.0 * np.sqrt(2.0) / np.log(10.0)

Array = npt.NDArray[np.floating]


def mel_distance_db(wanted: Array, found: Array) -> float:
    """Return the mean mel-cepstral distortion of two log-mels (bins, frames) in decibels, ignoring loudness.

    A ripple of the spectrum with one decibel of root mean square has a distortion of one decibel. It is infinite if shapes differ or values are not finite.
    """
    if wanted.shape != found.shape or not np.isfinite(found).all():
        return float("inf")
    if wanted.shape[1] == 0:
        return 0.0
    num_bins = wanted.shape[0]
    orders = np.arange(1, min(_CEPSTRA, num_bins - 1) + 1)[:, None]
    cosines = np.cos(np.pi * orders * (np.arange(num_bins)[None] + 0.5) / num_bins) * (2 / num_bins)
    cepstra = cosines @ (found.astype(np.float64) - wanted.astype(np.float64))
    return float(_DECIBELS * np.sqrt((cepstra**2).sum(axis=0)).mean())
