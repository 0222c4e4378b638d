"""Background work: the application's one thread pool, with results delivered on the GUI thread.

Coroutines await ``run_in_thread``; everything else passes callbacks to ``run_in_background``.

Decision: a background thread holds only the number of a job; the job itself belongs to the GUI thread. Reason: the last
reference destroys an object, and destroying a widget on another thread crashes the program.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot

from studio.app.error_text import unexpected_error
from studio.errors import StudioError

_log = logging.getLogger(__name__)

# Large enough that short jobs need not wait for long ones (downloads, export checks, device scans); small enough that
# contention for the interpreter lock does not delay the GUI thread.
_MAX_THREADS = 16
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def run_in_background(
    owner: QObject,
    work: Callable[[], _Result],
    *,
    done: Callable[[_Result], object],
    failed: Callable[[StudioError], object],
) -> None:
    """Run ``work`` on a background thread, then ``done`` or ``failed`` on the GUI thread unless ``owner`` is deleted."""
    _pool().start(_OwnedJob(work, weakref.ref(owner), done, failed))


async def run_in_thread(
    work: Callable[_Arguments, _Result], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Result:
    """Run ``work`` on a background thread and return its result or raise its exception.

    Cancellation drops queued work; running work continues and its result is dropped.
    """
    job = _Job(partial(work, *args, **kwargs))
    await asyncio.wrap_future(_pool().start(job))
    error, job.error = job.error, None
    if error is None:
        result: _Result = job.result
        return result
    try:
        raise error
    finally:
        del error  # the traceback refers to this frame


def end_background_threads() -> None:
    """Wait until all background work has ended, and drop results that have not been delivered."""
    pool = _pool()
    pool.threads.shutdown()
    pool.setParent(None)


@dataclass(slots=True)
class _Job:
    work: Callable[[], Any]
    result: Any = field(default=None, init=False)
    error: BaseException | None = field(default=None, init=False)

    def run(self) -> None:
        """Runs on a background thread."""
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001 - reported on the GUI thread
            self.error = error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
            del self  # the traceback refers to this frame; the cycle would keep the job alive

    def deliver(self) -> None:
        """Report the outcome. For an awaited job this does nothing: ``run_in_thread`` reads the outcome."""


@dataclass(slots=True)
class _OwnedJob(_Job):
    owner: weakref.ref[QObject]
    done: Callable[[Any], object]
    failed: Callable[[StudioError], object]

    def deliver(self) -> None:
        if self.error is not None:
            error = _as_studio_error(self.error)
            if self._has_owner:
                self.failed(error)
        elif self._has_owner:
            self.done(self.result)
        elif hasattr(self.result, "close"):  # e.g. a microphone opened for a dialog that is closed
            self.result.close()

    @property
    def _has_owner(self) -> bool:
        owner = self.owner()
        try:
            return owner is not None and owner.thread() is not None
        except RuntimeError:  # the Qt object is deleted, its Python wrapper is not
            return False


class _Pool(QObject):
    """Child of the application. Use it on the GUI thread only."""

    _ended = Signal(int)  # number of a finished or cancelled job

    def __init__(self, application: QCoreApplication) -> None:
        super().__init__(application)
        self.threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="background")
        self._jobs: dict[int, _Job] = {}
        self._numbers = itertools.count()
        self._ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    def start(self, job: _Job) -> Future[None]:
        number = next(self._numbers)
        self._jobs[number] = job
        future = self.threads.submit(self._run, number)
        future.add_done_callback(lambda _: self._ended.emit(number))
        return future

    def _run(self, number: int) -> None:
        """Runs on a background thread."""
        self._jobs[number].run()

    @Slot(int)
    def _on_ended(self, number: int) -> None:
        self._jobs.pop(number).deliver()


def _pool() -> _Pool:
    application = QCoreApplication.instance()
    assert application is not None
    return application.findChild(_Pool, options=Qt.FindChildOption.FindDirectChildrenOnly) or _Pool(application)


def _as_studio_error(error: BaseException) -> StudioError:
    if isinstance(error, StudioError):
        return error.with_traceback(None)  # its frames keep the objects used by the work alive
    _log.error("unexpected, in the background", exc_info=error)
    return unexpected_error(error.with_traceback(None))
