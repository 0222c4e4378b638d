"""The window never stands still: a heart that beats every 10 ms is listened to while lines are spoken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from window_bench import MODEL, Bench

_BEAT_MILLISECONDS = 10
# Beside other busy programs on two cores. A person notices a tenth of a second.
_LONGEST_STALL_SECONDS = 0.25


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


def edit_all_the_time(bench: Bench) -> QTimer:
    """Somebody goes on writing and choosing lines meanwhile."""
    window, timer, turn = bench.window, QTimer(), [0]
    assert window is not None

    def write() -> None:
        turn[0] += 1
        lines = bench.lines
        window.script.view.go_to(lines[turn[0] % len(lines)].id)
        if turn[0] % 3 == 0:
            window.script.set_field("pause_after_seconds", 0.1 * (turn[0] % 20), "Edit", merges=True)

    timer.timeout.connect(write)
    timer.start(60)
    return timer


def test_speaking_never_stops_the_window(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text(
        "\n\n".join(f"Line {word} has breathe breathe words." for word in ("one", "two", "three", "four", "five"))
    )
    bench.live(0.3)
    heart, hand = Heart(), edit_all_the_time(bench)
    bench.trigger("speak.stale")
    bench.trigger("play.from_here")
    bench.until(lambda: not bench.session.queue.waiting and bench.session.queue.current is None)
    bench.live(0.5)
    hand.stop()
    print("\nstalls:", heart.stop())  # noqa: T201 - pytest -rA shows it
    assert len(heart.stalls) > 50
    assert max(heart.stalls) < _LONGEST_STALL_SECONDS


@pytest.mark.slow
def test_a_real_model_never_stops_the_window(make_bench: Callable[..., Any]) -> None:
    """In a process of its own, as always; from loading the model to the last word."""
    from studio.worker.process import WorkerProcess

    bench = make_bench(start_worker=WorkerProcess, model=MODEL)
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("The harbour was quiet at 3 o'clock. Nobody said a word.\n\nThen 12 lamps went on.")
    bench.live(0.3)
    heart, hand = Heart(), edit_all_the_time(bench)
    bench.trigger("speak.stale")
    bench.until(lambda: not bench.session.queue.waiting and bench.session.queue.current is None, seconds=400)
    hand.stop()
    words = heart.stop()
    print("\nstalls:", words)  # noqa: T201
    assert all(line.chosen_take for line in bench.lines), window.notices.words
    assert max(heart.stalls) < _LONGEST_STALL_SECONDS, words
