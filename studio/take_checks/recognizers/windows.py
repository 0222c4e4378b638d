"""Cutting of long recordings at quiet places, for recognisers whose memory grows with the length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from studio.take_checks.recognizers.protocol import SAMPLE_RATE, Samples

_MAX_SECONDS = 30.0
_SEARCHED_SECONDS = 8.0
_FRAME_SAMPLES = SAMPLE_RATE // 50


def windows(samples: Samples, *, step_samples: int) -> Iterator[tuple[int, Samples]]:
    """Yield the first sample and the samples of parts of at most 30 s; all but the last are multiples of the step."""
    longest = round(_MAX_SECONDS * SAMPLE_RATE)
    start = 0
    while len(samples) - start > longest:
        searched = samples[start + longest - round(_SEARCHED_SECONDS * SAMPLE_RATE) : start + longest]
        frames = searched[: len(searched) // _FRAME_SAMPLES * _FRAME_SAMPLES].reshape(-1, _FRAME_SAMPLES)
        quietest = int(np.square(frames).sum(axis=1).argmin())
        length = longest - len(searched) + quietest * _FRAME_SAMPLES + _FRAME_SAMPLES // 2
        length = max(step_samples, length // step_samples * step_samples)
        yield start, samples[start : start + length]
        start += length
    yield start, samples[start:]
