"""Run one trial in a child process, so that a library's crash, leak or hang does not affect the program.

The child has low priority if the task requires it, and exits when its parent does.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

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
from studio.messages import message
from studio.system.low_priority import lower_priority
from studio.system.piped_process import PipedProcess, spawned

_POLL_SECONDS = 0.5
_CANCEL_GRACE_SECONDS = 10.0
_EXIT_GRACE_SECONDS = 5.0
# On a slow CPU, recording and verification report nothing for minutes.
_CHECK_TIMEOUT_SECONDS = 1800.0


class TrialProcess(PipedProcess):
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
        super().__init__(spawned("studio.engines.trial_process:serve", task, name="timbre-engines"), log_name="engines")
        self._build_timeout_seconds = build_timeout_seconds
        self._cancel_grace_seconds = cancel_grace_seconds
        self._cancelled_at: float | None = None
        self._is_paused = False
        self._has_answered = False  # with the last report, after which the process ends

    def reports(self) -> Iterator[Report]:
        """Start the process and yield its reports; the last is ``Completed``, ``Failed`` or ``WasCancelled``."""
        try:
            self.start()
        except OSError as error:
            yield Failed(FailureKind.FAILED, message("no process can be started ({reason})", reason=error))
            return
        try:
            yield from self._listen()
        finally:
            if not self._has_answered:
                self.kill()
            self.wait_exit(_EXIT_GRACE_SECONDS)

    def pause(self) -> None:
        self._is_paused = True
        self._command(Command.PAUSE)

    def resume(self) -> None:
        self._is_paused = False
        self._command(Command.RESUME)

    def cancel(self) -> None:
        """Stop the trial at its next step, or kill it after a grace period."""
        if self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
        self._command(Command.CANCEL)

    def _command(self, command: Command) -> None:
        with contextlib.suppress(OSError):  # the trial has ended
            self.send(command)

    def _listen(self) -> Iterator[Report]:
        report: Report = Step(RECORDING, 0, 1, 0, 1)
        while isinstance(report, Step):
            is_check = report.phase in (RECORDING, VERIFYING, TIMING)
            report = self._next(_CHECK_TIMEOUT_SECONDS if is_check else self._build_timeout_seconds)
            yield report

    def _next(self, timeout_seconds: float) -> Report:
        """Return the next report, or one that explains why there is none."""
        waiting_since = time.monotonic()
        try:
            while not self.has_message(_POLL_SECONDS):
                now = time.monotonic()
                if self._is_paused:
                    waiting_since = now
                if self._cancelled_at is not None and now - self._cancelled_at > self._cancel_grace_seconds:
                    return WasCancelled()
                if now - waiting_since > timeout_seconds:
                    reason = message("it made no progress for {seconds:.0f} s and was stopped", seconds=timeout_seconds)
                    return Failed(FailureKind.HUNG, reason)
            report: Report = self.receive()
        except (EOFError, OSError):
            how = self.wait_exit(_EXIT_GRACE_SECONDS)
            if self._cancelled_at is not None:
                return WasCancelled()
            return Failed(FailureKind.CRASHED, message("its process ended ({how})", how=how))
        self._has_answered = not isinstance(report, Step)
        return report


# From here on: code of the child process.


def serve(connection: Connection, task: TrialTask) -> None:
    if task.has_low_priority:
        lower_priority()
    control = TrialControl(connection)
    try:
        from studio.engines.trial_run import run_trial  # noqa: PLC0415 - torch, in the child only

        report = run_trial(task, control)
    except Exception as error:  # process boundary: any error is reported as the reason
        logging.exception("the trial could not start")
        report = Failed(FailureKind.FAILED, message("{kind}: {text}", kind=type(error).__name__, text=error))
    control.send(report)
