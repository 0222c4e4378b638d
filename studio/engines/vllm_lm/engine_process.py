"""The process that runs vLLM, seen from the program: started with a time limit, heard by a thread, ended for good.

Nothing here waits without an end: a process that is gone, or says nothing for too long, is an ``EngineDied``.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

import studio
from studio.engines.vllm_lm.messages import (
    Command,
    Ended,
    EngineExited,
    Event,
    Generate,
    Ready,
    Rejected,
    SampleRequest,
    SampleResult,
    Serve,
    Stop,
    Tokens,
)
from studio.errors import EngineDied, OutOfMemory, StudioError
from studio.model.config import SamplingOptions
from studio.system.child_process import describe_exit, new_log_path
from studio.wording import Message, wording

_log = logging.getLogger(__name__)
# Loading, and on a card compiling and reference_io graphs, for the first time on this machine.
_START_LIMIT_SECONDS = 900.0
# Of the process: a line may wait for others longer than this.
_LONGEST_SILENCE_SECONDS = 120.0
_LOOK_SECONDS = 0.5
_EXIT_GRACE_SECONDS = 5.0

ChooseToken = Callable[[npt.NDArray[np.float32]], int]


class Line:
    """One line that is being spoken. ``events`` ends with ``Ended``, ``Rejected``, ``EngineExited``, or what choosing raised."""

    def __init__(self, number: int, choose: ChooseToken | None) -> None:
        self.number = number
        self.choose = choose
        self.events: queue.SimpleQueue[Tokens | Ended | Rejected | EngineExited | Exception] = queue.SimpleQueue()


class EngineProcess:
    """One life of vLLM. ``wait_until_ready`` belongs to one thread and comes first; ``speak`` and ``close`` to any.

    ``command`` is what is run, a descriptor and the path of a log added to it.
    """

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        *,
        start_limit_seconds: float = _START_LIMIT_SECONDS,
        build_timeout_seconds: float = _LONGEST_SILENCE_SECONDS,
    ) -> None:
        """Starts it. Raises ``EngineDied`` where no process can be started."""
        self.log_path = new_log_path("vllm")
        self._start_limit_seconds = start_limit_seconds
        self._longest_silence_seconds = build_timeout_seconds
        self._connection, far_end = multiprocessing.Pipe(duplex=True)
        self._lock = threading.Lock()
        self._lines: dict[int, Line] = {}
        self._numbers = itertools.count()
        self._over: EngineExited | None = None
        self._heard_at = 0.0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [*command, str(far_end.fileno()), str(self.log_path)],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(far_end.fileno(),),
                # A group of its own: whatever it starts is ended with it, and Ctrl+C in a terminal is not for it.
                start_new_session=True,
            )
        except OSError as error:
            raise EngineDied("No process can be started for vLLM ({reason}).", reason=error) from error
        finally:
            far_end.close()

    def wait_until_ready(self, wanted: Serve) -> Ready:
        """Raises ``EngineDied``, ``OutOfMemory``; the process is gone then."""
        try:
            ready = self._start(wanted)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._listen, name="vllm-events", daemon=True).start()
        return ready

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._over is None

    def speak(
        self,
        embeddings: npt.NDArray[np.float32],
        *,
        min_tokens: int,
        max_tokens: int,
        sampling: SamplingOptions,
        points: npt.NDArray[np.float64] | None = None,
        choose: ChooseToken | None = None,
    ) -> Generator[int, None, None]:
        """The tokens of a line, drawn there with ``points`` or here by ``choose``, on a thread of ours.

        Closing the iterator stops the line. Raises ``EngineDied``, and what ``choose`` raised.
        """
        line = Line(next(self._numbers), choose)
        with self._lock:
            self._lines[line.number] = line
            over = self._over
        try:
            if over is not None:
                raise self._death(over)
            self._send(Generate(line.number, embeddings, min_tokens, max_tokens, sampling, points))
            yield from self._tokens(line)
        finally:
            with self._lock:
                was_open = self._lines.pop(line.number, None) is not None
            if was_open and self.is_alive:
                self._send(Stop(line.number))

    def close(self) -> None:
        """Ends it at once, and waits for that."""
        self._end(EngineExited("it was closed"))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_GRACE_SECONDS)

    def _start(self, wanted: Serve) -> Ready:
        deadline = time.monotonic() + self._start_limit_seconds
        self._send(wanted)
        while time.monotonic() < deadline:
            match self._heard():
                case Ready() as ready:
                    return ready
                case EngineExited() as over:
                    raise self._death(over)
        raise EngineDied(
            "vLLM did not start within {seconds:.0f} s and was ended.",
            remedy="Its log is {log}.",
            seconds=self._start_limit_seconds,
            log=self.log_path,
        )

    def _heard(self) -> Event | None:
        """What it says within a moment, or None. A process that is gone is over, whatever it said last."""
        try:
            if self._connection.poll(_LOOK_SECONDS):
                event: Event = self._connection.recv()
                return event
        except (EOFError, OSError):
            return EngineExited(str(self._end_in_words()))
        return EngineExited(str(self._end_in_words())) if self._process.poll() is not None else None

    def _end_in_words(self) -> Message:
        try:
            return describe_exit(self._process.wait(_EXIT_GRACE_SECONDS))
        except subprocess.TimeoutExpired:
            return wording("it says nothing more")

    def _send(self, command: Command) -> None:
        # A process that has just gone is noticed by whoever listens.
        with contextlib.suppress(OSError), self._lock:
            self._connection.send(command)

    # On the listening thread.

    def _listen(self) -> None:
        while self.is_alive:
            event = self._heard()
            if event is not None:
                self._heard_at = time.monotonic()
            match event:
                case EngineExited() if self.is_alive:
                    _log.warning("vLLM ended: %s (%s)", event.reason, self.log_path)
                    self._end(event)
                case SampleRequest(number, scores):
                    self._answer(number, scores)
                case Tokens(line=number) | Ended(line=number) | Rejected(line=number):
                    self._hand_on(number, event)

    def _hand_on(self, number: int, event: Tokens | Ended | Rejected) -> None:
        with self._lock:
            line = self._lines.get(number) if isinstance(event, Tokens) else self._lines.pop(number, None)
        if line is not None:
            line.events.put(event)

    def _answer(self, number: int, scores: npt.NDArray[np.float32]) -> None:
        with self._lock:
            line = self._lines.get(number)
        token = 0  # of a line that nobody wants any more
        if line is not None and line.choose is not None:
            try:
                token = line.choose(scores)
            except Exception as error:  # noqa: BLE001 - the thread's border: the waiting side raises it
                line.events.put(error)
        self._send(SampleResult(number, token))

    def _end(self, over: EngineExited) -> None:
        with self._lock:
            self._over = self._over or over
            lines, self._lines = list(self._lines.values()), {}
        for line in lines:
            line.events.put(over)

    # On the thread of whoever wants the tokens.

    def _tokens(self, line: Line) -> Iterator[int]:
        while True:
            try:
                event = line.events.get(timeout=self._longest_silence_seconds)
            except queue.Empty:
                if time.monotonic() - self._heard_at < self._longest_silence_seconds:
                    continue
                self.close()
                raise EngineDied(
                    "vLLM said nothing for {seconds:.0f} s and was ended.",
                    remedy="Its log is {log}.",
                    seconds=self._longest_silence_seconds,
                    log=self.log_path,
                ) from None
            match event:
                case Tokens(tokens=tokens):
                    yield from tokens
                case Ended():
                    return
                case Rejected(reason=reason):
                    raise EngineDied("vLLM does not take the line ({reason}).", reason=reason)
                case EngineExited():
                    raise self._death(event)
                case Exception():
                    raise event

    def _death(self, over: EngineExited) -> StudioError:
        if over.is_memory:
            return OutOfMemory(
                "There is not enough memory for vLLM ({reason}).",
                remedy="Close other programs, or choose another engine.",
                reason=over.reason,
            )
        return EngineDied("vLLM ended ({reason}).", remedy="Its log is {log}.", reason=over.reason, log=self.log_path)


def environment_with_studio(own: Mapping[str, str]) -> dict[str, str]:
    """This process's environment and ``own``; the studio can be imported with it, wherever it lies."""
    folder = str(Path(studio.__file__).resolve().parent.parent)
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{others}" if others else folder, **own}
