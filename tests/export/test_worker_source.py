"""Speech of the worker for an export: batches, order, failures and cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from fake_model import CHUNK_SAMPLES, FakeModel, open_fake
from speech_fakes import items_of
from thread_worker import ThreadWorker

from studio.audio.waveform import Waveform
from studio.errors import NothingToSpeak, OutOfMemory, StudioError, WorkerDied
from studio.export.worker_source import WorkerSource
from studio.pipeline.request import (
    AudioChunk,
    Cancelled,
    EngineOptions,
    RequestControl,
    SynthesisRequest,
    VoiceReference,
)
from studio.worker.client import WorkerClient

pytestmark = pytest.mark.timeout(60)
VOICE = VoiceReference(Path("anna.wav"))
Chunks = Iterator[AudioChunk]


class BatchModel(FakeModel):
    """A model that speaks up to three lines at once.

    Lines with the word "crowded" run out of memory in a batch. Lines with the word "meet" wait until three of them are
    spoken at once. ``most`` is the largest number of concurrent lines.
    """

    def __init__(self, folder: Path, options: EngineOptions) -> None:
        super().__init__(folder, options)
        self.most = 0
        self._num_running = 0
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(3)
        self.has_met = False

    def _speak(
        self, text: str, control: RequestControl, start: int = 0, samples: int = CHUNK_SAMPLES
    ) -> Iterator[AudioChunk]:
        with self._lock:
            self._num_running += 1
            self.most = max(self.most, self._num_running)
        try:
            if "meet" in text and not self.has_met:
                self._barrier.wait(60)
                self.has_met = True
            if "crowded" in text and self._num_running > 1:
                raise MemoryError
            yield from super()._speak(text, control, start, samples)
        finally:
            with self._lock:
                self._num_running -= 1


class WorkerFixture:
    """A worker source for lines with given texts, and the models and workers that it starts."""

    def __init__(self, folder: str, texts: list[str], open_model: Callable[..., FakeModel] = BatchModel) -> None:
        self.models: list[FakeModel] = []
        self.workers: list[ThreadWorker] = []
        self.control = RequestControl()
        self.progress_seconds: list[float] = []
        self.items = items_of(texts)
        self._requests = {item.key: SynthesisRequest(item.text, VOICE) for item in self.items}
        self._folder = Path(folder)
        self._open_model = open_model

    def open_model(self, folder: Path, options: EngineOptions) -> FakeModel:
        model = self._open_model(folder, options)
        if isinstance(model, BatchModel):
            model.has_met = bool(self.models)  # the lines met before the previous worker ended
        self.models.append(model)
        return model

    def start_worker(self) -> ThreadWorker:
        self.workers.append(ThreadWorker(self.open_model))
        return self.workers[-1]

    @asynccontextmanager
    async def source(self) -> AsyncIterator[WorkerSource]:
        async with WorkerClient(self._folder, start_worker=self.start_worker) as client:
            loop = asyncio.get_running_loop()
            source = WorkerSource(client, loop, self._requests, self.control, on_spoken=self.progress_seconds.append)
            source.expect(self.items)
            yield source

    def speak_all(self) -> list[Waveform | StudioError]:
        """Request all lines in order, as an export does."""

        def request_all(source: WorkerSource) -> list[Waveform | StudioError]:
            answers: list[Waveform | StudioError] = []
            for item in self.items:
                try:
                    answers.append(source.synthesize_waveform(item))
                except StudioError as error:
                    answers.append(error)
            return answers

        async def run() -> list[Waveform | StudioError]:
            async with self.source() as source:
                return await asyncio.to_thread(request_all, source)

        return asyncio.run(run())


def num_words(answer: Waveform | StudioError) -> int:
    assert isinstance(answer, Waveform), answer
    return round(answer.seconds * 10)


def test_lines_are_spoken_in_batches_and_returned_in_order() -> None:
    fixture = WorkerFixture("three-at-once", ["meet", "meet two", "meet two three", "one two three four"])
    assert [num_words(answer) for answer in fixture.speak_all()] == [1, 2, 3, 4]
    (model,) = fixture.models
    assert isinstance(model, BatchModel)
    assert model.most == 3


def test_a_cluster_gets_as_many_lines_as_it_runs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.export.worker_source._LINES_AHEAD", 1)
    fixture = WorkerFixture("three-at-once", ["meet", "meet two", "meet two three"])
    assert [num_words(answer) for answer in fixture.speak_all()] == [1, 2, 3]


def test_lines_are_spoken_one_by_one_without_batching() -> None:
    fixture = WorkerFixture("fake", ["one", "one two", "one two three"])
    assert [num_words(answer) for answer in fixture.speak_all()] == [1, 2, 3]
    (model,) = fixture.models
    assert isinstance(model, BatchModel)
    assert model.most == 1
    assert [request.text for request in model.requests if isinstance(request, SynthesisRequest)] == [
        "one", "one two", "one two three",
    ]  # fmt: skip


def test_a_failing_line_does_not_affect_others() -> None:
    answers = WorkerFixture("three-at-once", ["one", "nothing", "one two"]).speak_all()
    assert num_words(answers[0]) == 1
    assert isinstance(answers[1], NothingToSpeak)
    assert num_words(answers[2]) == 2


def test_a_line_out_of_memory_in_a_batch_is_retried_alone() -> None:
    fixture = WorkerFixture("three-at-once", ["meet", "meet crowded", "meet two", "one"])
    assert [num_words(answer) for answer in fixture.speak_all()] == [1, 2, 2, 1]


def test_a_line_out_of_memory_alone_is_a_failure() -> None:
    answers = WorkerFixture("three-at-once", ["one", "memory", "one two"]).speak_all()
    assert isinstance(answers[1], OutOfMemory)
    assert (num_words(answers[0]), num_words(answers[2])) == (1, 2)


def test_a_line_that_kills_the_worker_is_the_only_failure() -> None:
    class Deadly(BatchModel):
        def _execute(self, word: str, control: RequestControl) -> None:
            if word == "poison":
                fixture.workers[-1].kill()
                word = "wait"
            super()._execute(word, control)

    fixture = WorkerFixture("three-at-once", ["meet wait-no", "meet poison", "meet", "one two", "one"], Deadly)
    answers = fixture.speak_all()
    assert isinstance(answers[1], WorkerDied)
    assert [num_words(answer) for answer in (answers[0], *answers[2:])] == [2, 1, 2, 1]


def test_cancelling_ends_current_and_requested_lines() -> None:
    fixture = WorkerFixture("three-at-once", ["meet wait", "meet a wait", "meet b wait", "c wait", "d wait"])

    async def run() -> None:
        async with fixture.source() as source:
            asking = asyncio.create_task(asyncio.to_thread(source.synthesize_waveform, fixture.items[0]))
            while not fixture.progress_seconds:
                await asyncio.sleep(0.01)
            fixture.control.cancel()
            with pytest.raises(Cancelled):
                await asking
            await asyncio.to_thread(_wait_until_silent, fixture.models[0])

    asyncio.run(run())


def _wait_until_silent(model: FakeModel) -> None:
    assert isinstance(model, BatchModel)
    while model._num_running:
        threading.Event().wait(0.01)


def test_only_the_current_line_reports_progress() -> None:
    fixture = WorkerFixture("three-at-once", ["meet", "meet two three four", "meet two"])
    fixture.speak_all()
    assert max(fixture.progress_seconds) <= 0.4 + 1e-6
    assert fixture.progress_seconds[0] == pytest.approx(0.1)


def test_unannounced_lines_are_spoken_as_well() -> None:
    fixture = WorkerFixture("three-at-once", ["one", "one two"])

    async def run() -> list[int]:
        async with fixture.source() as source:
            source.expect([])
            return [len((await asyncio.to_thread(source.synthesize_waveform, item)).samples) for item in fixture.items]

    assert np.diff(asyncio.run(run())) > 0


def test_a_model_that_cannot_be_loaded_is_tried_once() -> None:
    fixture = WorkerFixture("missing", ["one", "one two"], open_fake)
    answers = fixture.speak_all()
    assert all(isinstance(answer, StudioError) for answer in answers)
    assert len({id(answer) for answer in answers}) == 1


def killed_while_loading(num_kills: int) -> WorkerFixture:
    def open_model(folder: Path, options: EngineOptions) -> FakeModel:
        if len(fixture.workers) <= num_kills:
            fixture.workers[-1].kill()
        return open_fake(folder, options)

    fixture = WorkerFixture("fake", ["one", "one two"], open_model)
    return fixture


def test_a_worker_killed_while_loading_is_started_once_more() -> None:
    fixture = killed_while_loading(1)
    assert [num_words(answer) for answer in fixture.speak_all()] == [1, 2]
    assert len(fixture.workers) == 2


def test_a_model_whose_loading_kills_the_worker_is_tried_twice() -> None:
    fixture = killed_while_loading(100)
    answers = fixture.speak_all()
    assert [type(answer) for answer in answers] == [WorkerDied, WorkerDied]
    assert len(fixture.workers) == 2
