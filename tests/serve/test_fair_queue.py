"""Turns of clients, the limit of the queue, and cancellation while waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from studio.errors import TooManyRequests
from studio.serve import fair_queue
from studio.serve.fair_queue import FairQueue


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Requests:
    """Requests that hold a slot until they are released, in order."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.admitted: list[str] = []
        self._release = asyncio.Semaphore(0)

    def add(self, name: str) -> asyncio.Task[None]:
        return asyncio.create_task(self._hold(name))

    async def _hold(self, name: str) -> None:
        async with self.queue.slot(name[0]):
            self.admitted.append(name)
            await self._release.acquire()

    async def release(self) -> None:
        self._release.release()
        await settle()


def test_a_client_with_one_request_does_not_wait_for_all_of_another() -> None:
    async def work() -> None:
        requests = Requests(FairQueue(10, lambda: 1))
        tasks = [requests.add(name) for name in ("a1", "a2", "a3", "a4")]
        await settle()
        tasks += [requests.add(name) for name in ("b1", "c1")]
        await settle()
        for _ in tasks:
            await requests.release()
        assert requests.admitted == ["a1", "a2", "b1", "c1", "a3", "a4"]
        assert (requests.queue.num_waiting, requests.queue.num_running) == (0, 0)

    run(work())


def test_as_many_run_at_once_as_there_are_slots() -> None:
    async def work() -> None:
        requests = Requests(FairQueue(10, lambda: 3))
        tasks = [requests.add(f"a{number}") for number in range(5)]
        await settle()
        assert (requests.queue.num_running, requests.queue.num_waiting) == (3, 2)
        for _ in tasks:
            await requests.release()

    run(work())


def test_a_full_queue_refuses_and_says_when_to_return() -> None:
    async def work() -> None:
        requests = Requests(FairQueue(1, lambda: 1))
        tasks = [requests.add("a1"), requests.add("a2")]
        await settle()
        with pytest.raises(TooManyRequests, match="1 requests are waiting"):
            await requests.add("b1")
        assert requests.queue.retry_after_seconds >= 1
        for _ in tasks:
            await requests.release()
        task = requests.add("b2")
        await requests.release()
        assert requests.admitted == ["a1", "a2", "b2"]
        await task

    run(work())


def test_a_cancelled_request_leaves_its_place_to_the_next() -> None:
    async def work() -> None:
        requests = Requests(FairQueue(10, lambda: 1))
        tasks = [requests.add(name) for name in ("a1", "a2", "b1")]
        await settle()
        tasks[1].cancel()
        await settle()
        assert requests.queue.num_waiting == 1
        await requests.release()
        assert requests.admitted == ["a1", "b1"]
        await requests.release()
        assert requests.queue.num_running == 0

    run(work())


def test_a_request_that_is_cancelled_in_the_moment_of_its_turn_passes_the_slot_on() -> None:
    async def work() -> None:
        requests = Requests(FairQueue(10, lambda: 1))
        tasks = [requests.add(name) for name in ("a1", "b1", "c1")]
        await settle()
        tasks[0].cancel()  # in the same step of the loop, b1 is admitted and cancelled
        asyncio.get_running_loop().call_soon(tasks[1].cancel)
        await settle()
        assert requests.admitted in (["a1", "c1"], ["a1", "b1", "c1"])
        assert requests.queue.num_running == 1
        await requests.release()
        assert requests.queue.num_running == 0

    run(work())


def test_speech_that_continues_waits_for_clients_without_audio_and_is_never_refused() -> None:
    async def run() -> None:
        queue = FairQueue(1, lambda: 1)
        order: list[str] = []

        async def work(client: str, *, is_continued: bool) -> None:
            async with queue.slot(client, is_continued=is_continued):
                order.append(client)
                await asyncio.sleep(0)

        async with queue.slot("first"):
            later = [asyncio.create_task(work(name, is_continued=True)) for name in ("later", "latest")]
            await asyncio.sleep(0)
            assert queue.num_waiting == 2
            with pytest.raises(TooManyRequests):
                queue.require_place()
            queue.limit = 3
            new = asyncio.create_task(work("new", is_continued=False))
            await asyncio.sleep(0)
        await asyncio.gather(*later, new)
        assert order == ["new", "later", "latest"]
        assert queue.num_running == 0

    asyncio.run(run())


def test_a_speech_that_continues_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "_MAX_GAP_SECONDS", -1.0)

    async def work() -> None:
        queue = FairQueue(8, lambda: 1)
        order: list[str] = []

        async def hold(client: str, *, is_continued: bool) -> None:
            async with queue.slot(client, is_continued=is_continued):
                order.append(client)

        async with queue.slot("first"):
            tasks = [asyncio.create_task(hold(name, is_continued=name == "later")) for name in ("new", "later")]
            await settle()
        await asyncio.gather(*tasks)
        assert order == ["later", "new"]

    run(work())


def test_no_more_requests_are_asked_for_their_slot_than_clients_wait() -> None:
    async def work() -> None:
        queue = FairQueue(8, lambda: 2)
        one, other = object(), object()
        async with queue.slot("a"), queue.slot("b"):
            assert not queue.wants_slot(one)
            waiting = asyncio.create_task(queue.slot("c").__aenter__())
            await settle()
            assert queue.wants_slot(one)
            assert not queue.wants_slot(one), "it has been asked"
            assert not queue.wants_slot(other)
            queue.forget_yielding(one)
            assert queue.wants_slot(other)
        await waiting

    run(work())
