"""A line that another computer speaks, over a connection that may break."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from studio.errors import ConnectionLost, TooManyRequests
from studio.messages import Message, message
from studio.remote.resumable_request import Interrupted, ResumableRequest, SpeechDiffers
from studio.worker import protocol
from studio.worker.protocol import Event

_T = TypeVar("_T")

# The first attempt may find a connection that the server has closed while it was idle.
_RETRY_SECONDS = (0.0, 0.5, 2.0, 5.0)
_MAX_WAITS = 60  # for a place in the queue of the server


class LineRequest(ResumableRequest):
    """A line of ``host``. ``put`` receives its progress.

    ``if_different`` is the predicate of the error if another attempt speaks differently.
    """

    def __init__(
        self, host: str, request_id: int, put: Callable[[Event], None], *, if_different: Message | None = None
    ) -> None:
        super().__init__(_RETRY_SECONDS, lambda: put(protocol.Progress(request_id, "connect", 0.0)))
        self._host = host
        self._if_different = if_different or message("changed its engine")

    async def run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of the first attempt that is not interrupted. Raise ``StudioError``."""

        async def admitted() -> _T:
            for _ in range(_MAX_WAITS):
                try:
                    return await attempt()
                except TooManyRequests as error:
                    await asyncio.sleep(float(error.remedy.facts.get("seconds", 1)))  # type: ignore[arg-type]
                except SpeechDiffers as error:
                    raise line_lost(self._host, self._if_different) from error
                except Interrupted as interruption:
                    if not self.num_received:
                        raise
                    raise Interrupted(line_lost(self._host, message("closed the connection"))) from interruption
            return await attempt()

        return await super().run(admitted)


def line_lost(host: str, how: Message) -> ConnectionLost:
    """Return the error for a line of which a part has been received. ``how`` is the predicate of a sentence."""
    return ConnectionLost(
        "{host} {how} in the middle of the line.",
        remedy="The audio so far is kept. Speak the line again, or use this computer.",
        host=host,
        how=how,
    )
