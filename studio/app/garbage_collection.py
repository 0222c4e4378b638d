"""Python's cyclic garbage is collected on the window's thread alone.

Because Python collects it on whichever thread happens to need memory, and a closed dialog, which is full of cycles, would
then be destroyed on that of the player or of the worker's reader: Qt allows that nowhere, and the program may die of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

_LOOK_MILLISECONDS = 500
_START_MILLISECONDS = 5_000


@contextmanager
def gui_thread_collection() -> Iterator[None]:
    """As long as this lasts, on the thread that enters it, which handles Qt's events."""
    was_enabled = gc.isenabled()
    gc.disable()
    timer = QTimer()
    timer.setInterval(_LOOK_MILLISECONDS)
    timer.timeout.connect(collect_if_due)
    timer.start()
    # What the start has made stays: looking through its ninety thousand objects would hold the window up each time.
    QTimer.singleShot(_START_MILLISECONDS, timer, gc.freeze)
    try:
        yield
    finally:
        timer.stop()
        if was_enabled:
            gc.enable()


def collect_if_due() -> None:
    """By Python's own rules, only not by itself."""
    counts, most = gc.get_count(), gc.get_threshold()
    due = [generation for generation in range(len(counts)) if counts[generation] > most[generation]]
    if due:
        gc.collect(due[-1])
