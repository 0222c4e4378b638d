"""Cancellation reaches all callbacks, also those added later."""

import pytest

from studio.pipeline.request import Cancelled, RequestControl


def test_cancellation_calls_each_callback_once() -> None:
    control, woken = RequestControl(), []
    control.when_cancelled(lambda: woken.append("early"))
    control.cancel()
    control.cancel()
    control.when_cancelled(lambda: woken.append("late"))
    assert woken == ["early", "late"]
    with pytest.raises(Cancelled):
        control.raise_if_cancelled()


def test_progress_and_estimate_are_reported() -> None:
    heard: list[object] = []
    control = RequestControl(on_progress=lambda *p: heard.append(p), on_estimate=heard.append)
    control.report_progress("voice", 0.5)
    control.report_estimate(9.0)
    assert heard == [("voice", 0.5), 9.0]
    control.raise_if_cancelled()
