"""Work that gives way to other work."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_NICENESS = 10
_Result = TypeVar("_Result")


def at_low_priority(work: Callable[[], _Result]) -> _Result:
    """Return the result of ``work``, which runs on a thread of its own. Raise its errors.

    On Linux, this thread and those that it starts, such as OpenMP's, have a low priority. Elsewhere, only whole processes
    can have one, so it does not change.
    """
    with ThreadPoolExecutor(1, "low-priority", initializer=_lower_priority) as pool:
        return pool.submit(work).result()


def _lower_priority() -> None:
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
