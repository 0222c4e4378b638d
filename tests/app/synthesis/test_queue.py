"""The synthesis queue."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from fake_model import FakeModel
from thread_worker import ThreadWorker
from window_bench import Bench

from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
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


def test_the_waiting_jobs_are_counted_and_not_searched(
    make_bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, cancelling thousands of lines would block the window for seconds."""
    bench = make_bench()
    bench.add_voice()
    window = bench.open_window()
    window.script.set_field("text", "one two", "Edit")
    queue = bench.session.queue
    queue.set_paused(True)
    counts: list[int] = []
    queue.job_changed.connect(lambda _job: counts.append(queue.num_waiting))
    jobs = queue.speak([line.id for line in bench.lines], num_takes=10)
    assert queue.num_waiting == len(queue.waiting) == len(jobs) == 10
    queue.cancel(jobs[3])
    assert queue.num_waiting == len(queue.waiting) == len(jobs) - 1
    num_searches = 0
    search = type(queue).waiting.fget

    def counted(queue: SynthesisQueue) -> tuple[SynthesisJob, ...]:
        nonlocal num_searches
        num_searches += 1
        return search(queue)

    monkeypatch.setattr(SynthesisQueue, "waiting", property(counted))
    queue.cancel_all()
    assert queue.num_waiting == 0
    assert counts == list(range(len(jobs) - 1, -1, -1))
    assert num_searches <= 3


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
