"""Reports unexpected exceptions of slots and threads to the log and the user.

Otherwise Python would write them to standard error, which a program without a terminal does not have.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.errors import InternalError, StudioError

_log = logging.getLogger(__name__)

Place = tuple[type[BaseException], str, int]


class ExceptionHook(QObject):
    """``failed`` carries a StudioError and is emitted on the thread where it happened.

    A bug is reported once for each line of code that raises it, because a failing paint event repeats. A
    ``StudioError`` is reported each time: the next one from the same line may concern another edit.
    """

    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reported: set[Place] = set()

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Install the hooks for the duration of the context."""
        hooks = sys.excepthook, threading.excepthook
        sys.excepthook = self._on_error
        threading.excepthook = self._on_thread_error
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook = hooks

    def on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Exception handler of the asyncio loop."""
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
        else:
            self._on_error(type(error), error, error.__traceback__)

    def _on_thread_error(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and args.exc_type is not SystemExit:
            self._on_error(args.exc_type, args.exc_value, args.exc_traceback)

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, Exception):  # Ctrl+C in the terminal
            sys.__excepthook__(kind, error, trace)
            return
        place = _place_of(kind, trace)
        is_first = place not in self._reported
        self._reported.add(place)
        if is_first:
            _log.error("unexpected", exc_info=(kind, error, trace))
        if isinstance(error, StudioError):
            self.failed.emit(error)
            return
        if not is_first:
            return
        self.failed.emit(
            InternalError(
                "Unexpected error: {reason}.",
                remedy="See the log for details, and please report it.",
                reason=error,
            )
        )


def _place_of(kind: type[BaseException], trace: TracebackType | None) -> Place:
    """Return the exception type and the line that raised it."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (kind, trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else (kind, "", 0)
