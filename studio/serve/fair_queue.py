"""Bounded queue with round-robin scheduling of clients, and precedence of requests that have no audio yet."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from studio.errors import ServiceStopping, TooManyRequests

# Expected duration of a request before any has ended.
_FIRST_GUESS_SECONDS = 3.0
_NEW_WEIGHT = 0.2
_MAX_RETRY_SECONDS = 60
# A speech that continues takes precedence after this time, so that it ends even if new clients always wait.
_MAX_GAP_SECONDS = 10.0


class FairQueue:
    """Admits up to ``num_slots()`` requests at once. Waiting clients take turns, whatever the number of their requests.

    Requests that continue a speech wait for all others, but not for longer than ``_MAX_GAP_SECONDS``. Used on one event
    loop. ``limit`` is the maximum number of waiting requests.
    """

    def __init__(self, limit: int, num_slots: Callable[[], int]) -> None:
        self.limit = limit
        self.num_running = 0
        self._num_slots = num_slots
        self._waiting, self._continued = _Turns(), _Turns()
        self._usual_seconds = _FIRST_GUESS_SECONDS
        self._yielding: set[object] = set()  # running requests that were asked for their slot
        self._is_closed = False

    @property
    def num_slots(self) -> int:
        """The number of requests that may run at once."""
        return self._num_slots()

    @property
    def num_waiting(self) -> int:
        return self._waiting.count + self._continued.count

    @property
    def retry_after_seconds(self) -> int:
        """Expected time until a place in the queue is free, at least one second."""
        seconds = self._usual_seconds * (self.num_waiting + 1) / self._num_slots()
        return min(_MAX_RETRY_SECONDS, max(1, math.ceil(seconds)))

    def require_place(self) -> None:
        """Raise ``TooManyRequests`` if no more requests may wait, and ``ServiceStopping`` after ``close``."""
        if self._is_closed:
            raise ServiceStopping("The service is being stopped.")
        if self.num_waiting >= self.limit:
            raise TooManyRequests(
                "{number} requests are waiting already.",
                remedy="Try again in {seconds} s.",
                number=self.num_waiting,
                seconds=self.retry_after_seconds,
            )

    def close(self) -> None:
        """Refuse new requests and those that wait. Those that hold a slot, and speech that has begun, continue."""
        self._is_closed = True
        while turn := self._waiting.next():
            if not turn.done():
                turn.set_exception(ServiceStopping("The service is being stopped."))

    def wants_slot(self, holder: object) -> bool:
        """Return, once, whether ``holder`` should give up its slot soon: more clients without audio wait than do so."""
        if holder in self._yielding or self._waiting.count <= len(self._yielding):
            return False
        self._yielding.add(holder)
        return True

    def forget_yielding(self, holder: object) -> None:
        """Called when ``holder`` gives up its slot."""
        self._yielding.discard(holder)

    @asynccontextmanager
    async def slot(self, client: str, *, is_continued: bool = False) -> AsyncIterator[None]:
        """Wait for the turn of ``client`` and hold a slot. Raise ``TooManyRequests`` at once if the queue is full.

        A speech that continues (``is_continued``) is never refused.
        """
        await self._acquire(client, self._continued if is_continued else self._waiting)
        started = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            seconds = asyncio.get_running_loop().time() - started
            self._usual_seconds += _NEW_WEIGHT * (seconds - self._usual_seconds)
            self.num_running -= 1
            self._admit()

    async def _acquire(self, client: str, turns: _Turns) -> None:
        if not self.num_waiting and self.num_running < self._num_slots():
            self.num_running += 1
            return
        if turns is self._waiting:
            self.require_place()
        turn = turns.add(client)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted and cancelled at the same time
                self.num_running -= 1
            else:
                turns.remove(client, turn)
            self._admit()
            raise

    def _admit(self) -> None:
        while self.num_running < self._num_slots():
            is_late = self._continued.longest_wait > _MAX_GAP_SECONDS
            first, second = (self._continued, self._waiting) if is_late else (self._waiting, self._continued)
            turn = first.next() or second.next()
            if turn is None:
                return
            if not turn.done():
                self.num_running += 1
                turn.set_result(None)


class _Turns:
    """Waiting requests of each client. The first client is the next to be served."""

    def __init__(self) -> None:
        self._of_client: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._since: dict[asyncio.Future[None], float] = {}  # in the order of their arrival

    @property
    def count(self) -> int:
        return len(self._since)

    @property
    def longest_wait(self) -> float:
        """The time since the arrival of the oldest request, in seconds."""
        return asyncio.get_running_loop().time() - next(iter(self._since.values())) if self._since else 0.0

    def add(self, client: str) -> asyncio.Future[None]:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of_client.setdefault(client, deque()).append(turn)
        self._since[turn] = asyncio.get_running_loop().time()
        return turn

    def next(self) -> asyncio.Future[None] | None:
        """Remove and return the next one, and put its client behind the others."""
        if not self._of_client:
            return None
        client, turns = self._of_client.popitem(last=False)
        turn = turns.popleft()
        del self._since[turn]
        if turns:
            self._of_client[client] = turns
        return turn

    def remove(self, client: str, turn: asyncio.Future[None]) -> None:
        turns = self._of_client.get(client)
        if turns is not None and turn in turns:
            turns.remove(turn)
            del self._since[turn]
            if not turns:
                del self._of_client[client]
