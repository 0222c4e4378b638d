"""Setup for the first user, teardown after the last, exclusive use."""

from __future__ import annotations

import threading

import pytest

from studio.worker.shared_resource import SharedResource


class Users:
    def __init__(self) -> None:
        self.events: list[str] = []
        self.fails = False
        self.shared_resource = SharedResource(first_in=self._open, last_out=lambda: self.events.append("closed"))

    def _open(self) -> None:
        self.events.append("opened")
        if self.fails:
            raise RuntimeError("broken")


@pytest.fixture
def users() -> Users:
    return Users()


def test_setup_for_the_first_and_teardown_after_the_last(users: Users) -> None:
    first, second = users.shared_resource.acquire(), users.shared_resource.acquire()
    with first:
        with second:
            assert not users.shared_resource.is_empty
        assert users.events == ["opened"]
    assert users.events == ["opened", "closed"]
    assert users.shared_resource.is_empty


def test_a_failing_setup_is_torn_down(users: Users) -> None:
    users.fails = True
    with pytest.raises(RuntimeError, match="broken"), users.shared_resource.acquire():
        pytest.fail("the block must not run")
    assert users.events == ["opened", "closed"]
    assert users.shared_resource.is_empty


def test_exclusive_use_waits_for_users_and_blocks_new_ones(users: Users) -> None:
    is_inside, may_leave, was_shut = threading.Event(), threading.Event(), threading.Event()

    def live_there() -> None:
        with users.shared_resource.acquire():
            is_inside.set()
            may_leave.wait(60)

    def shut() -> None:
        with users.shared_resource.exclusive():
            users.events.append("shut")
            was_shut.set()

    threads = [threading.Thread(target=live_there), threading.Thread(target=shut)]
    threads[0].start()
    assert is_inside.wait(60)
    threads[1].start()
    assert not was_shut.wait(0.1)
    may_leave.set()
    for thread in threads:
        thread.join(60)
    assert users.events == ["opened", "closed", "shut"]


def test_it_is_not_empty_during_setup(users: Users) -> None:
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
