"""Cyclic garbage collection on the window's thread only.

By default Python collects on whichever thread allocates. Closed dialogs contain reference cycles and would be destroyed
on the player's or the worker reader's thread, which Qt does not allow: the program may crash.
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
    """Collect garbage on the calling thread, which must run Qt's event loop, and on no other."""
    was_enabled = gc.isenabled()
    gc.disable()
    timer = QTimer()
    timer.setInterval(_LOOK_MILLISECONDS)
    timer.timeout.connect(collect_if_due)
    timer.start()
    # Exclude the 90,000 objects of the start, which stay: traversing them would stall the window.
    QTimer.singleShot(_START_MILLISECONDS, timer, gc.freeze)
    try:
        yield
    finally:
        timer.stop()
        if was_enabled:
            gc.enable()


def collect_if_due() -> None:
    """Collect by Python's own thresholds."""
    counts, most = gc.get_count(), gc.get_threshold()
    due = [generation for generation in range(len(counts)) if counts[generation] > most[generation]]
    if due:
        gc.collect(due[-1])
