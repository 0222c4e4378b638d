"""Repeated requests give only samples that have not been received, and end with the error of the last attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from studio.errors import WorkerDied
from studio.pipeline.request import AudioChunk
from studio.remote.resumable_request import Interrupted, ResumableRequest, SpeechDiffers

RATE = 24_000
SPEECH = np.random.default_rng(3).standard_normal(1_000).astype(np.float32)


def run(request: ResumableRequest, attempts: Iterator[tuple[list[np.ndarray], bool]]) -> np.ndarray:
    """Return the samples that pass. Each attempt is a list of chunks, and all but the last one are interrupted."""
    passed = [np.zeros(0, np.float32)]

    async def attempt() -> None:
        chunks, is_whole = next(attempts)
        parts = (request.new_part(AudioChunk(chunk, RATE)) for chunk in chunks)
        passed.extend(part.samples for part in parts if part is not None)
        if not is_whole:
            raise Interrupted(WorkerDied("The worker ended."))

    asyncio.run(request.run(attempt))
    return np.concatenate(passed)


def cut(*cuts: int) -> list[np.ndarray]:
    return [SPEECH[start:end] for start, end in pairwise(cuts)]


@pytest.mark.parametrize("compares", [True, False])
def test_only_new_samples_pass_however_the_chunks_are_cut(compares: bool) -> None:
    retries: list[None] = []
    request = ResumableRequest((0.0, 0.0), lambda: retries.append(None), compares=compares)
    attempts = [(cut(0, 100, 250), False), (cut(0, 30, 250, 260), False), (cut(0, 400, 1_000), True)]
    assert np.array_equal(run(request, iter(attempts)), SPEECH)
    assert len(retries) == 2


def test_the_error_of_the_last_attempt_is_raised() -> None:
    with pytest.raises(WorkerDied):
        run(ResumableRequest((0.0,)), iter([(cut(0, 100), False)] * 2))


def test_different_speech_is_found_even_in_the_last_bit() -> None:
    other = SPEECH[:200].copy()
    other[99] = np.nextafter(other[99], np.float32(2))
    with pytest.raises(SpeechDiffers):
        run(ResumableRequest((0.0,)), iter([(cut(0, 100), False), ([other], True)]))
