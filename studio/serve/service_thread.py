"""The service on its own thread and event loop, for a program whose worker belongs to another loop.

Decision: the window's service uses the window's worker. Reason: a second worker would load the model twice. Alternative:
`timbre serve` as a separate process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import ParamSpec

from studio.errors import InternalError, StudioError
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.serve.backend import SpeechBackend
from studio.serve.running import Address, run_service
from studio.serve.service import ServiceOptions, SpeechService
from studio.voices.library import VoiceLibrary
from studio.worker import protocol
from studio.worker.request_handle import Callbacks, RequestHandle

_log = logging.getLogger(__name__)

_ANY_ID = 0
Begin = Callable[[Callbacks], RequestHandle]
_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """State of the service, for the window. ``url`` is empty until the service listens."""

    url: str = ""
    num_running: int = 0
    num_waiting: int = 0
    num_served: int = 0
    error: StudioError | None = None


class ServiceThread:
    """A running service. ``backend`` is used on ``backend_loop`` only.

    ``on_change`` is called on the thread of the service when it listens and when it ends.
    """

    def __init__(
        self,
        backend: SpeechBackend,
        backend_loop: asyncio.AbstractEventLoop,
        options: ServiceOptions,
        address: Address,
        *,
        on_change: Callable[[], None] = lambda: None,
        open_library: Callable[[], VoiceLibrary] = VoiceLibrary,
    ) -> None:
        self._backend = backend
        self._backend_loop = backend_loop
        self._options = options
        self._address = address
        self._on_change = on_change
        self._open_library = open_library
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._service: SpeechService | None = None
        self._url = ""
        self._error: StudioError | None = None
        self._thread = threading.Thread(target=self._run, name="service", daemon=True)
        self._thread.start()

    def state(self) -> ServiceState:
        """Return the current numbers. May be called on any thread."""
        service = self._service
        if service is None:
            return ServiceState(self._url, error=self._error)
        queue = service.queue
        return ServiceState(self._url, queue.num_running, queue.num_waiting, service.num_served, self._error)

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the service; running requests are cancelled. Returns at once."""
        self._is_stopping = True
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._task.cancel)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the thread. Return False if it still runs."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except StudioError as error:
            self._error = error
        except asyncio.CancelledError:
            pass
        except Exception:  # noqa: BLE001 - the end of the thread
            _log.exception("the service ended")
            self._error = InternalError("The speech service ended unexpectedly.", remedy="Switch it on again.")
        self._url = ""
        self._on_change()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        if self._is_stopping:
            return
        backend = _ForeignBackend(self._backend, self._backend_loop)
        self._service = SpeechService(backend, self._options, self._open_library)
        await run_service(self._service, self._address, on_ready=self._on_ready, shutdown_seconds=0)

    def _on_ready(self, url: str) -> None:
        self._url = url
        self._on_change()


class _ForeignBackend:
    """Passes requests to a backend on another event loop, and their audio back."""

    def __init__(self, backend: SpeechBackend, loop: asyncio.AbstractEventLoop) -> None:
        self._backend = backend
        self._loop = loop

    async def load(self) -> EngineDescription:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._backend.load(), self._loop))

    async def num_lost_workers(self) -> int:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._backend.num_lost_workers(), self._loop))

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        pieces: AsyncIterable[str] | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a request after the lines of the window, regardless of ``in_batch``."""
        del in_batch
        here = asyncio.get_running_loop()
        foreign_pieces = None if pieces is None else _texts_from(pieces, here)
        return self._begin(
            hooks,
            lambda foreign: self._backend.synthesize(request, pieces=foreign_pieces, hooks=foreign, in_batch=True),
        )

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary:
        here = asyncio.get_running_loop()
        preparing = self._backend.prepare_voice(voice, on_progress=_on_loop(here, on_progress))
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(preparing, self._loop))

    async def spell_out(self, text: str) -> str:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._backend.spell_out(text), self._loop))

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        return self._begin(hooks, lambda foreign: self._backend.convert(request, hooks=foreign))

    def _begin(self, hooks: Callbacks | None, begin: Begin) -> RequestHandle:
        here = asyncio.get_running_loop()
        handle = RequestHandle(hooks or Callbacks())

        def receive(chunk: AudioChunk) -> None:
            with contextlib.suppress(RuntimeError):  # the service has ended
                here.call_soon_threadsafe(handle.receive, protocol.AudioReady(_ANY_ID, chunk))

        foreign = Callbacks(
            receive, _on_loop(here, handle.hooks.on_progress), _on_loop(here, handle.hooks.on_start_time)
        )
        running = asyncio.run_coroutine_threadsafe(_run(begin, foreign), self._loop)

        def end() -> None:
            error = None if running.cancelled() else running.exception()
            report = running.result() if error is None and not running.cancelled() else None
            handle.end(report=report, error=error)

        def on_done(_: object) -> None:
            with contextlib.suppress(RuntimeError):
                here.call_soon_threadsafe(end)

        running.add_done_callback(on_done)
        handle.when_over(running.cancel)
        return handle


def _on_loop(
    loop: asyncio.AbstractEventLoop, call: Callable[_Arguments, None] | None
) -> Callable[_Arguments, None] | None:
    """Return a function that calls ``call`` on ``loop``, or None without ``call``."""
    if call is None:
        return None

    def pass_on(*values: _Arguments.args, **named: _Arguments.kwargs) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: call(*values, **named))

    return pass_on


async def _run(begin: Begin, hooks: Callbacks) -> SynthesisReport | None:
    """Run a request on the loop of the backend. Cancelling this cancels the request."""
    async with begin(hooks) as running:
        return await running.finished()


async def _texts_from(pieces: AsyncIterable[str], loop: asyncio.AbstractEventLoop) -> AsyncIterable[str]:
    """Yield the pieces of an iterable that belongs to ``loop``."""
    iterator = pieces.__aiter__()

    async def next_piece() -> str | None:
        return await anext(iterator, None)

    while True:
        piece = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(next_piece(), loop))
        if piece is None:
            return
        yield piece
