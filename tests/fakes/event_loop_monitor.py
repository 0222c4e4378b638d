"""A timer of 10 ms in the window's thread that measures how long the window is blocked."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from PySide6.QtCore import QTimer

_INTERVAL_MILLISECONDS = 10
# For a busy computer with two cores. Users notice a tenth of a second.
MAX_STALL_SECONDS = 0.25


class EventLoopMonitor:
    """Records how late each timer event is, in seconds.

    ``delays`` contains the total delays, ``stalls`` the delays without the time that other programs used the CPU.
    """

    def __init__(self) -> None:
        self.stalls: list[float] = []
        self.delays: list[float] = []
        self._last = time.perf_counter()
        self._last_preempted = preempted_seconds()
        self._timer = QTimer()
        self._timer.setInterval(_INTERVAL_MILLISECONDS)
        self._timer.timeout.connect(self._measure)
        self._timer.start()

    def _measure(self) -> None:
        now, preempted = time.perf_counter(), preempted_seconds()
        delay = max(0.0, now - self._last - _INTERVAL_MILLISECONDS / 1000)
        self.delays.append(delay)
        self.stalls.append(max(0.0, delay - (preempted - self._last_preempted)))
        self._last, self._last_preempted = now, preempted

    def stop(self) -> str:
        self._timer.stop()
        return f"own: {_summary(self.stalls)}; with other programs: {_summary(self.delays)}"


def preempted_seconds() -> float:
    """Return how long this thread has waited for the CPU since its start, on Linux; otherwise 0."""
    statistics = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    return int(statistics.read_text().split()[1]) / 1e9 if statistics.exists() else 0.0


def _summary(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"worst {ordered[-1] * 1000:.0f} ms, 99 % under {ordered[int(0.99 * len(ordered))] * 1000:.0f} ms"
