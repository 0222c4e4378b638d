"""The order in which the worker starts requests."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from studio.pipeline.control import RequestControl
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference
from studio.worker import protocol
from studio.worker.jobs import Job, JobQueue, Work

pytestmark = pytest.mark.timeout(30)
VOICE = VoiceReference(Path("anna.wav"))


def job(command: Work) -> Job:
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


def begun(queue: JobQueue) -> tuple[int, bool]:
    found = queue.next()
    assert found is not None
    return found[0].command.request_id, found[1]


class Asking:
    """Somebody who waits for the next job."""

    def __init__(self, queue: JobQueue) -> None:
        self.answer: list[tuple[int, bool]] = []
        self._thread = threading.Thread(target=lambda: self.answer.append(begun(queue)), daemon=True)
        self._thread.start()

    def is_waiting(self) -> bool:
        self._thread.join(0.1)
        return self._thread.is_alive()

    def get(self) -> tuple[int, bool]:
        self._thread.join(60)
        return self.answer[0]


def test_requests_begin_in_the_order_they_came() -> None:
    queue = queue_of(single(1), load(2), single(3), max_concurrent_lines=1)
    assert [begun(queue) for _ in range(3)] == [(1, False), (2, False), (3, False)]


def test_lines_of_a_batch_are_worked_on_one_by_one_where_nothing_is_gained() -> None:
    queue = queue_of(line(1), line(2), max_concurrent_lines=1)
    assert [begun(queue), begun(queue)] == [(1, False), (2, False)]


def test_as_many_lines_begin_as_are_spoken_at_once() -> None:
    queue = queue_of(line(1), line(2), line(3), max_concurrent_lines=2)
    assert [begun(queue), begun(queue)] == [(1, True), (2, True)]
    asking = Asking(queue)
    assert asking.is_waiting()
    queue.done()
    assert asking.get() == (3, True)


def test_what_somebody_waits_to_hear_passes_a_batch() -> None:
    queue = queue_of(line(1), line(2), line(3), max_concurrent_lines=2)
    begun(queue)
    queue.put(single(4))
    assert begun(queue) == (4, False)
    assert begun(queue) == (2, True)


def test_nothing_passes_what_changes_the_model_which_waits_for_the_lines_before() -> None:
    queue = queue_of(line(1), load(2), single(3), line(4), max_concurrent_lines=2)
    assert begun(queue) == (1, True)
    asking = Asking(queue)
    assert asking.is_waiting()
    queue.done()
    assert asking.get() == (2, False)
    assert begun(queue) == (3, False)


def test_the_end_comes_when_the_last_line_has_ended() -> None:
    queue = queue_of(line(1), line(2), max_concurrent_lines=2)
    queue.end()
    begun(queue)
    begun(queue)
    over = threading.Event()

    def wait_for_the_end() -> None:
        assert queue.next() is None
        over.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    queue.done()
    assert not over.wait(0.1)
    queue.done()
    assert over.wait(60)
