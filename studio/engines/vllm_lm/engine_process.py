"""Client of the process that runs vLLM. All waits have time limits; an exit or a hang raises ``EngineDied``."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from multiprocessing.connection import Connection
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
from studio.model.options import SamplingOptions
from studio.system.piped_process import PipedProcess

_log = logging.getLogger(__name__)
# Includes loading and, on a GPU, the first compilation and capture of graphs on this machine.
_START_LIMIT_SECONDS = 900.0
# The process counts as hung if no event arrives for this long. A single line may wait longer while others run.
_RESPONSE_TIMEOUT_SECONDS = 120.0
_POLL_SECONDS = 0.5
_EXIT_GRACE_SECONDS = 5.0

ChooseToken = Callable[[npt.NDArray[np.float32]], int]


class Line:
    """A line in progress.

    ``events`` ends with ``Ended``, ``Rejected``, ``EngineExited`` or an exception of ``choose``.
    """

    def __init__(self, number: int, choose: ChooseToken | None) -> None:
        self.number = number
        self.choose = choose
        self.events: queue.SimpleQueue[Tokens | Ended | Rejected | EngineExited | Exception] = queue.SimpleQueue()


class _Command:
    """A command as the ``Child`` of a ``PipedProcess``, with a file descriptor and the path of the log appended."""

    def __init__(self, command: list[str], environment: Mapping[str, str], far_end: Connection, log_path: Path) -> None:
        self._arguments = [*command, str(far_end.fileno()), str(log_path)]
        self._environment = dict(environment)
        self._descriptor = far_end.fileno()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exitcode(self) -> int | None:
        return self._process.poll() if self._process else None

    def start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            self._arguments,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(self._descriptor,),
            # A separate process group: its children end with it, and it does not receive Ctrl+C from the terminal.
            start_new_session=True,
        )

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def join(self, timeout: float | None = None) -> None:
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout)


class EngineProcess:
    """One vLLM process. Call ``wait_until_ready`` first; ``generate`` and ``close`` are thread-safe.

    ``command`` is run with a file descriptor and the path of the log appended.
    """

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        *,
        start_limit_seconds: float = _START_LIMIT_SECONDS,
        response_timeout_seconds: float = _RESPONSE_TIMEOUT_SECONDS,
    ) -> None:
        """Start the process. Raises ``EngineDied``."""
        self._process = PipedProcess(partial(_Command, command, environment), log_name="vllm")
        self.log_path = self._process.log_path
        self._start_limit_seconds = start_limit_seconds
        self._response_timeout_seconds = response_timeout_seconds
        self._lock = threading.Lock()
        self._lines: dict[int, Line] = {}
        self._numbers = itertools.count()
        self._exited: EngineExited | None = None
        self._last_event_at = 0.0
        try:
            self._process.start()
        except OSError as error:
            raise EngineDied("No process can be started for vLLM ({reason}).", reason=error) from error

    def wait_until_ready(self, wanted: Serve) -> Ready:
        """Wait until vLLM is loaded. Raises ``EngineDied``, ``OutOfMemory``, after which the process has ended."""
        try:
            ready = self._start(wanted)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._listen, name="vllm-events", daemon=True).start()
        return ready

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._exited is None

    def generate(
        self,
        embeddings: npt.NDArray[np.float32],
        *,
        min_tokens: int,
        max_tokens: int,
        sampling: SamplingOptions,
        points: npt.NDArray[np.float64] | None = None,
        choose: ChooseToken | None = None,
    ) -> Generator[int, None, None]:
        """Yield the tokens of a line, sampled in the process with ``points``, or here by ``choose`` on the event
        thread.

        Closing the iterator stops the line. Raises ``EngineDied``, and the errors of ``choose``.
        """
        line = Line(next(self._numbers), choose)
        with self._lock:
            self._lines[line.number] = line
            exited = self._exited
        try:
            if exited is not None:
                raise self._exit_error(exited)
            self._send(Generate(line.number, embeddings, min_tokens, max_tokens, sampling, points))
            yield from self._tokens(line)
        finally:
            with self._lock:
                was_open = self._lines.pop(line.number, None) is not None
            if was_open and self.is_alive:
                self._send(Stop(line.number))

    def close(self) -> None:
        """Kill the process and wait for its exit."""
        self._end(EngineExited("it was closed"))
        self._process.kill()
        self._process.wait_exit(_EXIT_GRACE_SECONDS)

    def _start(self, wanted: Serve) -> Ready:
        deadline = time.monotonic() + self._start_limit_seconds
        self._send(wanted)
        while time.monotonic() < deadline:
            match self._poll():
                case Ready() as ready:
                    return ready
                case EngineExited() as exited:
                    raise self._exit_error(exited)
        raise EngineDied(
            "vLLM did not start within {seconds:.0f} s and was stopped.",
            remedy="See the log {log}.",
            seconds=self._start_limit_seconds,
            log=self.log_path,
        )

    def _poll(self) -> Event | None:
        """Return the next event, or None after half a second; ``EngineExited`` if the process has ended."""
        try:
            event: Event | None = self._process.receive() if self._process.has_message(_POLL_SECONDS) else None
        except (EOFError, OSError):
            return EngineExited(str(self._process.wait_exit(_EXIT_GRACE_SECONDS)))
        return event

    def _send(self, command: Command) -> None:
        # The event thread detects a process that has ended.
        with contextlib.suppress(OSError):
            self._process.send(command)

    # On the event thread.

    def _listen(self) -> None:
        while self.is_alive:
            event = self._poll()
            if event is not None:
                self._last_event_at = time.monotonic()
            match event:
                case EngineExited() if self.is_alive:
                    _log.warning("vLLM ended: %s (%s)", event.reason, self.log_path)
                    self._end(event)
                case SampleRequest(number, scores):
                    self._answer(number, scores)
                case Tokens(line=number) | Ended(line=number) | Rejected(line=number):
                    self._dispatch(number, event)

    def _dispatch(self, number: int, event: Tokens | Ended | Rejected) -> None:
        with self._lock:
            line = self._lines.get(number) if isinstance(event, Tokens) else self._lines.pop(number, None)
        if line is not None:
            line.events.put(event)

    def _answer(self, number: int, scores: npt.NDArray[np.float32]) -> None:
        with self._lock:
            line = self._lines.get(number)
        token = 0  # any token, for a line that was stopped
        if line is not None and line.choose is not None:
            try:
                token = line.choose(scores)
            except Exception as error:  # noqa: BLE001 - thread boundary: raised again by ``_tokens``
                line.events.put(error)
        self._send(SampleResult(number, token))

    def _end(self, exited: EngineExited) -> None:
        with self._lock:
            self._exited = self._exited or exited
            lines, self._lines = list(self._lines.values()), {}
        for line in lines:
            line.events.put(exited)

    # On the caller's thread.

    def _tokens(self, line: Line) -> Iterator[int]:
        while True:
            try:
                event = line.events.get(timeout=self._response_timeout_seconds)
            except queue.Empty:
                if time.monotonic() - self._last_event_at < self._response_timeout_seconds:
                    continue
                self.close()
                raise EngineDied(
                    "vLLM did not respond for {seconds:.0f} s and was stopped.",
                    remedy="See the log {log}.",
                    seconds=self._response_timeout_seconds,
                    log=self.log_path,
                ) from None
            match event:
                case Tokens(tokens=tokens):
                    yield from tokens
                case Ended():
                    return
                case Rejected(reason=reason):
                    raise EngineDied("vLLM rejected the line ({reason}).", reason=reason)
                case EngineExited():
                    raise self._exit_error(event)
                case Exception():
                    raise event

    def _exit_error(self, exited: EngineExited) -> StudioError:
        if exited.is_memory:
            return OutOfMemory(
                "There is not enough memory for vLLM ({reason}).",
                remedy="Close other programs, or choose another engine.",
                reason=exited.reason,
            )
        return EngineDied(
            "vLLM ended ({reason}).", remedy="See the log {log}.", reason=exited.reason, log=self.log_path
        )


def environment_with_studio(own: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with ``own``, and a PYTHONPATH from which ``studio`` can be imported."""
    folder = str(Path(studio.__file__).resolve().parent.parent)
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{others}" if others else folder, **own}
