"""One request that is repeated after an interruption, and goes on where it broke off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from studio.errors import StudioError
from studio.pipeline.request import AudioChunk

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class Interrupted(Exception):
    """An attempt ended early. ``error`` is raised if no other attempt follows."""

    def __init__(self, error: StudioError) -> None:
        super().__init__(str(error))
        self.error = error


class SpeechDiffers(Exception):
    """A repeated request gives different audio, because the engine of the server has changed."""


class ResumableRequest:
    """Audio of one request, of which no sample is passed on twice.

    More attempts follow after ``delays``, in seconds. ``on_retry`` is called before each of them. With ``compares``,
    the samples of another attempt must be the same.
    """

    def __init__(
        self, delays: tuple[float, ...], on_retry: Callable[[], None] = lambda: None, *, compares: bool = True
    ) -> None:
        self._delays = delays
        self._on_retry = on_retry
        self._compares = compares
        self.num_received = 0  # in samples
        self._received = bytearray()  # float32, only to compare
        self._position = 0

    async def run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of the first ``attempt`` that is not ``Interrupted``. Raise ``StudioError``."""
        delays = iter(self._delays)
        while True:
            self._position = 0
            try:
                return await attempt()
            except Interrupted as interruption:
                _log.info("a request was interrupted: %s", interruption)
                delay = next(delays, None)
                if delay is None:
                    raise interruption.error from interruption
            self._on_retry()
            await asyncio.sleep(delay)

    def new_part(self, chunk: AudioChunk) -> AudioChunk | None:
        """Return the part of ``chunk`` that no attempt has received before, or None. Raise ``SpeechDiffers``."""
        start, end = self._position, self._position + len(chunk.samples)
        num_known = max(0, min(end, self.num_received) - start)
        self._position, self.num_received = end, max(end, self.num_received)
        if self._compares:
            known, samples = 4 * num_known, chunk.samples.astype(np.float32, copy=False).tobytes()
            if self._received[4 * start : 4 * start + known] != samples[:known]:
                raise SpeechDiffers
            self._received += samples[known:]
        return None if num_known == len(chunk.samples) else replace(chunk, samples=chunk.samples[num_known:])
