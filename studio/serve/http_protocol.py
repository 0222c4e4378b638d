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
    """Refuses connections beyond ``MAX_CONNECTIONS``, and closes those whose headers do not arrive in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.server_state.connections) >= MAX_CONNECTIONS:
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

    def _end_late_connection(self) -> None:
        if not self._is_in_request and self.transport is not None:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
