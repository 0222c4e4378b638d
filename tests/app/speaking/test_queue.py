"""The queue of lines to be spoken."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from window_bench import Bench

from studio.app.speaking.queue import OrderState
from studio.errors import InternalError, StudioError


def test_an_unexpected_error_is_reported_once(
    make_bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture
) -> None:
    bench = make_bench()
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two", "Edit")
    reported: list[StudioError] = []
    bench.session.failed.connect(reported.append)

    def broken(_name: str) -> None:
        raise ZeroDivisionError("broken library")

    bench.session.queue._find_voice = broken  # type: ignore[assignment]
    bench.trigger("speak.line")
    bench.until(lambda: reported and not bench.session.queue._at_work)
    bench.live(0.05)
    (order,) = bench.session.queue.orders
    assert order.state is OrderState.FAILED
    (error,) = reported
    assert isinstance(error, InternalError)
    assert "broken library" in str(error)
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info
