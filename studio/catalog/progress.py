"""Progress and cancellation of downloads, verification and copying."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    import httpx2

_WINDOW_SECONDS = 15.0
# A speed measured for less time than this is not representative.
_MIN_SECONDS = 2.0


class DownloadCancelled(Exception):
    """The user cancelled the work. Completed parts are kept."""


class SourceSkipped(Exception):
    """The user wants another source."""


class CancelToken:
    """A cancellation flag that also interrupts waiting for a server.

    ``cancel``, ``skip_source`` and ``end_wait`` may be called from any thread.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._wake = threading.Event()  # ends a wait
        self._is_skipping = False
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            self._interrupt()

    def skip_source(self) -> None:
        """Interrupt the download from the current source with ``SourceSkipped``."""
        with self._lock:
            self._is_skipping = True
            self._interrupt()

    def forget_skip(self) -> None:
        self._is_skipping = False

    def end_wait(self) -> None:
        """End the current ``countdown`` now."""
        self._wake.set()

    def check(self) -> None:
        """Raise ``DownloadCancelled`` or ``SourceSkipped`` if that was requested."""
        if self.is_cancelled:
            raise DownloadCancelled
        if self._is_skipping:
            raise SourceSkipped

    def countdown(self, seconds: float, report: Callable[[float], None]) -> None:
        """Wait, and ``report`` the remaining seconds every second. Raise the errors of ``check`` without delay."""
        self._wake.clear()
        end, left = time.monotonic() + seconds, seconds
        while left > 0:
            self.check()
            report(left)
            if self._wake.wait(left % 1.0 or 1.0):
                break
            left = end - time.monotonic()
        self.check()

    def _interrupt(self) -> None:
        self._wake.set()
        if self._connection is not None:
            _shut_down(self._connection)

    @contextlib.contextmanager
    def watching(self, response: httpx2.Response) -> Iterator[None]:
        """While ``response`` is being read, let ``cancel`` also shut down its connection, which wakes the reader."""
        stream: object = response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
        with self._lock:
            self._connection = connection if isinstance(connection, socket.socket) else None
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._connection = None


def _shut_down(connection: socket.socket) -> None:
    """Wake the thread that reads from ``connection``. Bypasses TLS, whose shutdown is not thread-safe."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Phase(Enum):
    LISTING = "listing"  # requesting the list of files
    CHECKING = "checking"  # hashing existing files
    RECEIVING = "receiving"
    WAITING = "waiting"  # waiting before another attempt
    COPYING = "copying"  # copying from or to a folder or an archive


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of the progress."""

    phase: Phase
    file: str = ""
    file_bytes: int = 0  # processed bytes of ``file``
    file_size_bytes: int = 0
    done_bytes: int = 0  # processed bytes of all files
    total_bytes: int = 0  # 0 while unknown
    bytes_per_second: float | None = None  # None until measured, like ``remaining_seconds``
    remaining_seconds: float | None = None
    error: StudioError | None = None  # reason for waiting
    wait_seconds: float = 0.0  # time until the next attempt
    source: str = ""  # name of the hub or host; empty if there is only one

    @property
    def share(self) -> float | None:
        return self.done_bytes / self.total_bytes if self.total_bytes else None


OnProgress = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """Do nothing. The default callback."""


class SpeedMeter:
    """Moving average of the transfer speed over the last 15 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._readings: deque[tuple[float, int]] = deque()
        self._received = 0

    def restart(self) -> None:
        """Start a new measurement, for example after a pause."""
        self._readings.clear()
        self._readings.append((self._clock(), self._received))

    def add(self, num_bytes: int) -> None:
        """Count received bytes. A negative number, which means that a file was restarted, counts as 0."""
        now = self._clock()
        if not self._readings:
            self._readings.append((now, self._received))
        self._received += max(0, num_bytes)
        self._readings.append((now, self._received))
        while now - self._readings[0][0] > _WINDOW_SECONDS and len(self._readings) > 2:
            self._readings.popleft()

    @property
    def bytes_per_second(self) -> float | None:
        if len(self._readings) < 2:
            return None
        (begin, before), (end, after) = self._readings[0], self._readings[-1]
        seconds = end - begin
        return (after - before) / seconds if seconds >= _MIN_SECONDS else None

    def remaining_seconds(self, num_bytes: int) -> float | None:
        speed = self.bytes_per_second
        return num_bytes / speed if speed else None


class ProgressCounter:
    """Counts the processed bytes of several files whose total size is known, and reports them."""

    def __init__(
        self, phase: Phase, total_bytes: int, stop: CancelToken, on_progress: OnProgress, *, done_bytes: int = 0
    ) -> None:
        """``phase`` is the one whose speed is measured. ``done_bytes`` were processed by an earlier attempt."""
        self.stop = stop
        self._phase = phase
        self._total_bytes = total_bytes
        self._on_progress = on_progress
        self._speed = SpeedMeter()
        self._earlier_bytes = done_bytes  # bytes of the files before the current one
        self._file, self._file_bytes, self._file_size_bytes = "", 0, 0

    def begin(self, file: str, size_bytes: int) -> None:
        """Start the next file."""
        self._earlier_bytes += self._file_bytes
        self._file, self._file_bytes, self._file_size_bytes = file, 0, size_bytes

    def add(self, num_bytes: int) -> None:
        """Count and report bytes of the current file. Raise ``DownloadCancelled``."""
        self.stop.check()
        self.report(self._phase, self._file_bytes + num_bytes)

    def report(
        self, phase: Phase, file_bytes: int, *, error: StudioError | None = None, wait_seconds: float = 0.0
    ) -> None:
        """Report that ``file_bytes`` of the current file are processed."""
        if phase is self._phase:
            self._speed.add(file_bytes - self._file_bytes)
        self._file_bytes = file_bytes
        done_bytes = self._earlier_bytes + file_bytes
        self._on_progress(
            Progress(
                phase,
                self._file,
                file_bytes,
                self._file_size_bytes,
                done_bytes,
                self._total_bytes,
                self._speed.bytes_per_second,
                self._speed.remaining_seconds(self._total_bytes - done_bytes),
                error,
                wait_seconds,
            )
        )
        if phase is Phase.WAITING:
            self._speed.restart()
