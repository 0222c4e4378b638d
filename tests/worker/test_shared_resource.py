"""Setup for the first user, teardown after the last, exclusive use."""

from __future__ import annotations

import threading

import pytest

from studio.worker.model_host import SharedResource


class Users:
    def __init__(self) -> None:
        self.events: list[str] = []
        self.fails = False
        self.shared_resource = SharedResource(on_acquire=self._open, on_release=lambda: self.events.append("closed"))

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
    is_in_use, may_end, had_exclusive_use = threading.Event(), threading.Event(), threading.Event()

    def use() -> None:
        with users.shared_resource.acquire():
            is_in_use.set()
            may_end.wait(60)

    def use_exclusively() -> None:
        with users.shared_resource.exclusive():
            users.events.append("exclusive")
            had_exclusive_use.set()

    threads = [threading.Thread(target=use), threading.Thread(target=use_exclusively)]
    threads[0].start()
    assert is_in_use.wait(60)
    threads[1].start()
    assert not had_exclusive_use.wait(0.1)
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert users.events == ["opened", "closed", "exclusive"]


def test_it_is_not_empty_during_setup(users: Users) -> None:
    is_opening, may_open, seen = threading.Event(), threading.Event(), []

    def open_slowly() -> None:
        is_opening.set()
        may_open.wait(60)

    shared_resource = SharedResource(on_acquire=open_slowly, on_release=lambda: None)

    def use() -> None:
        with shared_resource.acquire():
            pass

    thread = threading.Thread(target=use)
    thread.start()
    assert is_opening.wait(60)
    seen.append(shared_resource.is_empty)
    may_open.set()
    thread.join(60)
    assert seen == [False]
    assert shared_resource.is_empty
