"""The order in which the worker starts requests, and the threads of concurrent lines."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

import pytest

from studio.pipeline.request import EngineOptions, RequestControl, SynthesisRequest, VoiceReference
from studio.worker import protocol
from studio.worker.server import Job, JobQueue, WorkerThreadPool

pytestmark = pytest.mark.timeout(60)
VOICE = VoiceReference(Path("anna.wav"))


def job(command: protocol.QueuedCommand) -> Job:
    return Job(command, RequestControl())


def line(number: int) -> Job:
    return job(protocol.Synthesize(number, SynthesisRequest("x", VOICE), in_batch=True))


def single(number: int) -> Job:
    return job(protocol.Synthesize(number, SynthesisRequest("x", VOICE)))


def load(number: int) -> Job:
    return job(protocol.Load(number, Path("m"), EngineOptions()))


def queue_of(*jobs: Job, max_concurrent_lines: int) -> JobQueue:
    queue = JobQueue(lambda: max_concurrent_lines)
    for each in jobs:
        queue.put(each)
    return queue


def start_next(queue: JobQueue) -> tuple[int, bool]:
    found = queue.next()
    assert found is not None
    return found[0].command.request_id, found[1]


class WaitingThread:
    """A thread that waits for the next job."""

    def __init__(self, queue: JobQueue) -> None:
        self.result: list[tuple[int, bool]] = []
        self._thread = threading.Thread(target=lambda: self.result.append(start_next(queue)), daemon=True)
        self._thread.start()

    def is_waiting(self) -> bool:
        self._thread.join(0.1)
        return self._thread.is_alive()

    def get(self) -> tuple[int, bool]:
        self._thread.join(60)
        return self.result[0]


def test_requests_start_in_the_order_of_arrival() -> None:
    queue = queue_of(single(1), load(2), single(3), max_concurrent_lines=1)
    assert [start_next(queue) for _ in range(3)] == [(1, False), (2, False), (3, False)]


def test_lines_of_a_batch_run_one_at_a_time_without_concurrency() -> None:
    queue = queue_of(line(1), line(2), max_concurrent_lines=1)
    assert [start_next(queue), start_next(queue)] == [(1, False), (2, False)]


def test_as_many_lines_start_as_may_run_concurrently() -> None:
    queue = queue_of(line(1), line(2), line(3), max_concurrent_lines=2)
    assert [start_next(queue), start_next(queue)] == [(1, True), (2, True)]
    waiting = WaitingThread(queue)
    assert waiting.is_waiting()
    queue.done()
    assert waiting.get() == (3, True)


def test_an_interactive_request_overtakes_a_batch_in_the_queue() -> None:
    queue = queue_of(line(1), line(2), line(3), max_concurrent_lines=2)
    start_next(queue)
    queue.put(single(4))
    assert start_next(queue) == (4, False)
    assert start_next(queue) == (2, True)


def test_loading_waits_for_earlier_lines_and_is_not_overtaken() -> None:
    queue = queue_of(line(1), load(2), single(3), line(4), max_concurrent_lines=2)
    assert start_next(queue) == (1, True)
    waiting = WaitingThread(queue)
    assert waiting.is_waiting()
    queue.done()
    assert waiting.get() == (2, False)
    assert start_next(queue) == (3, False)


def test_the_queue_ends_after_the_last_line() -> None:
    queue = queue_of(line(1), line(2), max_concurrent_lines=2)
    queue.end()
    start_next(queue)
    start_next(queue)
    over = threading.Event()

    def wait_for_end() -> None:
        assert queue.next() is None
        over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    queue.done()
    assert not over.wait(0.1)
    queue.done()
    assert over.wait(60)


def test_an_idle_thread_is_reused() -> None:
    threads, ended = WorkerThreadPool(), threading.Semaphore(0)
    seen: list[threading.Thread] = []
    for _ in range(5):
        threads.begin(lambda: seen.append(threading.current_thread()), ended.release)
        ended.acquire()
    assert len(set(seen)) == 1
    threads.end()
    seen[0].join()


def test_concurrent_work_runs_on_separate_threads() -> None:
    threads, barrier, ended = WorkerThreadPool(), threading.Barrier(3), threading.Semaphore(0)
    seen: list[threading.Thread] = []

    def work() -> None:
        seen.append(threading.current_thread())
        barrier.wait()

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


def test_started_work_is_completed_after_end() -> None:
    threads, should_continue, ended = WorkerThreadPool(), threading.Event(), threading.Event()
    threads.begin(should_continue.wait, ended.set)
    threads.end()
    assert not ended.is_set()
    should_continue.set()
    ended.wait()


def test_an_idle_thread_releases_its_last_line() -> None:
    class Line:
        def speak(self) -> None: ...

    threads, gone, line = WorkerThreadPool(), threading.Event(), Line()
    weakref.finalize(line, gone.set)
    threads.begin(line.speak, lambda: None)
    del line
    assert gone.wait(30)
    threads.end()
