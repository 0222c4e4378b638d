"""Lines of a batch in several processes: the same audio, and precedence of interactive requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest
from fake_model import FakeModel, open_fake
from thread_worker import ThreadWorker
from waiting import wait_until

from studio.errors import ModelNotFound, StudioError, WorkerDied
from studio.pipeline.request import (
    AudioChunk,
    Cancelled,
    EngineOptions,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.worker import line_processes, protocol
from studio.worker.line_processes import LineProcess, LineProcessPool
from studio.worker.model_host import ModelHost, open_accelerated

OPTIONS = EngineOptions(speech_lm_precision="float32", num_threads=2, engines="plain", runs_lines_in_processes=True)
VOICE = VoiceReference(Path("a.wav"), name="a")


def open_process(name: str = "model") -> LineProcess:
    return LineProcess(Path(name), EngineOptions(), lambda: ThreadWorker(open_fake))


def report_of(chunks: Iterator[AudioChunk]) -> tuple[list[AudioChunk], SynthesisReport]:
    seen: list[AudioChunk] = []
    while True:
        try:
            seen.append(next(chunks))
        except StopIteration as end:
            return seen, end.value


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHost]:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    opened = open_accelerated(noise_models.V3, OPTIONS)
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_process_returns_the_samples_of_this_one(host: ModelHost, reference: Path) -> None:
    assert host.description.max_concurrent_lines == 2
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    requests = [SynthesisRequest("One line.", voice, seed=seed, forced_tokens=30) for seed in range(2)]

    def spoken(*, in_batch: bool) -> list[bytes]:
        lines = [report_of(host.stream(request, control=RequestControl(), in_batch=in_batch)) for request in requests]
        assert {report.max_concurrent_lines for _, report in lines} == {2}, "wherever a line is spoken"
        return [np.concatenate([chunk.samples for chunk in chunks]).tobytes() for chunks, _ in lines]

    one_by_one = spoken(in_batch=False)
    assert host._pool is not None
    with host._pool.acquire(RequestControl()) as here:
        assert here is None
        assert spoken(in_batch=True) == one_by_one, "in the other process"
    assert len(host._pool._opened) == 1
    assert spoken(in_batch=True) == one_by_one


def test_lines_get_a_process_when_this_one_is_in_use() -> None:
    pool = LineProcessPool(1, open_process)
    with pool.acquire(RequestControl()) as here, pool.acquire(RequestControl()) as other:
        assert here is None
        assert other is not None
        chunks, report = report_of(other.stream(SynthesisRequest("Two words.", VOICE), RequestControl()))
        assert report.audio_seconds == pytest.approx(sum(chunk.seconds for chunk in chunks))
    pool.close()
    assert not other.is_alive


def test_an_abandoned_line_leaves_the_process_usable() -> None:
    process = open_process()
    chunks = process.stream(SynthesisRequest("Two words.", VOICE), RequestControl())
    next(chunks)
    chunks.close()
    assert report_of(process.stream(SynthesisRequest("Other words.", VOICE), RequestControl()))[0]
    control = RequestControl()
    control.cancel()
    with pytest.raises(Cancelled):
        report_of(process.stream(SynthesisRequest("Two words.", VOICE), control))
    assert process.is_alive


def test_a_process_that_ended_gets_no_further_line() -> None:
    pool = LineProcessPool(1, open_process)
    with pool.acquire(RequestControl()):
        with pool.acquire(RequestControl()) as other:
            assert other is not None
            other._worker.kill()
            with pytest.raises(WorkerDied):
                next(other.stream(SynthesisRequest("Two words.", VOICE), RequestControl()))
        assert not pool._free
        with pool.acquire(RequestControl()) as another:
            assert another is not None
            assert another.is_alive, "the ended process is replaced"
    pool.release_idle(0.0)
    assert not another.is_alive
    pool.close()


def test_a_cancelled_line_stops_waiting() -> None:
    def fails() -> LineProcess:
        raise ModelNotFound("There is no model.", remedy="Install one.")

    pool = LineProcessPool(1, fails)
    control, ended = RequestControl(), list[type[BaseException]]()

    def wait() -> None:
        try:
            with pool.acquire(control):
                pass
        except Cancelled as error:
            ended.append(type(error))

    with pool.acquire(RequestControl()):
        waiting = threading.Thread(target=wait)
        waiting.start()
        control.cancel()
        waiting.join(30)
    assert ended == [Cancelled]


def test_an_interactive_request_pauses_the_line_in_this_process() -> None:
    pool = LineProcessPool(1, open_process)
    silence = AudioChunk(np.zeros(8, np.float32), 24000)
    seen: list[AudioChunk] = []

    def line() -> Iterator[AudioChunk]:
        yield silence
        yield silence

    def speak() -> None:
        seen.extend(pool._paused(line(), RequestControl()))  # type: ignore[arg-type]

    with pool._interactive():
        speaking = threading.Thread(target=speak)
        speaking.start()
        time.sleep(0.01)
        assert not seen
    speaking.join(30)
    assert len(seen) == 2


def test_idle_processes_end_and_start_again() -> None:
    pool = LineProcessPool(1, open_process)
    for _ in range(2):
        with pool.acquire(RequestControl()), pool.acquire(RequestControl()) as other:
            pool.release_idle(0.0)
            assert other is not None
            assert other.is_alive, "it is in use"
        pool.release_idle(3600.0)
        assert other.is_alive
        pool.release_idle(0.0)
        assert not other.is_alive
    pool.close()


def test_processes_start_only_as_far_as_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[LineProcess] = []
    monkeypatch.setattr(line_processes, "_num_affordable", lambda: 1 - len(opened))

    def count() -> LineProcess:
        opened.append(open_process())
        return opened[-1]

    pool = LineProcessPool(3, count)
    with pool.acquire(RequestControl()), pool.acquire(RequestControl()):
        control = RequestControl()
        control.cancel()
        with pytest.raises(Cancelled), pool.acquire(control):
            pass
    wait_until(lambda: len(opened) == 1)
    assert len(opened) == 1
    monkeypatch.setattr(line_processes, "_num_affordable", lambda: 8)
    with pool.acquire(RequestControl()), pool.acquire(RequestControl()), pool.acquire(RequestControl()):
        pass
    wait_until(lambda: len(opened) == 3)
    pool.close()


def test_progress_while_loading_is_not_the_answer() -> None:
    """Comparisons of precisions that cannot be stored are repeated in every process."""

    def open_with_progress(folder: Path, options: EngineOptions, control: RequestControl) -> FakeModel:
        control.report_progress("precision", 0.0)
        return open_fake(folder, options)

    worker = ThreadWorker()
    worker.server._open_model = open_with_progress  # type: ignore[assignment]
    process = LineProcess(Path("model"), EngineOptions(), lambda: worker)
    chunks = process.stream(SynthesisRequest("Two words.", VOICE), RequestControl())
    next(chunks)
    chunks.close()
    seen, report = report_of(process.stream(SynthesisRequest("Other words here.", VOICE), RequestControl()))
    assert report.audio_seconds == pytest.approx(sum(chunk.seconds for chunk in seen))


def test_a_model_that_cannot_be_loaded_is_an_error() -> None:
    with pytest.raises(StudioError):
        open_process("missing")


def test_a_service_keeps_its_processes() -> None:
    opened: list[LineProcess] = []

    def open_counted() -> LineProcess:
        opened.append(open_process())
        return opened[-1]

    pool = LineProcessPool(1, open_counted)
    pool.start_missing()
    wait_until(lambda: len(opened) == 1)
    pool.start_missing()
    with pool.acquire(RequestControl()) as one, pool.acquire(RequestControl()) as other:
        assert {one, other} == {None, opened[0]}, "no line waits for it to start"
    assert len(opened) == 1
    pool.close()


def test_the_start_of_a_line_in_another_process_is_estimated_from_its_beginning() -> None:
    estimates: list[float] = []
    process = open_process()
    control = RequestControl(on_estimate=estimates.append)
    report_of(process.stream(SynthesisRequest("One.", VOICE), control, waited_seconds=2.0))
    assert estimates == [2.25]


def test_a_late_event_of_another_request_is_not_taken_for_an_answer() -> None:
    process = open_process()
    worker = process._worker
    late = [protocol.Failed(1, WorkerDied("late").to_record()), protocol.Cancelled(1)]
    receive = worker.receive
    worker.receive = lambda: late.pop() if late else receive()  # type: ignore[method-assign]
    chunks, report = report_of(process.stream(SynthesisRequest("One two.", VOICE), RequestControl()))
    assert (len(chunks), report.num_items, late) == (2, 1, [])


def test_a_line_in_another_process_ends_early_after_a_sentence() -> None:
    process = open_process()
    control = RequestControl()
    control.stop_early()
    request = SynthesisRequest("One listen.\nThree.\nFour.", VOICE)
    first, report = report_of(process.stream(request, control))
    assert (len(first), report.num_items) == (2, 1)
    rest, report = report_of(process.stream(replace(request, num_skipped=1), RequestControl()))
    assert (len(rest), report.num_items) == (2, 2)
