"""Resampling with the filter that the networks were trained with.

Decision: use the windowed sinc of the official implementation. Reason: with a better resampler, a quarter of the
reference clip's speech tokens change. Alternative: soxr, which is used only for ratios of large numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import ceil, gcd

import numpy as np
import numpy.typing as npt
import soxr

Samples = npt.NDArray[np.float32]

_ZERO_CROSSINGS = 6
_ROLLOFF = 0.99
# A table of this size (8 MB) covers all usual rates; 44 056 to 24 000 Hz would need 17 million numbers.
_MAX_TABLE = 1_000_000
_BLOCK_ROWS = 8192


def resample(samples: Samples, from_rate: int, to_rate: int) -> Samples:
    """Resample ``samples`` of shape (n,) to shape (ceil(n x to_rate / from_rate),)."""
    common = gcd(from_rate, to_rate)
    step_in, step_out = from_rate // common, to_rate // common
    if step_in == step_out or len(samples) == 0:
        return samples
    num_out = -(-len(samples) * step_out // step_in)
    reach = _reach(step_in, step_out)
    if step_out * (step_in + 2 * reach) > _MAX_TABLE:
        return resample_steeply(samples, from_rate, to_rate)
    return _windowed_sinc(samples, step_in, step_out)[:num_out]


def resample_steeply(samples: Samples, from_rate: int, to_rate: int) -> Samples:
    """Resample with soxr, at any ratio and with a steeper filter than the networks were trained with."""
    num_out = -(-len(samples) * to_rate // from_rate)
    resampled = soxr.resample(samples, from_rate, to_rate, quality="VHQ")[:num_out]
    # soxr rounds the length; code that counts frames expects it rounded up.
    return np.pad(resampled, (0, num_out - len(resampled))).astype(np.float32, copy=False)


def resample_blocks(blocks: Iterable[Samples], from_rate: int, to_rate: int) -> Iterator[Samples]:
    """Resample with soxr block by block. The concatenated output equals ``resample_steeply`` of the whole input."""
    stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="float32", quality="VHQ")
    for block in blocks:
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(np.zeros(0, np.float32), last=True)


def _reach(step_in: int, step_out: int) -> int:
    """Return the half-width of the filter, in input samples."""
    return ceil(_ZERO_CROSSINGS * step_in / (min(step_in, step_out) * _ROLLOFF))


def _windowed_sinc(samples: Samples, step_in: int, step_out: int) -> Samples:
    """Resample with a polyphase filter (SPECIFICATION.md, C1): each ``step_in`` samples give ``step_out`` samples."""
    weights = _sinc_weights(step_in, step_out)
    num_rows = -(-len(samples) // step_in)
    reach = _reach(step_in, step_out)
    padded = np.pad(samples.astype(np.float64), (reach, reach + num_rows * step_in - len(samples)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weights.shape[0])[::step_in]
    resampled = np.empty((num_rows, step_out), np.float32)
    for start in range(0, num_rows, _BLOCK_ROWS):
        block = np.ascontiguousarray(windows[start : start + _BLOCK_ROWS])
        resampled[start : start + len(block)] = block @ weights
    return resampled.reshape(-1)


@lru_cache(maxsize=8)
def _sinc_weights(step_in: int, step_out: int) -> npt.NDArray[np.float64]:
    """Return the Hann-windowed sinc for each output phase, of shape (step_in + 2 x reach, step_out)."""
    cutoff = min(step_in, step_out) * _ROLLOFF
    reach = _reach(step_in, step_out)
    input_times = np.arange(-reach, step_in + reach) / step_in
    # float32 as in the official implementation: at 441 : 320 float64 differs by 6e-6 of full scale.
    output_times = (np.arange(step_out, dtype=np.float32) / np.float32(step_out)).astype(np.float64)
    distance = np.clip((input_times[:, None] - output_times) * cutoff, -_ZERO_CROSSINGS, _ZERO_CROSSINGS)
    window = np.cos(np.pi / 2 * distance / _ZERO_CROSSINGS) ** 2
    weights: npt.NDArray[np.float64] = np.sinc(distance) * window * (cutoff / step_in)
    return weights
