"""The service on its own thread and event loop, for a program whose worker belongs to another loop.

Decision: the window's service uses the window's worker. Reason: a second worker would load the model twice. Alternative:
`timbre serve` as a separate process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from studio.errors import InternalError, StudioError, WorkerDied
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.serve.backend import SpeechBackend
from studio.serve.running import Address, run_service
from studio.serve.service import EndedRequest, ServiceOptions, SpeechService
from studio.text.arriving import ArrivingText
from studio.voices.library import VoiceLibrary
from studio.worker.request_events import follow, request_events
from studio.worker.request_handle import Callbacks, RequestHandle

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """State of the service, for the window. ``url`` is empty until the service listens."""

    url: str = ""
    num_running: int = 0
    num_waiting: int = 0
    num_served: int = 0
    error: StudioError | None = None
    recent: tuple[EndedRequest, ...] = ()  # the last requests, the newest first


class ServiceThread:
    """A running service. ``backend`` is used on ``backend_loop`` only, and must not be destroyed on this thread.

    ``on_change`` is called on the thread of the service when it listens and when it ends.
    """

    def __init__(
        self,
        backend: weakref.ref[SpeechBackend],
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
        recent = tuple(service.recent.copy())  # in one step: the service adds requests meanwhile
        return ServiceState(self._url, queue.num_running, queue.num_waiting, service.num_served, self._error, recent)

    def use_voice_names(self, names: Mapping[str, str]) -> None:
        """Use ``names`` instead of those of the options. May be called on any thread."""
        self._options = replace(self._options, voice_names=names)
        if self._service is not None:
            self._service.use_voice_names(names)

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

    def __init__(self, backend: weakref.ref[SpeechBackend], loop: asyncio.AbstractEventLoop) -> None:
        self._weak_backend = backend
        self._loop = loop

    async def load(self) -> EngineDescription:
        """Return the description. Sentences are spoken when they are complete, so that no line of the window waits."""
        return replace(await self._call(lambda backend: backend.load()), interleaves_text=False)

    async def num_lost_workers(self) -> int:
        return await self._call(lambda backend: backend.num_lost_workers())

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        text: ArrivingText | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Start a request after the lines of the window, regardless of ``in_batch``."""
        del in_batch

        def begin(foreign: Callbacks) -> RequestHandle:
            return self._backend().synthesize(request, text=text, hooks=foreign, in_batch=True)

        return follow(request_events(begin, loop=self._loop), hooks)

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        def begin(foreign: Callbacks) -> RequestHandle:
            return self._backend().convert(request, hooks=foreign)

        return follow(request_events(begin, loop=self._loop), hooks)

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary:
        here = asyncio.get_running_loop()

        def report(stage: str, share: float) -> None:
            if on_progress is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    here.call_soon_threadsafe(on_progress, stage, share)

        return await self._call(lambda backend: backend.prepare_voice(voice, on_progress=report))

    async def spell_out(self, text: str, language: str = "") -> str:
        return await self._call(lambda backend: backend.spell_out(text, language))

    async def _call(self, call: Callable[[SpeechBackend], Awaitable[_T]]) -> _T:
        async def run() -> _T:
            return await call(self._backend())

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), self._loop))

    def _backend(self) -> SpeechBackend:
        """Return the backend, on its loop."""
        backend = self._weak_backend()
        if backend is None:
            raise WorkerDied("The speech process was closed.", remedy="Restart the program.")
        return backend
