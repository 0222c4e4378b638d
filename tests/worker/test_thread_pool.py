"""Idle threads are reused."""

from __future__ import annotations

import threading
import weakref

import pytest

from studio.worker.thread_pool import WorkerThreadPool

pytestmark = pytest.mark.timeout(60)


def test_a_thread_whose_work_has_ended_takes_the_next() -> None:
    threads, ended = WorkerThreadPool(), threading.Semaphore(0)
    seen: list[threading.Thread] = []
    for _ in range(5):
        threads.begin(lambda: seen.append(threading.current_thread()), ended.release)
        ended.acquire()
    assert len(set(seen)) == 1
    threads.end()
    seen[0].join()


def test_work_at_the_same_time_has_threads_of_its_own() -> None:
    threads, all_there, ended = WorkerThreadPool(), threading.Barrier(3), threading.Semaphore(0)
    seen: list[threading.Thread] = []

    def work() -> None:
        seen.append(threading.current_thread())
        all_there.wait()

    for _ in range(2):
        for _ in range(3):
            threads.begin(work, ended.release)
        for _ in range(3):
            ended.acquire()
    assert len(seen) == 6
    assert len(set(seen)) == 3
    threads.end()
    for thread in seen:
        thread.join()


def test_work_that_has_begun_is_done_before_the_end() -> None:
    threads, should_continue, ended = WorkerThreadPool(), threading.Event(), threading.Event()
    threads.begin(should_continue.wait, ended.set)
    threads.end()
    assert not ended.is_set()
    should_continue.set()
    ended.wait()


def test_a_thread_that_waits_holds_nothing_of_its_last_line() -> None:
    class Line:
        def speak(self) -> None: ...

    threads, gone, line = WorkerThreadPool(), threading.Event(), Line()
    weakref.finalize(line, gone.set)
    threads.begin(line.speak, lambda: None)
    del line
    assert gone.wait(30)
    threads.end()
