"""Requests as streams of events, across event loops and computers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

from studio.pipeline.request import AudioChunk
from studio.worker import protocol
from studio.worker.protocol import Event
from studio.worker.request_handle import Callbacks, RequestHandle, StartTime

_ANY_ID = 0
Begin = Callable[[Callbacks], RequestHandle]


async def request_events(
    begin: Begin, *, loop: asyncio.AbstractEventLoop | None = None, reports_progress: bool = True
) -> AsyncGenerator[Event, None]:
    """Yield the events of a request, which ``begin`` starts on ``loop``, by default the running one. Raise its error.

    Closing the generator cancels the request.
    """
    here = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(event: Event | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            here.call_soon_threadsafe(events.put_nowait, event)

    running = asyncio.run_coroutine_threadsafe(_run(begin, put, reports_progress=reports_progress), loop or here)
    running.add_done_callback(lambda _: put(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        if not running.cancelled():
            running.result()
    finally:
        running.cancel()


async def _run(begin: Begin, put: Callable[[Event], None], *, reports_progress: bool) -> None:
    loop = asyncio.get_running_loop()

    def on_audio(chunk: AudioChunk) -> None:
        put(protocol.AudioReady(_ANY_ID, chunk))

    def on_progress(stage: str, share: float) -> None:
        put(protocol.Progress(_ANY_ID, stage, share))

    def on_start_time(start: StartTime) -> None:
        put(protocol.PlaybackStartEstimate(_ANY_ID, start.seconds_after_start, start.loop_time - loop.time()))

    hooks = Callbacks(on_audio, on_progress, on_start_time) if reports_progress else Callbacks(on_audio)
    async with begin(hooks) as handle:
        report = await handle.finished()
    put(protocol.Cancelled(_ANY_ID) if report is None else protocol.Finished(_ANY_ID, report))


def follow(events: AsyncGenerator[Event, None], hooks: Callbacks | None) -> RequestHandle:
    """Return a handle that receives ``events``. They end with the handle."""
    handle = RequestHandle(hooks or Callbacks())
    task = asyncio.create_task(_receive(handle, events))
    handle.when_over(task.cancel)
    return handle


async def _receive(handle: RequestHandle, events: AsyncGenerator[Event, None]) -> None:
    try:
        async with contextlib.aclosing(events):
            async for event in events:
                if not (isinstance(event, protocol.AudioReady) and handle.play(event.chunk)):
                    handle.receive(event)
    except Exception as error:  # noqa: BLE001 - raised again by the request's handle
        handle.end(error=error)
    finally:
        handle.cancel()  # does nothing after the last event
