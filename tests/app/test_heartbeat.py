"""The event loop is not blocked while lines are spoken: a 10 ms timer keeps firing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from event_loop_monitor import MAX_STALL_SECONDS, EventLoopMonitor
from PySide6.QtCore import QTimer
from window_bench import MODEL, Bench


def edit_all_the_time(bench: Bench) -> QTimer:
    """Type and select lines while others are spoken."""
    window, turn = bench.window, [0]
    assert window is not None
    timer = QTimer(window)  # child of the window, so that it ends with it even if the test fails

    def write() -> None:
        turn[0] += 1
        lines = bench.lines
        window.script.view.go_to(lines[turn[0] % len(lines)].id)
        if turn[0] % 3 == 0:
            window.script.set_field("pause_after_seconds", 0.1 * (turn[0] % 20), "Edit", merges=True)

    timer.timeout.connect(write)
    timer.start(60)
    return timer


@pytest.mark.slow
def test_synthesis_does_not_block_the_window(bench: Bench) -> None:
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text(
        "\n\n".join(f"Line {word} has breathe breathe words." for word in ("one", "two", "three", "four", "five"))
    )
    bench.live(0.3)
    monitor, hand = EventLoopMonitor(), edit_all_the_time(bench)
    bench.trigger("speak.stale")
    bench.trigger("play.from_here")
    bench.until(lambda: not bench.session.queue.waiting and bench.session.queue.current is None)
    bench.live(0.5)
    hand.stop()
    print("\nstalls:", monitor.stop())  # noqa: T201 - shown by pytest -rA
    assert len(monitor.stalls) > 50
    assert max(monitor.stalls) < MAX_STALL_SECONDS


@pytest.mark.slow
def test_a_real_model_does_not_block_the_window(make_bench: Callable[..., Any]) -> None:
    """Uses a real worker process, from loading the model to the last word."""
    from studio.worker.process import WorkerProcess

    bench = make_bench(start_worker=WorkerProcess, model=MODEL)
    bench.add_voice()
    window = bench.open_window()
    window.script.paste_text("The harbour was quiet at 3 o'clock. Nobody said a word.\n\nThen 12 lamps went on.")
    bench.live(0.3)
    monitor, hand = EventLoopMonitor(), edit_all_the_time(bench)
    bench.trigger("speak.stale")
    bench.until(lambda: not bench.session.queue.waiting and bench.session.queue.current is None, seconds=400)
    hand.stop()
    words = monitor.stop()
    print("\nstalls:", words)  # noqa: T201
    assert all(line.chosen_take for line in bench.lines), window.notices.words
    assert max(monitor.stalls) < MAX_STALL_SECONDS, words
