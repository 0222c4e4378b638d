"""A timer of 10 ms in the window's thread, which measures how long the window is blocked."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from PySide6.QtCore import QTimer

_BEAT_MILLISECONDS = 10
# Beside other busy programs on two cores. A person notices a tenth of a second.
LONGEST_STALL_SECONDS = 0.25


class Heart:
    """``stalls``: how much too late each beat came, in seconds, without what other programs took of the processor."""

    def __init__(self) -> None:
        self.stalls: list[float] = []
        self.delays: list[float] = []
        self._last = time.perf_counter()
        self._last_robbed = robbed_seconds()
        self._timer = QTimer()
        self._timer.setInterval(_BEAT_MILLISECONDS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now, robbed = time.perf_counter(), robbed_seconds()
        delay = max(0.0, now - self._last - _BEAT_MILLISECONDS / 1000)
        self.delays.append(delay)
        self.stalls.append(max(0.0, delay - (robbed - self._last_robbed)))
        self._last, self._last_robbed = now, robbed

    def stop(self) -> str:
        self._timer.stop()
        return f"of our own: {_figures(self.stalls)}; with the other programs' part: {_figures(self.delays)}"


def robbed_seconds() -> float:
    """How long this thread could have run since it began, and had to let others (Linux; elsewhere nothing)."""
    statistics = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    return int(statistics.read_text().split()[1]) / 1e9 if statistics.exists() else 0.0


def _figures(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"worst {ordered[-1] * 1000:.0f} ms, 99 % under {ordered[int(0.99 * len(ordered))] * 1000:.0f} ms"
