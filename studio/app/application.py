"""The Qt application and its process: opened files, unexpected exceptions, garbage collection, first paint."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QWidget

from studio.app.error_text import unexpected_error
from studio.errors import StudioError

_log = logging.getLogger(__name__)
_COLLECTION_MILLISECONDS = 500
_START_MILLISECONDS = 5_000
# A window that starts minimised or behind a locked screen is not painted.
_LATEST_PAINT_MILLISECONDS = 3_000


class Application(QApplication):
    """QApplication that receives files opened by the system; on macOS this includes double-clicked files.

    Files that arrive before ``hand_files_to`` is called are kept until then.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._open: Callable[[Path], object] | None = None

    def hand_files_to(self, call: Callable[[Path], object]) -> None:
        self._open = call
        waiting, self._waiting = self._waiting, []
        for path in waiting:
            call(path)

    def event(self, event: QEvent) -> bool:
        """Handle file open events. An event filter would receive every event of every widget."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if event.file():  # otherwise a URL
            path = Path(event.file())
            if self._open is None:
                self._waiting.append(path)
            else:
                self._open(path)
        return True


Place = tuple[type[BaseException], str, int]  # exception type, file and line number


class ExceptionHook(QObject):
    """Reports unexpected exceptions of slots and threads to the log and the user.

    By default Python writes them to standard error, which is missing without a terminal. ``failed``
    carries a StudioError and is emitted on the thread of the exception. A bug is reported once for each line of code
    that raises it, because a failing paint event repeats. A ``StudioError`` is reported each time: the next one from
    the same line may concern another edit.
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
        elif is_first:
            self.failed.emit(unexpected_error(error))


def _place_of(kind: type[BaseException], trace: TracebackType | None) -> Place:
    """Return the exception type and the line that raised it."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (kind, trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else (kind, "", 0)


@contextmanager
def gui_thread_collection() -> Iterator[None]:
    """Collect cyclic garbage only on the calling thread, which must run Qt's event loop.

    By default Python collects on whichever thread allocates. Closed dialogs contain reference cycles and would be
    destroyed on the player's or the worker reader's thread, which Qt does not allow: the program may crash.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    timer = QTimer()
    timer.setInterval(_COLLECTION_MILLISECONDS)
    timer.timeout.connect(collect_if_due)
    timer.start()
    # The 90,000 objects created at the start stay alive. Traversing them each time would stall the window.
    QTimer.singleShot(_START_MILLISECONDS, timer, gc.freeze)
    try:
        yield
    finally:
        timer.stop()
        if was_enabled:
            gc.enable()


def collect_if_due() -> None:
    """Collect the generations that exceed Python's thresholds."""
    counts, most = gc.get_count(), gc.get_threshold()
    due = [generation for generation in range(len(counts)) if counts[generation] > most[generation]]
    if due:
        gc.collect(due[-1])


def after_first_paint(window: QWidget, call: Callable[[], object]) -> None:
    """Call ``call`` once from the event loop after the first paint of ``window``, which must not be shown yet."""
    _FirstPaint(window, call)


class _FirstPaint(QObject):
    def __init__(self, window: QWidget, call: Callable[[], object]) -> None:
        super().__init__(window)
        self._call: Callable[[], object] | None = call
        window.installEventFilter(self)
        # A zero timer after ``show`` would fire before the screen is updated.
        QTimer.singleShot(_LATEST_PAINT_MILLISECONDS, self, self._begin)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._begin)
        return False

    def _begin(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()
            self.deleteLater()
