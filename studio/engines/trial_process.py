"""Run one trial in a child process, so that a library's crash, leak or hang does not affect the program.

The child has low priority if the task requires it, and exits when its parent does.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from studio.engines.manifest import FailureKind
from studio.engines.task import (
    RECORDING,
    TIMING,
    VERIFYING,
    Command,
    Failed,
    Report,
    Step,
    TrialControl,
    TrialTask,
    WasCancelled,
)
from studio.messages import wording
from studio.system.child_process import describe_exit, init_child, lower_priority, new_log_path

_POLL_SECONDS = 0.5
_CANCEL_GRACE_SECONDS = 10.0
_EXIT_GRACE_SECONDS = 5.0
# On a slow CPU, recording and verification report nothing for minutes.
_CHECK_TIMEOUT_SECONDS = 1800.0

_alive: set[TrialProcess] = set()


class TrialProcess:
    """One trial. Use ``reports`` on one thread only; the other methods may be called from any thread.

    The process is killed as hung if a build sends no reports for ``build_timeout_seconds``.
    """

    def __init__(
        self,
        task: TrialTask,
        *,
        build_timeout_seconds: float,
        cancel_grace_seconds: float = _CANCEL_GRACE_SECONDS,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.log_path = new_log_path("engines")
        self._build_timeout_seconds = build_timeout_seconds
        self._cancel_grace_seconds = cancel_grace_seconds
        self._cancelled_at: float | None = None
        self._is_paused = False
        self._is_over = False
        self._connection, self._far_end = context.Pipe(duplex=True)
        self._sending = threading.Lock()
        self._process = context.Process(
            target=_serve, args=(self._far_end, task, self.log_path), name="timbre-engines", daemon=False
        )

    def reports(self) -> Iterator[Report]:
        """Start the process and yield its reports; the last is ``Completed``, ``Failed`` or ``WasCancelled``."""
        try:
            self._process.start()
        except OSError as error:
            yield Failed(FailureKind.FAILED, wording("no process can be started ({reason})", reason=error))
            return
        finally:
            self._far_end.close()
        _alive.add(self)
        try:
            yield from self._listen()
        finally:
            self._end()

    def pause(self) -> None:
        self._is_paused = True
        self._send(Command.PAUSE)

    def resume(self) -> None:
        self._is_paused = False
        self._send(Command.RESUME)

    def cancel(self) -> None:
        """Stop the trial at its next step, or kill it after a grace period."""
        if self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
        self._send(Command.CANCEL)

    def kill(self) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):  # not started, or ended
            self._process.kill()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def _send(self, command: Command) -> None:
        # A Connection is not thread-safe, and a closed one must not be used: its descriptor may belong to another file.
        with contextlib.suppress(OSError, ValueError), self._sending:
            self._connection.send(command)

    def _listen(self) -> Iterator[Report]:
        last_report_at, timeout = time.monotonic(), _CHECK_TIMEOUT_SECONDS
        while True:
            if not wait([self._connection, self._process.sentinel], _POLL_SECONDS):
                now = time.monotonic()
                if self._is_paused:
                    last_report_at = now
                if self._cancelled_at is not None and now - self._cancelled_at > self._cancel_grace_seconds:
                    self.kill()
                    yield WasCancelled()
                    return
                if now - last_report_at > timeout:
                    self.kill()
                    yield Failed(
                        FailureKind.HUNG,
                        wording("it made no progress for {seconds:.0f} s and was stopped", seconds=timeout),
                    )
                    return
                continue
            report = self._received()
            if report is None:
                yield self._exit_report()
                return
            last_report_at = time.monotonic()
            self._is_over = not isinstance(report, Step)
            yield report
            if not isinstance(report, Step):
                return
            is_check = report.phase in (RECORDING, VERIFYING, TIMING)
            timeout = _CHECK_TIMEOUT_SECONDS if is_check else self._build_timeout_seconds

    def _received(self) -> Report | None:
        """Return the next report, or None if the process has ended."""
        try:
            report: Report | None = self._connection.recv() if self._connection.poll() else None
        except (EOFError, OSError):
            return None
        return report

    def _exit_report(self) -> Report:
        self._process.join(_EXIT_GRACE_SECONDS)
        if self._cancelled_at is not None:
            return WasCancelled()
        how = describe_exit(self._process.exitcode or 0)
        return Failed(FailureKind.CRASHED, wording("its process ended ({how})", how=how))

    def _end(self) -> None:
        """Wait for a process that has sent its last report; kill any other."""
        self._process.join(_EXIT_GRACE_SECONDS if self._is_over else 0.0)
        if self._process.exitcode is None:
            self.kill()
            self._process.join()
        _alive.discard(self)
        with self._sending:
            self._connection.close()


@atexit.register
def _end_all() -> None:
    """Kill trials before multiprocessing waits for them at exit: one may take an hour."""
    for process in list(_alive):
        process.kill()


# From here on: code of the child process.


def _serve(connection: Connection, task: TrialTask, log_path: Path) -> None:
    init_child(log_path)
    if task.has_low_priority:
        lower_priority()
    control = TrialControl(connection)
    try:
        from studio.engines.trial_run import run_trial  # noqa: PLC0415 - torch, in the child only

        report = run_trial(task, control)
    except Exception as error:  # process boundary: any error is reported as the reason
        logging.exception("the trial could not start")
        report = Failed(FailureKind.FAILED, wording("{kind}: {text}", kind=type(error).__name__, text=error))
    control.send(report)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # skips library teardown, which may crash
