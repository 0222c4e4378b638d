"""Work that would make the window stand still, done on another thread; its result comes back to the window's.

Decided: the other thread knows a job by its number, and all that belongs to it lies with the window's thread. Because
whoever lets go of a thing last destroys it, and a widget that is destroyed on another thread takes the program along.
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

# One for decoding, one so that a small thing need not wait for a long one.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="background")
_Result = TypeVar("_Result")


def run_in_background(
    owner: QObject,
    work: Callable[[], _Result],
    *,
    done: Callable[[_Result], object],
    failed: Callable[[StudioError], object],
) -> None:
    """``done`` or ``failed`` is called on the window's thread, unless ``owner`` is gone by then."""
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
        except RuntimeError:  # Python's half is still there, Qt's is not
            return False


class _Messenger(QObject):
    """Lives with the window's thread, for as long as the program."""

    over = Signal(int, object, object)  # number, result, StudioError or None

    def __init__(self) -> None:
        super().__init__()
        self.over.connect(self._on_over, Qt.ConnectionType.QueuedConnection)

    @Slot(int, object, object)
    def _on_over(self, number: int, result: object, error: StudioError | None) -> None:
        job = _jobs.pop(number)
        if not job.is_wanted:
            if hasattr(result, "close"):  # a microphone for a dialog that is gone
                result.close()
        elif error is None:
            job.done(result)
        else:
            job.failed(error)


_jobs: dict[int, _Job] = {}
_numbers = itertools.count()
_messenger = cache(_Messenger)


def _run(messenger: _Messenger, number: int) -> None:
    """On the other thread."""
    result, error = _outcome(number)
    messenger.over.emit(number, result, error)


def _outcome(number: int) -> tuple[object, StudioError | None]:
    try:
        return _jobs[number].work(), None
    except StudioError as known:
        return None, known.with_traceback(None)  # its frames know what belongs to the job
    except Exception as unexpected:  # noqa: BLE001 - the thread's end: whoever waits is told
        _log.exception("unexpected, in the background")
        return None, InternalError(
            "Something unexpected happened: {reason}.",
            remedy="The log has the rest; please report it.",
            reason=unexpected.with_traceback(None),
        )
