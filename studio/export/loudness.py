"""Integrated loudness after ITU-R BS.1770-4: gated, in LUFS. Mono.

pyloudnorm provides the K-weighting filters. The gated mean over blocks is computed here, piece by piece, as hours of
audio do not fit into one array.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from studio.audio.resampling import Samples

FloatArray = npt.NDArray[np.float64]

_HOPS_IN_BLOCK = 4  # blocks of 400 ms overlap by 75 %
_HOPS_IN_SECOND = 10
_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = -10.0


class LoudnessMeter:
    """Loudness meter for consecutive pieces. Each piece is filtered separately and should end in silence, as lines do."""

    def __init__(self, sample_rate: int) -> None:
        # Imported here because it takes a third of a second.
        from pyloudnorm import IIRfilter  # noqa: PLC0415

        self._filters = (
            IIRfilter(4.0, 1 / math.sqrt(2), 1500.0, sample_rate, "high_shelf"),
            IIRfilter(0.0, 0.5, 38.0, sample_rate, "high_pass"),
        )
        self._hop_samples = sample_rate // _HOPS_IN_SECOND
        self._hop_powers: list[FloatArray] = []
        self._rest = np.zeros(0)
        self._num_samples = 0

    def add(self, samples: Samples) -> None:
        weighted = samples.astype(np.float64)
        for each in self._filters:
            weighted = each.apply_filter(weighted)
        self._num_samples += len(samples)
        squares = np.concatenate([self._rest, weighted**2])
        num_hops = len(squares) // self._hop_samples
        whole = squares[: num_hops * self._hop_samples]
        self._hop_powers.append(whole.reshape(num_hops, self._hop_samples).mean(axis=1))
        self._rest = squares[len(whole) :]

    def add_silence(self, num_samples: int) -> None:
        self.add(np.zeros(num_samples, np.float32))

    @property
    def integrated_lufs(self) -> float | None:
        """The loudness so far, or None for silence. Audio shorter than a block is measured as a whole."""
        powers = self._block_powers()
        powers = powers[powers > _power_of(_ABSOLUTE_GATE_LUFS)]
        if not len(powers):
            return None
        powers = powers[powers > powers.mean() * 10.0 ** (_RELATIVE_GATE_LU / 10.0)]
        return _lufs_of(float(powers.mean()))

    def _block_powers(self) -> FloatArray:
        hops = np.concatenate([np.zeros(0), *self._hop_powers])
        if len(hops) >= _HOPS_IN_BLOCK:
            blocks: FloatArray = np.lib.stride_tricks.sliding_window_view(hops, _HOPS_IN_BLOCK).mean(axis=1)
            return blocks
        if not self._num_samples:
            return np.zeros(0)
        total = hops.sum() * self._hop_samples + self._rest.sum()
        return np.array([total / self._num_samples])


def loudness_lufs(samples: Samples, sample_rate: int) -> float | None:
    """Return the loudness of ``samples`` (n,), or None for silence."""
    meter = LoudnessMeter(sample_rate)
    meter.add(samples)
    return meter.integrated_lufs


def _power_of(lufs: float) -> float:
    return float(10.0 ** ((lufs + 0.691) / 10.0))


def _lufs_of(power: float) -> float:
    return -0.691 + 10.0 * math.log10(power)
