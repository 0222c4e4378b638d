"""Queue of model tasks (download, verify, import, export, remove), run one at a time on a background thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.app.background import run_in_thread
from studio.catalog.checking import CheckResult, check_model, discard_download, remove_model
from studio.catalog.installed import ModelStatus, model_statuses
from studio.catalog.known import SourceKind, known_models
from studio.catalog.progress import CancelToken, DownloadCancelled, Progress
from studio.catalog.source_order import SourceOrder, order_sources
from studio.catalog.transfer import export_model, import_model
from studio.errors import InternalError, StudioError
from studio.settings import HUGGING_FACE_ENDPOINT, MODEL_SCOPE_ENDPOINT, MODEL_SOURCE, UNFINISHED_DOWNLOADS
from studio.settings_store import Settings
from studio.system.region import is_in_china

_log = logging.getLogger(__name__)
_UPDATE_MILLISECONDS = 250


class ModelTaskKind(Enum):
    INSTALL = "install"  # download, resume or repair
    CHECK = "check"
    IMPORT = "import"
    EXPORT = "export"
    REMOVE = "remove"
    DISCARD = "discard"


@dataclass(eq=False, slots=True)
class ModelTask:
    """A task for one model. The background thread writes ``progress``, and the window reads it."""

    name: str
    kind: ModelTaskKind
    variants: frozenset[str] = frozenset()
    path: Path = Path()
    progress: Progress | None = None
    stop: CancelToken = field(default_factory=CancelToken)
    is_running: bool = False


class ModelTasks(QObject):
    """The queue. Belongs to the GUI thread. ``run`` schedules a coroutine."""

    statuses_changed = Signal()
    task_changed = Signal()  # a task was queued, started, progressed or ended
    installed = Signal(str)
    checked = Signal(object)  # CheckResult
    failed = Signal(object)  # StudioError

    def __init__(
        self, settings: Settings, run: Callable[[Coroutine[Any, Any, Any]], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.statuses: tuple[ModelStatus, ...] = ()
        self._settings = settings
        self._run = run
        self._tasks: list[ModelTask] = []
        self._is_closed = False
        self._is_processing = False
        self._timer = QTimer(self, interval=_UPDATE_MILLISECONDS)
        self._timer.timeout.connect(self.task_changed)

    # Requests, which return at once.

    def install(self, name: str, variants: frozenset[str] = frozenset()) -> None:
        self._enqueue(ModelTask(name, ModelTaskKind.INSTALL, variants))

    def resume_unfinished(self) -> None:
        """Continue downloads interrupted by the end of the program."""
        known = known_models()
        for entry in self._settings[UNFINISHED_DOWNLOADS]:
            name, *variants = entry.split("\t")
            if name in known and self.task_of(name) is None:
                self.install(name, frozenset(variants))

    def install_from_other_source(self, name: str) -> None:
        """Resume the download of ``name`` from the source after the preferred one."""
        task = ModelTask(name, ModelTaskKind.INSTALL)
        task.stop.skip_source()
        self._enqueue(task)

    def check(self, name: str) -> None:
        self._enqueue(ModelTask(name, ModelTaskKind.CHECK))

    def import_from(self, path: Path, name: str = "") -> None:
        self._enqueue(ModelTask(name, ModelTaskKind.IMPORT, path=path))

    def export_to(self, name: str, path: Path) -> None:
        self._enqueue(ModelTask(name, ModelTaskKind.EXPORT, path=path))

    def remove(self, name: str) -> None:
        self._enqueue(ModelTask(name, ModelTaskKind.REMOVE))

    def discard(self, name: str) -> None:
        """Stop the download of ``name`` and delete it."""
        self.stop(name)
        self._enqueue(ModelTask(name, ModelTaskKind.DISCARD))

    def stop(self, name: str) -> None:
        """Stop the running task of ``name`` and drop the queued ones. Downloaded data is kept."""
        for task in self._tasks:
            if task.name == name:
                task.stop.cancel()
        self._tasks = [task for task in self._tasks if task.is_running or task.name != name]
        self._keep_downloads()
        self.task_changed.emit()

    def refresh(self) -> None:
        self._run(self.refreshed())

    async def refreshed(self) -> None:
        """Read the statuses from disk and emit ``statuses_changed``."""
        self.statuses = tuple(await run_in_thread(model_statuses))
        self.statuses_changed.emit()

    # State.

    def task_of(self, name: str) -> ModelTask | None:
        return next((task for task in self._tasks if task.name == name), None)

    @property
    def current(self) -> ModelTask | None:
        return next((task for task in self._tasks if task.is_running), None)

    def status_of(self, name: str) -> ModelStatus | None:
        return next((status for status in self.statuses if status.name == name), None)

    @property
    def sources(self) -> SourceOrder:
        """Sources of models in the order in which they are tried. Raises ``UnusableSetting``."""
        own = {
            SourceKind.HUGGING_FACE: self._settings[HUGGING_FACE_ENDPOINT],
            SourceKind.MODEL_SCOPE: self._settings[MODEL_SCOPE_ENDPOINT],
        }
        return order_sources(self._settings[MODEL_SOURCE], own, is_in_china=is_in_china())

    def end_wait(self, name: str) -> None:
        """Make the waiting download of ``name`` try again now."""
        self._control(name, CancelToken.end_wait)

    def skip_source(self, name: str) -> None:
        """Continue the download of ``name`` from another source."""
        self._control(name, CancelToken.skip_source)

    def _control(self, name: str, call: Callable[[CancelToken], None]) -> None:
        for task in self._tasks:
            if task.name == name and task.is_running:
                call(task.stop)

    async def close(self) -> None:
        """Stop the running task and wait for it. Downloaded data is kept."""
        self._is_closed = True
        self._timer.stop()
        current = self.current
        self._tasks = [current] if current is not None else []
        if current is not None:
            current.stop.cancel()
        while self.current is not None:
            await asyncio.sleep(0.01)

    def _enqueue(self, task: ModelTask) -> None:
        is_queued = any(
            (other.name, other.kind) == (task.name, task.kind) and not other.stop.is_cancelled for other in self._tasks
        )
        if self._is_closed or (is_queued and task.name):
            return
        self._tasks.append(task)
        self._keep_downloads()
        self.task_changed.emit()
        if not self._is_processing:
            self._is_processing = True
            self._run(self._process_queue())

    def _keep_downloads(self) -> None:
        """Store which downloads to continue at the next start."""
        if self._is_closed:
            return
        downloads = {
            task.name: "\t".join((task.name, *sorted(task.variants)))
            for task in self._tasks
            if task.kind is ModelTaskKind.INSTALL and not task.stop.is_cancelled
        }
        try:
            self._settings[UNFINISHED_DOWNLOADS] = tuple(downloads.values())[: UNFINISHED_DOWNLOADS.most]
        except StudioError as error:  # the download does not depend on it
            _log.warning("%s", error)

    async def _process_queue(self) -> None:
        self._timer.start()
        while self._tasks:
            task = self._tasks[0]
            task.is_running = True
            self.task_changed.emit()
            try:
                # Shielded, because a thread cannot be cancelled: its task must stop by itself.
                result = await asyncio.shield(run_in_thread(self._do, task))
            except DownloadCancelled:
                pass
            except StudioError as error:
                self.failed.emit(error)
            except Exception as error:  # noqa: BLE001 - reported, so that the queue continues
                _log.exception("unexpected error in a model task")
                self.failed.emit(
                    InternalError("Unexpected error: {reason}.", remedy="See the Log tab for details.", reason=error)
                )
            else:
                if isinstance(result, CheckResult):
                    self.checked.emit(result)
                elif isinstance(result, Path):
                    self.installed.emit(result.name)
            finally:
                task.is_running = False
                self._tasks.remove(task)
                self._keep_downloads()
            if not self._is_closed:
                await self.refreshed()
        self._is_processing = False
        self._timer.stop()
        self.task_changed.emit()

    def _do(self, task: ModelTask) -> CheckResult | Path | None:
        """Run ``task`` on a background thread."""
        if task.stop.is_cancelled:
            raise DownloadCancelled

        def on_progress(progress: Progress) -> None:
            task.progress = progress

        match task.kind:
            case ModelTaskKind.INSTALL:
                return self._install(task, on_progress)
            case ModelTaskKind.CHECK:
                return check_model(task.name, stop=task.stop, on_progress=on_progress)
            case ModelTaskKind.IMPORT:
                return import_model(task.path, name=task.name or None, stop=task.stop, on_progress=on_progress)
            case ModelTaskKind.EXPORT:
                status = next(status for status in model_statuses() if status.name == task.name)
                assert status.folder is not None, "only installed models can be exported"
                export_model(task.name, status.folder, task.path, stop=task.stop, on_progress=on_progress)
            case ModelTaskKind.REMOVE:
                remove_model(task.name)
            case ModelTaskKind.DISCARD:
                discard_download(task.name)
        return None

    def _install(self, task: ModelTask, on_progress: Callable[[Progress], None]) -> Path:
        from studio.catalog.failover import FailoverInstallation  # noqa: PLC0415 - its library is slow to load

        model, sources = known_models()[task.name], self.sources
        return FailoverInstallation(
            model, sources, variants=task.variants, stop=task.stop, on_progress=on_progress
        ).run()
