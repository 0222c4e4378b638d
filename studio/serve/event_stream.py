"""Responses that carry the events of a worker while it works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from fastapi import Response
from starlette.types import Receive, Scope, Send

from studio.errors import ServiceStopping
from studio.pipeline.request import Cancelled
from studio.remote import wire
from studio.serve.responses import BrokenOff, as_studio_error, wait_for_disconnect
from studio.worker import protocol
from studio.worker.protocol import Event

_ID = 0  # a stream has one request
_MAX_WAITING_FRAMES = 16
Put = Callable[[Event], None]


class EventStream(Response):
    """Sends the events that ``produce`` puts, and a last one if it fails. Cancels it if the client disconnects.

    ``when_over`` is called at the end.
    """

    media_type = wire.EVENTS_TYPE

    def __init__(self, produce: Callable[[Put], Awaitable[None]]) -> None:
        super().__init__()
        self.when_over: Callable[[], object] = lambda: None
        self._produce = produce
        self._is_cut = False
        self._began = time.perf_counter()
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._is_read = asyncio.Event()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        tasks = [
            asyncio.create_task(self._work()),
            asyncio.create_task(self._send(send)),
            asyncio.create_task(wait_for_disconnect(receive)),
        ]
        try:
            await asyncio.wait(tasks[1:], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.when_over()
        if self._is_cut:
            raise BrokenOff

    async def wait_until_read(self) -> None:
        """Return when few events wait for a slow client."""
        while self._frames.qsize() > _MAX_WAITING_FRAMES:
            self._is_read.clear()
            await self._is_read.wait()

    async def _work(self) -> None:
        try:
            await self._produce(self._put)
        except ServiceStopping:  # without a last event, the client continues with the next service
            self._is_cut = True
        except Cancelled:
            self._put(protocol.Cancelled(_ID))
        except Exception as error:  # noqa: BLE001 - every failure is answered
            self._put(protocol.Failed(_ID, as_studio_error(error).to_record()))
        finally:
            self._frames.put_nowait(None)

    def _put(self, event: Event) -> None:
        self._frames.put_nowait(wire.encode_event(event, time.perf_counter() - self._began))

    async def _send(self, send: Send) -> None:
        headers = [(b"content-type", wire.EVENTS_TYPE.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while (frame := await self._next_frame()) is not None:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
            self._is_read.set()
        if not self._is_cut:
            await send({"type": "http.response.body", "body": b""})

    async def _next_frame(self) -> bytes | None:
        try:
            async with asyncio.timeout(wire.HEARTBEAT_SECONDS):
                return await self._frames.get()
        except TimeoutError:
            return wire.HEARTBEAT
