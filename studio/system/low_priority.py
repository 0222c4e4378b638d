"""Work that gives way to other work: a thread of its own, or a whole process."""

from __future__ import annotations

import contextlib
import os
import sys
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
    initializer = _lower_cpu_priority if sys.platform == "linux" else None
    with ThreadPoolExecutor(1, "low-priority", initializer=initializer) as pool:
        return pool.submit(work).result()


def lower_priority() -> None:
    """Lower the process's CPU and disk priority, where the system supports it. Call before it starts threads."""
    import psutil  # noqa: PLC0415 - only in child processes

    process = psutil.Process()
    with contextlib.suppress(psutil.Error, OSError):
        if sys.platform == "win32":
            process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            _lower_cpu_priority()
    with contextlib.suppress(psutil.Error, OSError, AttributeError, ValueError):
        process.ionice(psutil.IOPRIO_VERYLOW if sys.platform == "win32" else psutil.IOPRIO_CLASS_IDLE)


def _lower_cpu_priority() -> None:
    """Lower the priority of the calling thread on Linux, and of the process on other Unix systems."""
    if sys.platform != "win32" and os.getpriority(os.PRIO_PROCESS, 0) < _NICENESS:
        os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
