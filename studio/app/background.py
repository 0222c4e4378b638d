"""Background work whose result is delivered on the window's thread.

Decision: the background thread holds only the number of a job; the job itself belongs to the window's thread. Reason:
the last reference destroys an object, and destroying a widget on another thread crashes the program.
"""

from __future__ import annotations

import itertools
import logging
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from studio.errors import InternalError, StudioError

_log = logging.getLogger(__name__)

# Two, so that a short job does not wait for a long one.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="background")
_Result = TypeVar("_Result")


def run_in_background(
    owner: QObject,
    work: Callable[[], _Result],
    *,
    done: Callable[[_Result], object],
    failed: Callable[[StudioError], object],
) -> None:
    """Run ``work`` on another thread, then call ``done`` or ``failed`` on the window's, unless ``owner`` is deleted."""
    messenger = _messenger()
    number = next(_numbers)
    _jobs[number] = _Job(weakref.ref(owner), work, done, failed)
    _threads.submit(_run, messenger, number)


@dataclass(frozen=True, slots=True)
class _Job:
    owner: weakref.ref[QObject]
    work: Callable[[], Any]
    done: Callable[[Any], object]
    failed: Callable[[StudioError], object]

    @property
    def is_wanted(self) -> bool:
        owner = self.owner()
        try:
            return owner is not None and owner.thread() is not None
        except RuntimeError:  # the Qt object is deleted, its Python wrapper is not
            return False


class _Messenger(QObject):
    """Belongs to the window's thread and lasts as long as the program."""

    finished = Signal(int, object, object)  # number, result, StudioError or None

    def __init__(self) -> None:
        super().__init__()
        self.finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)

    @Slot(int, object, object)
    def _on_finished(self, number: int, result: object, error: StudioError | None) -> None:
        job = _jobs.pop(number)
        if not job.is_wanted:
            if hasattr(result, "close"):  # e.g. a microphone opened for a dialog that is closed
                result.close()
        elif error is None:
            job.done(result)
        else:
            job.failed(error)


_jobs: dict[int, _Job] = {}
_numbers = itertools.count()
_messenger = cache(_Messenger)


def _run(messenger: _Messenger, number: int) -> None:
    """Runs on the background thread."""
    result, error = _outcome(number)
    messenger.finished.emit(number, result, error)


def _outcome(number: int) -> tuple[object, StudioError | None]:
    try:
        return _jobs[number].work(), None
    except StudioError as known:
        return None, known.with_traceback(None)  # its frames refer to the job
    except Exception as unexpected:  # noqa: BLE001 - the thread's outermost frame: reported to the owner
        _log.exception("unexpected, in the background")
        return None, InternalError(
            "Unexpected error: {reason}.",
            remedy="See the log for details, and please report it.",
            reason=unexpected.with_traceback(None),
        )
