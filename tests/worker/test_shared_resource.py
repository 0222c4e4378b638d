"""Several at a time, between the first who comes and the last who goes."""

from __future__ import annotations

import threading

import pytest

from studio.worker.shared_resource import SharedResource


class House:
    def __init__(self) -> None:
        self.story: list[str] = []
        self.burns = False
        self.shared_resource = SharedResource(first_in=self._open, last_out=lambda: self.story.append("closed"))

    def _open(self) -> None:
        self.story.append("opened")
        if self.burns:
            raise RuntimeError("fire")


@pytest.fixture
def house() -> House:
    return House()


def test_it_is_opened_for_the_first_and_closed_after_the_last(house: House) -> None:
    first, second = house.shared_resource.acquire(), house.shared_resource.acquire()
    with first:
        with second:
            assert not house.shared_resource.is_empty
        assert house.story == ["opened"]
    assert house.story == ["opened", "closed"]
    assert house.shared_resource.is_empty


def test_where_it_cannot_be_opened_nobody_is_inside(house: House) -> None:
    house.burns = True
    with pytest.raises(RuntimeError, match="fire"), house.shared_resource.acquire():
        pytest.fail("nobody comes in")
    assert house.story == ["opened", "closed"]
    assert house.shared_resource.is_empty


def test_shutting_waits_for_who_is_inside_and_keeps_others_out(house: House) -> None:
    is_inside, may_leave, was_shut = threading.Event(), threading.Event(), threading.Event()

    def live_there() -> None:
        with house.shared_resource.acquire():
            is_inside.set()
            may_leave.wait(60)

    def shut() -> None:
        with house.shared_resource.exclusive():
            house.story.append("shut")
            was_shut.set()

    threads = [threading.Thread(target=live_there), threading.Thread(target=shut)]
    threads[0].start()
    assert is_inside.wait(60)
    threads[1].start()
    assert not was_shut.wait(0.1)
    may_leave.set()
    for thread in threads:
        thread.join(60)
    assert house.story == ["opened", "closed", "shut"]


def test_it_is_not_empty_while_it_is_made_ready(house: House) -> None:
    is_opening, may_open, seen = threading.Event(), threading.Event(), []

    def open_slowly() -> None:
        is_opening.set()
        may_open.wait(60)

    shared_resource = SharedResource(first_in=open_slowly, last_out=lambda: None)

    def come_in() -> None:
        with shared_resource.acquire():
            pass

    thread = threading.Thread(target=come_in)
    thread.start()
    assert is_opening.wait(60)
    seen.append(shared_resource.is_empty)
    may_open.set()
    thread.join(60)
    assert seen == [False]
    assert shared_resource.is_empty
