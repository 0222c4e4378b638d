"""uvicorn's HTTP connections with limits on their number and on the time in which a request must arrive.

uvicorn limits the time between requests of a connection, but not the time before the first request or during its
headers, so that silent connections would stay open for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 256
_HEADER_SECONDS = 10.0


class LimitedH11Protocol(H11Protocol):
    """Limits connections to ``MAX_CONNECTIONS``, and closes those whose headers do not arrive in time.

    A connection beyond the limit takes the place of the one that has waited longest for its headers, so that slow
    connections, however many, do not keep others out. Without such a connection, it is refused.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.server_state.connections) >= MAX_CONNECTIONS and not self._end_slowest_connection():
            transport.abort()
            return
        # asyncio does this only for sockets that were created with the number of the protocol. Otherwise a small part
        # of an answer waits for the acknowledgement of the one before it, which the other side delays by up to 40 ms.
        with contextlib.suppress(OSError):  # the client has disconnected
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        if self._is_in_request or self not in self.connections:  # a WebSocket has its own protocol
            self._stop_waiting()
        else:
            self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if not self._is_refused:
            super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_waiting()  # uvicorn's keep-alive time limit applies now

    @property
    def _is_refused(self) -> bool:
        return self.transport is None

    @property
    def _is_in_request(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _expect_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEADER_SECONDS, self._end_late_connection)

    def _end_slowest_connection(self) -> bool:
        """Make room for this connection. Return False if none waits for its headers."""
        waiting = [
            (other._deadline.when(), other)
            for other in self.server_state.connections
            if isinstance(other, LimitedH11Protocol) and other._deadline is not None
        ]
        if not waiting:
            return False
        slowest = min(waiting, key=lambda each: each[0])[1]
        slowest.transport.abort()
        slowest._stop_waiting()
        self.server_state.connections.discard(slowest)
        return True

    def _end_late_connection(self) -> None:
        if not self._is_in_request and self.transport is not None:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
