"""Tokens reach the flow in order; errors, cancelling and closing reach the language model."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest

from studio.pipeline.request import Cancelled, RequestControl
from studio.pipeline.token_source import AsyncTokenSource, SyncTokenSource, TokenSource

MakeFeed = Callable[[Iterator[int], RequestControl], TokenSource]


@pytest.fixture(params=[SyncTokenSource, AsyncTokenSource])
def make_feed(request: pytest.FixtureRequest) -> MakeFeed:
    return request.param  # type: ignore[no-any-return]


def test_waits_until_the_count_is_there(make_feed: MakeFeed) -> None:
    feed = make_feed(iter(range(100)), RequestControl())
    feed.wait_for(13)
    assert feed.tokens[:13] == list(range(13))
    feed.wait_for(1000)
    assert feed.is_finished
    assert feed.tokens == list(range(100))
    feed.close()


def test_an_error_in_the_language_model_reaches_who_waits(make_feed: MakeFeed) -> None:
    def failing() -> Iterator[int]:
        yield from range(5)
        raise ValueError("weights on fire")

    feed = make_feed(failing(), RequestControl())
    feed.wait_for(5)
    with pytest.raises(ValueError, match="weights on fire"):
        feed.wait_for(6)
    feed.close()


def test_what_a_failed_language_model_held_goes_with_its_feed(make_feed: MakeFeed) -> None:
    """Not only at garbage collection, since the failure may be a lack of memory."""

    class Cache: ...

    caches: list[weakref.ref[Cache]] = []

    def failing() -> Iterator[int]:
        cache = Cache()
        caches.append(weakref.ref(cache))
        yield 1
        raise MemoryError

    collects = gc.isenabled()
    gc.disable()
    try:
        feed = make_feed(failing(), RequestControl())
        try:
            feed.wait_for(2)
        except MemoryError:
            feed.close()
        del feed
        assert caches[0]() is None
    finally:
        if collects:
            gc.enable()


def test_an_error_with_nothing_made_yet_does_not_hang(make_feed: MakeFeed) -> None:
    def failing() -> Iterator[int]:
        raise MemoryError
        yield 1

    feed = make_feed(failing(), RequestControl())
    with pytest.raises(MemoryError):
        feed.wait_for(1)
    feed.close()


def test_cancelling_wakes_who_waits_and_ends_the_source() -> None:
    control, closed, gate = RequestControl(), threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        try:
            yield 1
            gate.wait(60)
            yield 2
        finally:
            closed.set()

    feed = AsyncTokenSource(slow(), control)
    feed.wait_for(1)
    threading.Timer(0.05, control.cancel).start()
    with pytest.raises(Cancelled):
        feed.wait_for(2)
    gate.set()
    feed.close()
    assert closed.is_set()


def test_a_cancelled_request_makes_no_further_token() -> None:
    control, made = RequestControl(), []

    def counting() -> Iterator[int]:
        for token in range(100):
            made.append(token)
            yield token

    feed = SyncTokenSource(counting(), control)
    feed.wait_for(3)
    control.cancel()
    with pytest.raises(Cancelled):
        feed.wait_for(4)
    assert made == [0, 1, 2]


def test_the_language_model_is_held_back() -> None:
    made, reached = [], threading.Event()

    def endless() -> Iterator[int]:
        token = 0
        while True:
            made.append(token)
            if len(made) == 5 + 10:
                reached.set()
            yield token
            token += 1

    feed = AsyncTokenSource(endless(), RequestControl(), limit_tokens=10)
    feed.wait_for(5)
    assert reached.wait(5)
    feed.close()
    assert len(made) == 5 + 10


def test_closing_ends_the_generator(make_feed: MakeFeed) -> None:
    closed = threading.Event()

    def source() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            closed.set()

    feed = make_feed(source(), RequestControl())
    feed.wait_for(2)
    feed.close()
    assert closed.is_set()


def test_the_first_token_is_timed_apart(make_feed: MakeFeed) -> None:
    feed = make_feed(iter(range(4)), RequestControl())
    feed.wait_for(100)
    assert 0.0 < feed.first_token_seconds <= feed.seconds
    feed.close()
