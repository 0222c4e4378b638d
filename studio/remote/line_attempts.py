"""Repeated attempts to get one piece of speech over a connection that may break."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from studio.errors import ConnectionLost, StudioError, TooManyRequests
from studio.messages import Message, wording
from studio.remote.line_audio import LineAudio, SpeechDiffers
from studio.worker import protocol
from studio.worker.protocol import Event

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# The delays before further attempts. The first may find a connection that the server has closed while it was idle.
_RETRY_SECONDS = (0.0, 0.5, 2.0, 5.0)
_MAX_WAITS = 60  # for a place in the queue of the server


class StreamBroken(Exception):
    """A request ended before its answer was complete. ``error`` is raised if no attempt has brought any audio."""

    def __init__(self, error: StudioError) -> None:
        super().__init__(str(error))
        self.error = error


class LineAttempts:
    """Attempts of one request to ``host``. ``audio`` drops what has arrived before; ``put`` receives progress.

    ``if_different`` is the predicate of the error for a further attempt whose audio differs.
    """

    def __init__(
        self, host: str, request_id: int, put: Callable[[Event], None], *, if_different: Message | None = None
    ) -> None:
        self.audio = LineAudio()
        self._host = host
        self._if_different = if_different or wording("changed its engine")
        self._request_id = request_id
        self._put = put

    async def run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of the first attempt that does not break. Raise ``StudioError``."""
        failure: StreamBroken | None = None
        num_waits = 0
        delays = iter(_RETRY_SECONDS)
        while True:
            self.audio.restart()
            try:
                return await attempt()
            except TooManyRequests as error:
                num_waits += 1
                if num_waits > _MAX_WAITS:
                    raise
                await asyncio.sleep(float(error.hint.facts.get("seconds", 1)))  # type: ignore[arg-type]
                continue
            except StreamBroken as error:
                _log.info("the connection to %s was lost (%s)", self._host, type(error.__cause__).__name__)
                failure = error
            except SpeechDiffers as error:
                raise line_lost(self._host, self._if_different) from error
            delay = next(delays, None)
            if delay is None:
                break
            self._put(protocol.Progress(self._request_id, "connect", 0.0))
            await asyncio.sleep(delay)
        if self.audio.is_empty:
            raise failure.error from failure
        raise line_lost(self._host, wording("closed the connection")) from failure


def line_lost(host: str, how: Message) -> ConnectionLost:
    """Return the error for a line of which a part has been received. ``how`` is the predicate of a sentence."""
    return ConnectionLost(
        "{host} {how} in the middle of the line.",
        remedy="The audio so far is kept. Speak the line again, or use this computer.",
        host=host,
        how=how,
    )
