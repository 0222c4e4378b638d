"""Processes for the lines of a batch, beside the worker, where one process cannot use all cores.

Decision: more processes. Reason: a small model spends much of its time in Python, and with two threads in one process
it runs as many lines per minute as with one. A large model uses all cores for one line.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from studio.errors import StudioError, WorkerDied, from_record
from studio.messages import message
from studio.pipeline.request import Cancelled, EngineOptions, RequestControl, SynthesisReport, SynthesisRequest
from studio.text.arriving import ArrivingText
from studio.worker import protocol
from studio.worker.process import Worker, WorkerProcess
from studio.worker.protocol import Event

if TYPE_CHECKING:
    from studio.pipeline.synthesizer import Chunks

_log = logging.getLogger(__name__)

# Events that do not end a request.
_ONGOING = (protocol.AudioReady, protocol.Progress, protocol.PlaybackStartEstimate)
# Share of the available memory that the processes may fill.
_MEMORY_SHARE = 0.5
# Interval at which a waiting line notices that it was cancelled.
_POLL_SECONDS = 0.2


class LineProcess:
    """A worker that runs one line at a time. The constructor loads the model, and raises ``StudioError``."""

    def __init__(
        self, folder: Path, options: EngineOptions, start_worker: Callable[[], Worker] = WorkerProcess
    ) -> None:
        self.is_alive = True
        self._ids = itertools.count(1)
        self._worker = start_worker()
        try:
            self._worker.start()
            request_id = next(self._ids)
            self._send(protocol.Load(request_id, folder, options))
            while isinstance(answer := self._receive(request_id), _ONGOING):
                pass
            if isinstance(answer, protocol.Failed):
                raise from_record(answer.error)
        except OSError as error:
            raise self._died() from error
        except StudioError:
            self.kill()
            raise

    def stream(
        self,
        request: SynthesisRequest,
        control: RequestControl,
        *,
        waited_seconds: float = 0.0,
        text: ArrivingText | None = None,
    ) -> Chunks:
        """Yield the audio of a line and return its report. Raise ``Cancelled`` and ``StudioError``.

        ``text`` is its sentence, if it is still being written. ``waited_seconds`` have passed since the line began, in the
        time of which its start is estimated.
        """
        control.raise_if_cancelled()
        request_id = next(self._ids)
        is_over = False
        self._send(protocol.Synthesize(request_id, request, text_arrives=text is not None))
        end_text = None
        if text is not None:
            end_text = text.follow(lambda fragment: self._tell(protocol.AddText(request_id, fragment)))
        control.when_cancelled(lambda: self._tell(protocol.Cancel(request_id)))
        control.when_stopped_early(lambda: self._tell(protocol.StopEarly(request_id)))
        try:
            while True:
                event = self._receive(request_id)
                is_over = not isinstance(event, _ONGOING)
                match event:
                    case protocol.AudioReady(chunk=chunk):
                        yield chunk
                    case protocol.Progress(stage=stage, share=share):
                        control.report_progress(stage, share)
                    case protocol.PlaybackStartEstimate(seconds_after_start=seconds):
                        control.report_estimate(waited_seconds + seconds)
                    case protocol.Finished(report=report):
                        return report
                    case protocol.Cancelled():
                        raise Cancelled
                    case protocol.Failed(error=error):
                        raise from_record(error)
        finally:
            if end_text is not None:
                end_text()
            if not is_over and self.is_alive:
                self._drain(request_id)

    def kill(self) -> None:
        self.is_alive = False
        self._worker.kill()

    def _drain(self, request_id: int) -> None:
        """End a request whose audio is no longer wanted."""
        self._tell(protocol.Cancel(request_id))
        with contextlib.suppress(WorkerDied):
            while isinstance(self._receive(request_id), _ONGOING):
                pass

    def _tell(self, command: protocol.AddText | protocol.Cancel | protocol.StopEarly) -> None:
        with contextlib.suppress(WorkerDied):
            self._send(command)

    def _send(self, command: protocol.Command) -> None:
        try:
            self._worker.send(command)
        except OSError as error:
            raise self._died() from error

    def _receive(self, request_id: int) -> Event:
        """Return the next event of a request; late events of earlier ones are dropped."""
        try:
            while (event := self._worker.receive()).request_id != request_id:
                pass
        except (EOFError, OSError) as error:
            raise self._died() from error
        return event

    def _died(self) -> WorkerDied:
        self.kill()
        return WorkerDied(
            "The speech process ended unexpectedly ({how}).",
            remedy="Try again; it is restarted automatically.{log}",
            how=self._worker.wait_exit(),
            log=message(" Log: {path}", path=self._worker.log_path),
        )


class LineProcessPool:
    """Runs the lines of a batch: in this process, and in up to ``num_processes`` others.

    The others start when a line has to wait or :meth:`start_missing` is called, as far as memory allows. Those that
    cannot start are not started again.
    """

    def __init__(self, num_processes: int, open_process: Callable[[], LineProcess]) -> None:
        self.num_lines = 1 + num_processes
        self._open_process = open_process
        self._num_missing = num_processes
        self._free: list[LineProcess | None] = [None]  # None is this process
        self._opened: list[LineProcess] = []
        self._last_used = time.monotonic()
        self._num_interactive = 0
        self._is_closed = False
        self._changed = threading.Condition()

    def stream(
        self,
        request: SynthesisRequest,
        control: RequestControl,
        chunks: Chunks,
        *,
        in_batch: bool,
        text: ArrivingText | None = None,
    ) -> Chunks:
        """Yield the audio of a line and return its report. Raise ``Cancelled`` and ``StudioError``.

        ``text`` is its sentence, if it is still being written. ``chunks`` are those of the line in this process, where it has not begun. There, a line of a batch pauses after
        its current chunk during an interactive one.
        """
        if not in_batch:
            with self._interactive():
                return (yield from chunks)
        began = time.perf_counter()
        with self.acquire(control) as process:
            if process is not None:
                waited_seconds = time.perf_counter() - began
                return (yield from process.stream(request, control, waited_seconds=waited_seconds, text=text))
            return (yield from self._paused(chunks, control))

    @contextlib.contextmanager
    def acquire(self, control: RequestControl) -> Iterator[LineProcess | None]:
        """Wait for a free process and use it; None is this process. Raise ``Cancelled``."""
        with self._changed:
            if not self._free:
                self.start_missing()
            self._wait(lambda: bool(self._free), control)
            process = self._free.pop()
        try:
            yield process
        finally:
            with self._changed:
                self._last_used = time.monotonic()
                if process is None or process.is_alive:
                    self._free.append(process)
                elif process in self._opened:  # it has died
                    self._opened.remove(process)
                    self._num_missing += 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def _interactive(self) -> Iterator[None]:
        with self._changed:
            self._num_interactive += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_interactive -= 1
                self._changed.notify_all()

    def _paused(self, chunks: Chunks, control: RequestControl) -> Chunks:
        """Yield ``chunks`` of a line of a batch, and none during interactive requests."""
        with contextlib.closing(chunks):
            while True:
                self._wait(lambda: not self._num_interactive, control)
                try:
                    chunk = next(chunks)
                except StopIteration as end:
                    report: SynthesisReport = end.value
                    return report
                yield chunk

    def release_idle(self, seconds: float) -> None:
        """End the processes if none has been used for ``seconds``."""
        with self._changed:
            is_used = len(self._free) < 1 + len(self._opened)
            if is_used or time.monotonic() - self._last_used < seconds:
                return
            self._end_processes()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._end_processes()

    def _end_processes(self) -> None:
        ended, self._opened = self._opened, []
        self._free = [None]
        self._num_missing += len(ended)
        for process in ended:
            process.kill()

    def _wait(self, is_over: Callable[[], bool], control: RequestControl) -> None:
        with self._changed:
            while not self._changed.wait_for(is_over, _POLL_SECONDS):
                control.raise_if_cancelled()

    def start_missing(self) -> None:
        """Start as many processes as are missing and as memory allows, one after the other, on a thread."""
        with self._changed:
            count = min(self._num_missing, _num_affordable())
            self._num_missing -= count
        if count:
            threading.Thread(target=self._start, args=(count,), name="line-processes", daemon=True).start()

    def _start(self, count: int) -> None:
        for _ in range(count):
            try:
                process = self._open_process()
            except StudioError as error:
                _log.warning("lines run in fewer processes: %s", error)
                return
            with self._changed:
                if self._is_closed:
                    process.kill()
                    return
                self._opened.append(process)
                self._free.insert(0, process)  # used after those that have spoken, whose memory is warm
                self._changed.notify_all()


def _num_affordable() -> int:
    """Return how many processes of the size of this one fit into the available memory."""
    return int(_MEMORY_SHARE * psutil.virtual_memory().available / psutil.Process().memory_info().rss)
