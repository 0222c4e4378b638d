"""Bridge between the worker's asyncio client and Qt signals.

Audio bypasses it: ``Callbacks.on_audio`` is called on the thread that reads from the worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from studio.app.error_text import unexpected_error
from studio.errors import StudioError, WorkerDied

if TYPE_CHECKING:
    from studio.engines.overview import EngineAction, EngineStatus
    from studio.pipeline.request import (
        ConversionRequest,
        EngineDescription,
        EngineOptions,
        SynthesisReport,
        SynthesisRequest,
        VoiceReference,
        VoiceSummary,
    )
    from studio.text.arriving import ArrivingText
    from studio.worker.client import WorkerClient
    from studio.worker.process import Worker
    from studio.worker.request_handle import Callbacks, RequestHandle

_log = logging.getLogger(__name__)


class EngineState(Enum):
    NOT_LOADED = "not loaded"  # the first request loads it
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Engine:
    """The model and its state. ``description`` is set while READY, ``error`` while FAILED.

    ``is_comparing`` is True while the model compares its precisions, which it does once, during LOADING.
    ``server`` names the other computer on which the model runs; empty for this one.
    """

    folder: Path
    state: EngineState = EngineState.NOT_LOADED
    description: EngineDescription | None = None
    error: StudioError | None = None
    server: str = ""
    is_comparing: bool = False


class WorkerBridge(QObject):
    """Connection to one worker with one model. Use it on the window's thread only."""

    engine_changed = Signal(object)  # Engine
    engines_changed = Signal(object)  # studio.engines.overview.EngineStatus, or None without a loaded model
    failed = Signal(object)  # StudioError of a task that is not awaited

    def __init__(
        self,
        start_worker: Callable[[], Worker],
        folder: Path,
        options: EngineOptions | None = None,
        parent: QObject | None = None,
        *,
        server: str = "",
    ) -> None:
        super().__init__(parent)
        self._start_worker = start_worker
        self._engine = Engine(folder, server=server)
        self._options = options
        self._client: WorkerClient | None = None
        self._engine_status: EngineStatus | None = None
        self._lines_at_once = 1
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    @property
    def engine(self) -> Engine:
        return self._engine

    @property
    def engine_status(self) -> EngineStatus | None:
        """The latest status reported by ``engines_changed``."""
        return self._engine_status

    @property
    def worker_pid(self) -> int | None:
        """The id of the worker's process, or None if it is not running."""
        return None if self._client is None else self._client.worker_pid

    @property
    def max_concurrent_lines(self) -> int:
        """Number of lines up to which concurrent synthesis is faster; 1 without a loaded model."""
        return self._lines_at_once if self._engine.state is EngineState.READY else 1

    # Slots.

    def start_loading(self) -> None:
        """Start the worker and load the model; ``engine_changed`` reports the progress."""
        self.run(self.load())

    def use_model(
        self,
        folder: Path,
        options: EngineOptions | None = None,
        *,
        start_worker: Callable[[], Worker] | None = None,
        server: str = "",
    ) -> None:
        """Switch to another model and cancel the requests to the old one.

        ``start_worker`` replaces the function of the constructor, for a model on the computer ``server``.
        """
        self._start_worker = start_worker or self._start_worker
        self.run(self._change_model(Engine(folder, EngineState.LOADING, server=server), options))

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run ``work`` as a task. Its exception is emitted as ``failed``."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    # Requests. All raise StudioError.

    async def load(self) -> EngineDescription:
        """Load the model if necessary and return its description."""
        client = self._open_client()
        if self._engine.state is not EngineState.READY:
            self._show(replace(self._engine, state=EngineState.LOADING, error=None))
        try:
            description = await client.load(on_progress=partial(self._on_load_progress, asyncio.get_running_loop()))
        except StudioError as error:
            if client is self._client:
                self._show(replace(self._engine, state=EngineState.FAILED, description=None, error=error))
            raise
        if client is self._client and self._engine.description is not description:
            self._lines_at_once = description.max_concurrent_lines
            # The model on another computer is known only now.
            folder = Path(description.folder) if self._engine.server else self._engine.folder
            self._show(Engine(folder, EngineState.READY, description, server=self._engine.server))
        return description

    def _on_load_progress(self, loop: asyncio.AbstractEventLoop, stage: str, _share: float) -> None:
        if stage == "precision":
            loop.call_soon_threadsafe(self._show_comparison)

    def _show_comparison(self) -> None:
        if self._engine.state is EngineState.LOADING:
            self._show(replace(self._engine, is_comparing=True))

    def synthesize(
        self,
        request: SynthesisRequest,
        *,
        text: ArrivingText | None = None,
        hooks: Callbacks | None = None,
        in_batch: bool = False,
    ) -> RequestHandle:
        """Synthesize with the model that ``load`` has loaded; if ``in_batch``, after interactive requests."""
        return self._open_client().synthesize(request, text=text, hooks=hooks, in_batch=in_batch)

    def convert(self, request: ConversionRequest, *, hooks: Callbacks | None = None) -> RequestHandle:
        """Convert a recording to another voice, with the model that ``load`` has loaded."""
        return self._open_client().convert(request, hooks=hooks)

    async def read_recording(self, request: SynthesisRequest, source: Path) -> SynthesisReport:
        """Read the speech tokens of a recording of the text of ``request``. The report contains them as evidence."""
        return await self._open_client().read_recording(request, source)

    async def prepare_voice(
        self, voice: VoiceReference, *, on_progress: Callable[[str, float], None] | None = None
    ) -> VoiceSummary:
        await self.load()
        return await self._open_client().prepare_voice(voice, on_progress=on_progress)

    async def num_lost_workers(self) -> int:
        """Return how many workers of this model have ended unexpectedly."""
        return 0 if self._client is None else await self._client.num_lost_workers()

    async def spell_out(self, text: str, language: str = "") -> str:
        """Return ``text`` as the model receives it. Does not load the model."""
        return await self._open_client().spell_out(text, language)

    async def manage_engines(self, action: EngineAction, keys: tuple[str, ...] = ()) -> int:
        """Run an engine command for the candidates with ``keys``, by default for all.

        Return the number of bytes freed.
        """
        await self.load()
        return await self._open_client().manage_engines(action, keys)

    def worker_died(self) -> None:
        """Report the model as not loaded. Called by code that finds the worker dead."""
        self._show(Engine(self._engine.folder, server=self._engine.server))

    async def close(self) -> None:
        """End the worker permanently. This never hangs."""
        self._is_closed = True
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        if self._client is not None:
            await self._client.close()

    async def _change_model(self, engine: Engine, options: EngineOptions | None) -> None:
        before, self._client = self._client, None
        self._options = options
        self._show(engine)
        if before is not None:
            await before.close()
        await self.load()

    def _open_client(self) -> WorkerClient:
        if self._is_closed:
            raise WorkerDied("The speech process was closed.", remedy="Restart the program.")
        if self._client is None:
            from studio.worker.client import WorkerClient  # noqa: PLC0415 - after the first paint

            self._client = WorkerClient(self._engine.folder, self._options, start_worker=self._start_worker)
            self._client.watch_engines(self._on_engine_news)
        return self._client

    def _on_engine_news(self, overview: EngineStatus) -> None:
        self._lines_at_once = overview.max_concurrent_lines
        self._show_engines(overview)

    def _show(self, engine: Engine) -> None:
        if engine != self._engine:
            if engine.state is not EngineState.READY:
                self._show_engines(None)
            self._engine = engine
            self.engine_changed.emit(engine)

    def _show_engines(self, status: EngineStatus | None) -> None:
        self._engine_status = status
        self.engines_changed.emit(status)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, StudioError):
            _log.error("unexpected", exc_info=error)
            error = unexpected_error(error)
        self.failed.emit(error)
