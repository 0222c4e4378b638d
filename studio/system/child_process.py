"""Set-up shared by the child processes of the program: log files, signals, and descriptions of exit codes."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import logging
import os
import signal
import sys
import time
from pathlib import Path

from studio import paths
from studio.messages import Message, message
from studio.storage.lru import delete_least_used

_log = logging.getLogger(__name__)

_MAX_LOGS = 8
_LOG_LEVEL_VARIABLE = "TIMBRE_LOG_LEVEL"


def new_log_path(name: str) -> Path:
    """Return a new log path for a process, after deleting the oldest logs of that ``name``."""
    folder = paths.log_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    delete_least_used(folder.glob(f"{name}-*.log"), max_entries=_MAX_LOGS - 1)
    return folder / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns() % 10**9:09d}.log"


def send_output_to(log_path: Path) -> None:
    """Redirect standard output and error to ``log_path``: of Python, C libraries and child processes."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        log = os.open(log_path, flags, 0o600)
    except OSError:  # the program also runs without a log
        log = os.open(os.devnull, flags)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, standard in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, standard)
    os.close(null)
    os.close(log)
    # A windowed program on Windows has no standard streams.
    sys.stdout, sys.stderr = _writer(1), _writer(2)


def init_child(log_path: Path) -> None:
    """Set up logging, fault handling and signals of a child process. Call first."""
    send_output_to(log_path)
    faulthandler.enable()
    # Ctrl+C reaches every process of the terminal; the parent process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name = os.environ.get(_LOG_LEVEL_VARIABLE, "").strip()
    level = logging.getLevelNamesMapping().get(name.upper())
    logging.basicConfig(
        level=logging.INFO if level is None else level,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if name and level is None:
        _log.warning("%s=%r is not a log level; INFO is used", _LOG_LEVEL_VARIABLE, name)


def describe_exit(exit_code: int) -> Message:
    """Return a description of ``exit_code``, which is negative for a signal as in ``multiprocessing``."""
    if exit_code >= 0:
        return message("exit status {status}", status=exit_code)
    number = -exit_code
    name = signal.Signals(number).name if number in list(signal.Signals) else message("signal {number}", number=number)
    # The out-of-memory killer of Linux sends SIGKILL and leaves no other trace.
    return message("{signal}, possibly out of memory" if name == "SIGKILL" else "{signal}", signal=name)


def _writer(standard: int) -> io.TextIOWrapper:
    binary = io.BufferedWriter(io.FileIO(standard, "w", closefd=False))
    return io.TextIOWrapper(binary, "utf-8", "backslashreplace", line_buffering=True)
