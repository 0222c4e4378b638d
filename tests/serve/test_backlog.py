"""Audio that a slow client has not read yet."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np

from studio.pipeline.request import AudioChunk
from studio.serve.backend import Backlog

CHUNK = AudioChunk(np.arange(1_000, dtype=np.float32), 24_000)


def test_audio_beyond_the_limit_of_memory_is_in_a_file_and_read_in_order() -> None:
    async def read() -> None:
        backlog = Backlog(max_bytes=10_000)
        chunks = [replace(CHUNK, samples=CHUNK.samples + at, sentence_index=at) for at in range(20)]
        for chunk in chunks:
            backlog.put(chunk)
        backlog.put(None)
        assert backlog._samples._rolled  # type: ignore[attr-defined]
        for chunk in chunks:
            found = await backlog.get()
            assert isinstance(found, AudioChunk)
            assert (found.sentence_index, found.sample_rate) == (chunk.sentence_index, 24_000)
            assert np.array_equal(found.samples, chunk.samples)
        assert await backlog.get() is None
        backlog.close()

    asyncio.run(read())


def test_a_client_that_keeps_up_needs_no_file() -> None:
    async def read() -> None:
        backlog = Backlog(max_bytes=10_000)
        for _ in range(20):
            backlog.put(CHUNK)
            backlog.put(CHUNK)
            for _ in range(2):
                found = await backlog.get()
                assert isinstance(found, AudioChunk)
                assert np.array_equal(found.samples, CHUNK.samples)
        assert not backlog._samples._rolled  # type: ignore[attr-defined]
        backlog.close()

    asyncio.run(read())
