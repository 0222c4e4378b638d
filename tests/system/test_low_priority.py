"""Work of low priority."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from studio.system.low_priority import at_low_priority


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_work_and_the_threads_that_it_starts_have_a_low_priority() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    found: list[int] = []

    def read_priority() -> None:
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    def work() -> str:
        read_priority()
        started = threading.Thread(target=read_priority)
        started.start()
        started.join()
        return "done"

    assert at_low_priority(work) == "done"
    assert found == [found[0]] * 2
    assert found[0] > before
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_errors_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        at_low_priority(lambda: 1 // 0)
