"""The synthesis queue."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from fake_model import FakeModel
from thread_worker import ThreadWorker
from window_bench import Bench

from studio.app.synthesis.queue import JobState
from studio.errors import InternalError, StudioError
from studio.pipeline.request import SynthesisRequest
from studio.settings import KEEPS_LEADING_SILENCE


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
    bench.until(lambda: reported and not bench.session.queue._tasks)
    bench.live(0.05)
    (job,) = bench.session.queue.jobs
    assert job.state is JobState.FAILED
    (error,) = reported
    assert isinstance(error, InternalError)
    assert "broken library" in str(error)
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.exc_info


@pytest.mark.slow
def test_the_setting_keeps_leading_silence(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench()
    bench.add_voice()
    window = bench.open_window()

    def spoken() -> SynthesisRequest:
        window.script.set_field("text", "one", "Edit")
        bench.trigger("speak.line")
        bench.until(lambda: bench.session.queue.jobs and bench.session.queue.current is None)
        model = ThreadWorker.created[-1].server._model
        assert isinstance(model, FakeModel)
        request = model.requests[-1]
        assert isinstance(request, SynthesisRequest)
        return request

    assert spoken().trims_leading_silence
    bench.settings[KEEPS_LEADING_SILENCE] = True
    bench.session.queue.clear_finished()
    assert not spoken().trims_leading_silence
