"""Work that would make the window stand still, done on another thread; its result comes back to the window's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from studio.errors import InternalError, StudioError

_log = logging.getLogger(__name__)

# One for decoding, one so that a small thing need not wait for a long one.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="voices")
_Result = TypeVar("_Result")


def in_background(
    owner: QObject,
    work: Callable[[], _Result],
    *,
    done: Callable[[_Result], object],
    failed: Callable[[StudioError], object],
) -> None:
    """``done`` or ``failed`` is called on the window's thread, unless ``owner`` is gone by then."""
    job = _Job(owner, done, failed)
    _jobs.add(job)
    _threads.submit(job.run, work)


class _Job(QObject):
    _over = Signal(object, object)

    def __init__(self, owner: QObject, done: Callable[[Any], object], failed: Callable[[StudioError], object]) -> None:
        super().__init__()
        self._done = done
        self._failed = failed
        self._is_wanted = True
        owner.destroyed.connect(self._forget_owner)
        self._over.connect(self._on_over, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], Any]) -> None:
        """On the other thread."""
        result, error = None, None
        try:
            result = work()
        except StudioError as known:
            error = known
        except Exception as unexpected:  # noqa: BLE001 - the thread's end: whoever waits is told
            _log.exception("unexpected, in the background")
            error = InternalError(
                "Something unexpected happened: {reason}.",
                remedy="The log has the rest; please report it.",
                reason=unexpected,
            )
        self._over.emit(result, error)

    @Slot()
    def _forget_owner(self) -> None:
        self._is_wanted = False

    @Slot(object, object)
    def _on_over(self, result: object, error: StudioError | None) -> None:
        _jobs.discard(self)
        if not self._is_wanted:
            if hasattr(result, "close"):  # a microphone for a dialog that is gone
                result.close()
            return
        if error is None:
            self._done(result)
        else:
            self._failed(error)


_jobs: set[_Job] = set()
