"""Tries one candidate in a process of its own: a crash, a leak or a hang of a library stays there.

The process gives way to everything else on the machine, unless somebody waits for it, and ends when whoever
started it is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

import psutil

from studio.engines.manifest import FailureKind
from studio.engines.task import (
    LISTENING,
    TIMING,
    VERIFYING,
    Cancel,
    Failed,
    News,
    Order,
    Pause,
    Resume,
    Step,
    TrialTask,
    WasCancelled,
)
from studio.system.child_process import describe_exit, init_child, new_log_path
from studio.wording import wording

_LOOK_SECONDS = 0.5
_NICENESS = 10
_CANCEL_GRACE_SECONDS = 10.0
_EXIT_GRACE_SECONDS = 5.0
# Recording and proving on a slow processor go on for minutes without a word.
_LONGEST_PROOF_SILENCE_SECONDS = 1800.0

_alive: set[TrialProcess] = set()


class TrialProcess:
    """One trial. ``news`` belongs to one thread; the orders to anyone.

    ``longest_silence_seconds``: of the build, after which it is taken for hung and killed.
    """

    def __init__(
        self,
        task: TrialTask,
        *,
        longest_silence_seconds: float,
        cancel_grace_seconds: float = _CANCEL_GRACE_SECONDS,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.log_path = new_log_path("engines")
        self._longest_silence_seconds = longest_silence_seconds
        self._cancel_grace_seconds = cancel_grace_seconds
        self._cancelled_at: float | None = None
        self._is_paused = False
        self._is_over = False
        self._connection, self._far_end = context.Pipe(duplex=True)
        self._sending = threading.Lock()
        self._process = context.Process(
            target=_serve, args=(self._far_end, task, self.log_path), name="timbre-engines", daemon=False
        )

    def news(self) -> Iterator[News]:
        """Starts it, and yields what it says until its end, which is always one of ``Proven``, ``Failed``, ``WasCancelled``."""
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
        self._order(Pause())

    def resume(self) -> None:
        self._is_paused = False
        self._order(Resume())

    def cancel(self) -> None:
        """It ends at the next step; if that takes too long, it is killed."""
        if self._cancelled_at is None:
            self._cancelled_at = time.monotonic()
        self._order(Cancel())

    def kill(self) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):  # never started, or gone
            self._process.kill()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def _order(self, order: Order) -> None:
        # A connection takes messages of one thread at a time, and none once it is closed: its descriptor may be reused.
        with contextlib.suppress(OSError, ValueError), self._sending:
            self._connection.send(order)

    def _listen(self) -> Iterator[News]:
        heard_at, silence = time.monotonic(), _LONGEST_PROOF_SILENCE_SECONDS
        while True:
            if not wait([self._connection, self._process.sentinel], _LOOK_SECONDS):
                now = time.monotonic()
                if self._is_paused:
                    heard_at = now
                if self._cancelled_at is not None and now - self._cancelled_at > self._cancel_grace_seconds:
                    self.kill()
                    yield WasCancelled()
                    return
                if now - heard_at > silence:
                    self.kill()
                    yield Failed(
                        FailureKind.HUNG, wording("it said nothing for {seconds:.0f} s and was ended", seconds=silence)
                    )
                    return
                continue
            news = self._received()
            if news is None:
                yield self._death()
                return
            heard_at = time.monotonic()
            self._is_over = not isinstance(news, Step)
            yield news
            if not isinstance(news, Step):
                return
            is_proof = news.phase in (LISTENING, VERIFYING, TIMING)
            silence = _LONGEST_PROOF_SILENCE_SECONDS if is_proof else self._longest_silence_seconds

    def _received(self) -> News | None:
        """None where it is gone."""
        try:
            news: News | None = self._connection.recv() if self._connection.poll() else None
        except (EOFError, OSError):
            return None
        return news

    def _death(self) -> News:
        self._process.join(_EXIT_GRACE_SECONDS)
        if self._cancelled_at is not None:
            return WasCancelled()
        how = describe_exit(self._process.exitcode or 0)
        return Failed(FailureKind.CRASHED, wording("the process that tried it ended ({how})", how=how))

    def _end(self) -> None:
        """It ends by itself once it has said its last word; whoever was interrupted while listening does not wait."""
        self._process.join(_EXIT_GRACE_SECONDS if self._is_over else 0.0)
        if self._process.exitcode is None:
            self.kill()
            self._process.join()
        _alive.discard(self)
        with self._sending:
            self._connection.close()


@atexit.register
def _end_all() -> None:
    """Before multiprocessing waits for its processes: a trial may take an hour."""
    for process in list(_alive):
        process.kill()


# From here on: in the process that tries.


class TrialControl:
    """Orders from the other side, and the one way to tell it anything."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._may_run = threading.Event()
        self._may_run.set()
        self._is_cancelled = False
        threading.Thread(target=self._read, name="orders", daemon=True).start()

    def say(self, news: News) -> None:
        self._connection.send(news)

    def should_continue(self) -> bool:
        """Blocks while paused; False once cancelled."""
        self._may_run.wait()
        return not self._is_cancelled

    def _read(self) -> None:
        try:
            while True:
                match self._connection.recv():
                    case Pause():
                        self._may_run.clear()
                    case Resume():
                        self._may_run.set()
                    case Cancel():
                        self._is_cancelled = True
                        self._may_run.set()
        except (EOFError, OSError):
            os._exit(1)  # whoever started this is gone, and with it the lock on the workspace


def _serve(connection: Connection, task: TrialTask, log_path: Path) -> None:
    init_child(log_path)
    if task.gives_way:
        lower_priority()
    obedience = TrialControl(connection)
    try:
        # By name: nothing before this line reaches torch.
        news: News = importlib.import_module("studio.engines.trial_run").tried(task, obedience)
    except Exception as error:  # a broken installation is a reason, not a death
        logging.exception("the trial could not begin")
        news = Failed(FailureKind.FAILED, wording("{kind}: {text}", kind=type(error).__name__, text=error))
    obedience.say(news)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)  # libraries taking themselves apart free nothing more, and may crash


def lower_priority() -> None:
    """Low priority for processor and disk, as far as the system has such a thing; not the lowest, it is to end one day."""
    process = psutil.Process()
    with contextlib.suppress(psutil.Error, OSError):
        process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if sys.platform == "win32" else _NICENESS)
    with contextlib.suppress(psutil.Error, OSError, AttributeError, ValueError):
        process.ionice(psutil.IOPRIO_VERYLOW if sys.platform == "win32" else psutil.IOPRIO_CLASS_IDLE)
