"""Work on models beside the window: one thing after the other, on a thread, while everything else goes on.

What is asked for waits its turn here; what was interrupted by the end of the program is on the disk, and goes on
when somebody asks for it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from studio.catalog.cancellation import CancelToken, DownloadCancelled
from studio.catalog.checking import CheckResult, check_model, discard_download, remove_model
from studio.catalog.exporting import export_model
from studio.catalog.importing import import_model
from studio.catalog.installed import ModelStatus, model_statuses
from studio.catalog.known import SourceKind, known_models
from studio.catalog.progress import Progress
from studio.catalog.source_factory import open_source
from studio.catalog.sources import endpoint_of
from studio.errors import InternalError, StudioError
from studio.settings import HUGGING_FACE_ENDPOINT, MODEL_SCOPE_ENDPOINT, MODEL_SOURCE
from studio.settings_store import Settings

_log = logging.getLogger(__name__)
_SHOW_MILLISECONDS = 250


class ModelTaskKind(Enum):
    INSTALL = "install"  # or go on with it, or mend
    CHECK = "check"
    IMPORT = "import"
    EXPORT = "export"
    REMOVE = "remove"
    DISCARD = "discard"


@dataclass(eq=False, slots=True)
class ModelTask:
    """Of one model. ``progress`` is written by the thread that works, and read by whoever looks."""

    name: str
    kind: ModelTaskKind
    variants: frozenset[str] = frozenset()
    path: Path = Path()
    progress: Progress | None = None
    stop: CancelToken = field(default_factory=CancelToken)
    is_running: bool = False


class ModelTasks(QObject):
    """``run`` lets a coroutine go on beside the window. Belongs to the window's thread."""

    statuses_changed = Signal()
    task_changed = Signal()  # begun, ended, or further than before
    installed = Signal(str)
    checked = Signal(object)  # CheckResult
    done = Signal(object)  # ModelTask
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
        self._is_working_off = False
        self._timer = QTimer(self)
        self._timer.setInterval(_SHOW_MILLISECONDS)
        self._timer.timeout.connect(self.task_changed)

    # What is asked for; returns at once.

    def install(self, name: str, variants: frozenset[str] = frozenset()) -> None:
        self._ask(ModelTask(name, ModelTaskKind.INSTALL, variants))

    def check(self, name: str) -> None:
        self._ask(ModelTask(name, ModelTaskKind.CHECK))

    def import_from(self, path: Path, name: str = "") -> None:
        self._ask(ModelTask(name, ModelTaskKind.IMPORT, path=path))

    def export_to(self, name: str, path: Path) -> None:
        self._ask(ModelTask(name, ModelTaskKind.EXPORT, path=path))

    def remove(self, name: str) -> None:
        self._ask(ModelTask(name, ModelTaskKind.REMOVE))

    def discard(self, name: str) -> None:
        """What has arrived of it, once it is not arriving any more."""
        self.stop(name)
        self._ask(ModelTask(name, ModelTaskKind.DISCARD))

    def stop(self, name: str) -> None:
        """Whatever is done with it or waits to be. What has arrived of a download is kept."""
        for task in self._tasks:
            if task.name == name:
                task.stop.cancel()
        self._tasks = [task for task in self._tasks if task.is_running or task.name != name]
        self.task_changed.emit()

    def refresh(self) -> None:
        self._run(self.refreshed())

    async def refreshed(self) -> None:
        """Looks at what is on the disk, and tells."""
        self.statuses = tuple(await asyncio.to_thread(model_statuses))
        self.statuses_changed.emit()

    # What there is.

    def task_of(self, name: str) -> ModelTask | None:
        return next((task for task in self._tasks if task.name == name), None)

    @property
    def current(self) -> ModelTask | None:
        return next((task for task in self._tasks if task.is_running), None)

    def status_of(self, name: str) -> ModelStatus | None:
        return next((status for status in self.statuses if status.name == name), None)

    @property
    def source_kind(self) -> SourceKind:
        return SourceKind(self._settings[MODEL_SOURCE])

    @property
    def endpoint(self) -> str:
        """Where downloads come from. Raises ``UnusableSetting``."""
        return endpoint_of(self.source_kind, self._own_endpoint)

    async def close(self) -> None:
        """Ends what is being done, and waits for it; what has arrived is kept."""
        self._is_closed = True
        self._timer.stop()
        current = self.current
        self._tasks = [current] if current is not None else []
        if current is not None:
            current.stop.cancel()
        while self.current is not None:
            await asyncio.sleep(0.01)

    # Inside.

    @property
    def _own_endpoint(self) -> str:
        kind = self.source_kind
        return self._settings[HUGGING_FACE_ENDPOINT if kind is SourceKind.HUGGING_FACE else MODEL_SCOPE_ENDPOINT]

    def _ask(self, task: ModelTask) -> None:
        is_asked_already = any(
            (other.name, other.kind) == (task.name, task.kind) and not other.stop.is_cancelled for other in self._tasks
        )
        if self._is_closed or (is_asked_already and task.name):
            return
        self._tasks.append(task)
        self.task_changed.emit()
        if not self._is_working_off:
            self._is_working_off = True
            self._run(self._process_queue())

    async def _process_queue(self) -> None:
        self._timer.start()
        while self._tasks:
            task = self._tasks[0]
            task.is_running = True
            self.task_changed.emit()
            try:
                # Shielded: a thread cannot be cancelled, only asked to stop.
                result = await asyncio.shield(asyncio.to_thread(self._do, task))
            except DownloadCancelled:
                pass
            except StudioError as error:
                self.failed.emit(error)
            except Exception as error:  # noqa: BLE001 - the thread's end: whoever waits is told, and the next in line has its turn
                _log.exception("unexpected, while working on a model")
                self.failed.emit(
                    InternalError(
                        "Something unexpected happened: {reason}.", remedy="The log tab has the rest.", reason=error
                    )
                )
            else:
                self._tell(task, result)
            finally:
                task.is_running = False
                self._tasks.remove(task)
            if not self._is_closed:
                await self.refreshed()
        self._is_working_off = False
        self._timer.stop()
        self.task_changed.emit()

    def _do(self, task: ModelTask) -> CheckResult | Path | None:
        """On a thread of its own."""
        task.stop.check()

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
                assert status.folder is not None, "only a model that is here is exported"
                export_model(task.name, status.folder, task.path, stop=task.stop, on_progress=on_progress)
            case ModelTaskKind.REMOVE:
                remove_model(task.name)
            case ModelTaskKind.DISCARD:
                discard_download(task.name)
        return None

    def _install(self, task: ModelTask, on_progress: Callable[[Progress], None]) -> Path:
        from studio.catalog.installation import Installation  # noqa: PLC0415 - nobody waits for its library before

        source = open_source(self.source_kind, self._own_endpoint)
        model = known_models()[task.name]
        return Installation(model, source, variants=task.variants, stop=task.stop, on_progress=on_progress).run()

    def _tell(self, task: ModelTask, result: CheckResult | Path | None) -> None:
        if isinstance(result, CheckResult):
            self.checked.emit(result)
        elif isinstance(result, Path):
            self.installed.emit(result.name)
        self.done.emit(task)
