"""The server, in a thread, over a real pipe."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from fake_model import CHUNK_SAMPLES, FakeModel, open_fake
from thread_worker import ThreadWorker

from studio.engines.overview import EngineAction, EngineStatus
from studio.engines.stage import Device
from studio.model.device_kind import DeviceKind
from studio.pipeline.request import ConversionRequest, EngineOptions, RequestControl, SynthesisRequest, VoiceReference
from studio.worker import protocol, server
from studio.worker.protocol import Command, Event
from studio.worker.server import Server

pytestmark = pytest.mark.timeout(30)
VOICE = VoiceReference(Path("anna.wav"), "What she said.", "anna")


class Caller:
    """The client end of the pipe."""

    def __init__(self, connection: Connection, thread: threading.Thread, opened: list[FakeModel]) -> None:
        self.connection = connection
        self.thread = thread
        self.opened = opened

    def say(self, *commands: Command) -> None:
        for command in commands:
            self.connection.send(command)

    def next_event(self) -> Event:
        assert self.connection.poll(10), "the server does not answer"
        event: Event = self.connection.recv()
        return event

    def events_until_end_of(self, request_id: int) -> list[Event]:
        heard: list[Event] = []
        while True:
            event = self.next_event()
            if event.request_id == request_id:
                heard.append(event)
                if not isinstance(event, protocol.AudioReady | protocol.Progress | protocol.PlaybackStartEstimate):
                    return heard


@pytest.fixture
def caller() -> Iterator[Caller]:
    near, far = Pipe(duplex=True)
    opened: list[FakeModel] = []

    def open_model(folder: Path, options: EngineOptions, _control: RequestControl) -> FakeModel:
        opened.append(open_fake(folder, options))
        return opened[-1]

    thread = threading.Thread(target=Server(far, open_model).serve, daemon=True)
    thread.start()
    yield Caller(near, thread, opened)
    near.close()
    thread.join(60)
    assert not thread.is_alive(), "the server outlives its client"


@pytest.fixture
def loaded(caller: Caller) -> Caller:
    caller.say(protocol.Load(1, Path("fake"), EngineOptions()))
    assert isinstance(caller.next_event(), protocol.Ready)
    return caller


def synthesize(request_id: int, text: str) -> protocol.Synthesize:
    return protocol.Synthesize(request_id, SynthesisRequest(text, VOICE))


def pause_engines(request_id: int) -> protocol.EngineCommand:
    """Return a command that is answered even while a request runs."""
    return protocol.EngineCommand(request_id, EngineAction.PAUSE)


@pytest.mark.slow
def test_a_model_is_loaded_and_described(caller: Caller) -> None:
    caller.say(protocol.Load(7, Path("fake"), EngineOptions(device="cpu", speech_lm_precision="int8")))
    match caller.next_event():
        case protocol.Ready(7, description):
            assert description.model_name == "fake"
            assert description.stages == {"speech_lm": "int8"}
        case other:
            pytest.fail(f"heard {other}")


@pytest.mark.slow
def test_audio_comes_in_order_before_the_report(loaded: Caller) -> None:
    loaded.say(synthesize(2, "one two three"))
    events = loaded.events_until_end_of(2)
    chunks = [event.chunk for event in events if isinstance(event, protocol.AudioReady)]
    assert [round(float(chunk.samples[0]), 3) for chunk in chunks] == [0.1, 0.2, 0.3]
    assert all(chunk.samples.dtype == np.float32 and len(chunk.samples) == CHUNK_SAMPLES for chunk in chunks)
    assert isinstance(events[-1], protocol.Finished)
    assert events[-1].report.spoken_text == ("one two three",)
    progress = [event.share for event in events if isinstance(event, protocol.Progress)]
    assert progress == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.slow
def test_the_playback_estimate_counts_from_now(loaded: Caller) -> None:
    loaded.say(synthesize(2, "breathe one"))
    (estimate,) = (
        event for event in loaded.events_until_end_of(2) if isinstance(event, protocol.PlaybackStartEstimate)
    )
    assert estimate.seconds_after_start == 0.25
    assert 0.0 < estimate.seconds_from_now <= 0.24


@pytest.mark.slow
def test_a_command_for_an_unknown_request_is_ignored(loaded: Caller) -> None:
    loaded.say(protocol.Cancel(99), pause_engines(2))
    assert loaded.next_event() == protocol.EnginesManaged(2, 0)


@pytest.mark.slow
def test_a_recording_is_converted(loaded: Caller) -> None:
    loaded.say(protocol.Convert(2, ConversionRequest(Path("source.wav"), VOICE)))
    events = loaded.events_until_end_of(2)
    assert sum(isinstance(event, protocol.AudioReady) for event in events) == 2
    assert isinstance(events[-1], protocol.Finished)


@pytest.mark.slow
def test_the_tokens_of_a_recording_are_read(loaded: Caller, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "source.wav", np.full(24_000, 0.1, np.float32), 24_000)
    loaded.say(protocol.ReadRecording(2, SynthesisRequest("one two", VOICE), tmp_path / "source.wav"))
    (finished,) = loaded.events_until_end_of(2)
    assert isinstance(finished, protocol.Finished)
    assert finished.report.evidence[0].speech_tokens == tuple(range(100, 110))


@pytest.mark.slow
def test_a_voice_is_prepared_with_progress(loaded: Caller) -> None:
    loaded.say(protocol.PrepareVoice(2, VOICE))
    events = loaded.events_until_end_of(2)
    assert events[:-1] == [protocol.Progress(2, "voice", 0.5), protocol.Progress(2, "voice", 1.0)]
    assert isinstance(events[-1], protocol.VoiceReady)
    assert events[-1].summary.warnings == ("a little quiet",)


@pytest.mark.slow
def test_cancel_ends_a_running_request_at_once(loaded: Caller) -> None:
    loaded.say(synthesize(2, "one wait never"))
    assert isinstance(loaded.next_event(), protocol.AudioReady)
    loaded.say(protocol.Cancel(2))
    events = loaded.events_until_end_of(2)
    assert not any(isinstance(event, protocol.AudioReady) for event in events)
    assert events[-1] == protocol.Cancelled(2)


@pytest.mark.slow
def test_a_waiting_request_is_cancelled_at_once(loaded: Caller) -> None:
    loaded.say(synthesize(2, "wait"), synthesize(3, "one"), protocol.Cancel(3))
    assert loaded.events_until_end_of(3) == [protocol.Cancelled(3)]
    loaded.say(protocol.Cancel(2))
    assert loaded.events_until_end_of(2) == [protocol.Cancelled(2)]


@pytest.mark.slow
def test_requests_run_one_at_a_time(loaded: Caller) -> None:
    loaded.say(synthesize(2, "a b"), synthesize(3, "c"))
    order = []
    while len(order) < 5:
        event = loaded.next_event()
        if isinstance(event, protocol.AudioReady | protocol.Finished):
            order.append((type(event).__name__, event.request_id))
    assert order == [
        ("AudioReady", 2), ("AudioReady", 2), ("Finished", 2), ("AudioReady", 3), ("Finished", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "code", "words"),
    [
        ("nothing", "nothing-to-speak", "There is nothing to speak."),
        ("memory", "out-of-memory", "not enough memory"),
        ("torch-memory", "out-of-memory", "not enough memory"),
        ("bug", "internal-error", "ZeroDivisionError: division by zero"),
    ],
)
def test_errors_are_sent_as_records_and_the_next_request_works(
    loaded: Caller, word: str, code: str, words: str
) -> None:
    loaded.say(synthesize(2, f"one {word}"), synthesize(3, "two"))
    failed = loaded.events_until_end_of(2)[-1]
    assert isinstance(failed, protocol.Failed)
    assert failed.error[0] == code
    assert words in str(failed.error[1])
    assert str(failed.error[2]), "no remedy"
    assert isinstance(loaded.events_until_end_of(3)[-1], protocol.Finished)


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "code"), [("missing", "model-not-found"), ("no-torch", "incomplete-installation")])
def test_a_model_that_cannot_be_opened_is_reported(caller: Caller, folder: str, code: str) -> None:
    caller.say(protocol.Load(1, Path(folder), EngineOptions()), synthesize(2, "one"))
    first, second = caller.next_event(), caller.next_event()
    assert isinstance(first, protocol.Failed)
    assert first.error[0] == code
    assert isinstance(second, protocol.Failed)
    assert str(second.error[1]) == "No model is loaded."


@pytest.mark.slow
def test_the_old_model_is_closed_before_the_new_one_opens(loaded: Caller) -> None:
    loaded.say(protocol.Load(2, Path("missing"), EngineOptions()))
    assert isinstance(loaded.next_event(), protocol.Failed)
    assert [model.is_closed for model in loaded.opened] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("is_polite", [True, False])
def test_the_end_of_the_client_ends_the_server(loaded: Caller, is_polite: bool) -> None:
    loaded.say(synthesize(2, "one wait"))
    assert isinstance(loaded.next_event(), protocol.AudioReady)
    if is_polite:
        loaded.say(protocol.Shutdown())
    else:
        loaded.connection.close()
    loaded.thread.join(60)
    assert not loaded.thread.is_alive()
    assert loaded.opened[0].is_closed


@pytest.mark.slow
def test_a_short_command_is_answered_while_a_request_runs(loaded: Caller) -> None:
    loaded.say(synthesize(2, "wait"), pause_engines(3))
    assert loaded.next_event() == protocol.EnginesManaged(3, 0)
    loaded.say(protocol.Cancel(2))


def test_engines_are_watched_and_managed_while_a_request_runs() -> None:
    managed: list[tuple[EngineAction, tuple[str, ...]]] = []
    overview = EngineStatus("m", Device(DeviceKind.CPU, "a processor", 1, 1), (), 0, 1)

    class WithEngines(FakeModel):
        def watch_engines(self, tell: Callable[[EngineStatus], None]) -> None:
            tell(overview)

        def manage_engines(self, action: EngineAction, keys: tuple[str, ...]) -> int:
            managed.append((action, keys))
            return 5

    worker = ThreadWorker(WithEngines)
    worker.start()
    worker.send(protocol.WatchEngines(1))
    worker.send(protocol.Load(2, Path("m"), EngineOptions()))
    assert isinstance(worker.receive(), protocol.Ready)
    assert worker.receive() == protocol.EngineStatusChanged(1, overview)
    worker.send(synthesize(3, "wait"))
    worker.send(protocol.EngineCommand(4, EngineAction.PAUSE, ("a",)))
    assert worker.receive() == protocol.EnginesManaged(4, 5)
    assert managed == [(EngineAction.PAUSE, ("a",))]
    worker.send(protocol.Cancel(3))
    assert worker.receive() == protocol.Cancelled(3)
    worker.send(protocol.Shutdown())


def test_a_model_whose_engines_are_managed_is_not_closed_meanwhile() -> None:
    begun, may_end, closed_while_managed = threading.Event(), threading.Event(), list[bool]()

    class SlowlyManaged(FakeModel):
        def watch_engines(self, tell: Callable[[EngineStatus], None]) -> None: ...

        def manage_engines(self, action: EngineAction, keys: tuple[str, ...]) -> int:
            begun.set()
            may_end.wait(0.5)  # closing comes first if nothing prevents it
            closed_while_managed.append(self.is_closed)
            return 0

        def close(self) -> None:
            super().close()
            may_end.set()

    worker = ThreadWorker(SlowlyManaged)
    worker.start()
    worker.send(protocol.Load(1, Path("m"), EngineOptions()))
    assert isinstance(worker.receive(), protocol.Ready)
    worker.send(protocol.EngineCommand(2, EngineAction.CLEAR))
    assert begun.wait(10)
    worker.send(protocol.Load(3, Path("n"), EngineOptions()))
    assert {worker.receive().request_id, worker.receive().request_id} == {2, 3}
    assert closed_while_managed == [False]
    worker.send(protocol.Shutdown())


def test_ready_and_the_first_request_do_not_wait_for_the_engine_status() -> None:
    probed = threading.Event()
    status = EngineStatus("m", Device(DeviceKind.CPU, "a processor", 1, 1), (), 0, 1)

    class SlowProbes(FakeModel):
        def watch_engines(self, tell: Callable[[EngineStatus], None]) -> None:
            assert probed.wait(10)
            tell(status)

        def manage_engines(self, action: EngineAction, keys: tuple[str, ...]) -> int:
            return 0

    worker = ThreadWorker(SlowProbes)
    worker.start()
    worker.send(protocol.WatchEngines(1))
    worker.send(protocol.Load(2, Path("m"), EngineOptions()))
    assert isinstance(worker.receive(), protocol.Ready)
    worker.send(synthesize(3, "one"))
    while not isinstance(event := worker.receive(), protocol.Finished):
        assert not isinstance(event, protocol.EngineStatusChanged)
    probed.set()
    assert worker.receive() == protocol.EngineStatusChanged(1, status)
    worker.send(protocol.Shutdown())


def line_of_a_batch(request_id: int, text: str) -> protocol.Synthesize:
    return protocol.Synthesize(request_id, SynthesisRequest(text, VOICE), in_batch=True)


@pytest.fixture
def three_at_once(caller: Caller) -> Caller:
    caller.say(protocol.Load(1, Path("three-at-once"), EngineOptions()))
    event = caller.next_event()
    assert isinstance(event, protocol.Ready)
    assert event.description.max_concurrent_lines == 3
    return caller


def ids_of_sound(caller: Caller, count: int) -> set[int]:
    """Return the ids of the first ``count`` requests with audio."""
    heard: set[int] = set()
    while len(heard) < count:
        event = caller.next_event()
        if isinstance(event, protocol.AudioReady):
            heard.add(event.request_id)
    return heard


@pytest.mark.slow
def test_lines_of_a_batch_run_concurrently(three_at_once: Caller) -> None:
    three_at_once.say(*(line_of_a_batch(number, "one wait") for number in range(2, 6)))
    assert ids_of_sound(three_at_once, 3) == {2, 3, 4}
    three_at_once.say(protocol.Cancel(3))
    assert isinstance(three_at_once.events_until_end_of(3)[-1], protocol.Cancelled)
    assert ids_of_sound(three_at_once, 1) == {5}


@pytest.mark.slow
def test_a_line_reuses_an_idle_thread(three_at_once: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    speaking: list[threading.Thread] = []
    stream = FakeModel.stream

    def heard(*arguments: Any, **options: Any) -> Any:
        speaking.append(threading.current_thread())
        return stream(*arguments, **options)

    monkeypatch.setattr(FakeModel, "stream", heard)
    three_at_once.say(*(line_of_a_batch(number, "one wait") for number in range(2, 6)))
    ids_of_sound(three_at_once, 3)
    three_at_once.say(protocol.Cancel(3))
    assert ids_of_sound(three_at_once, 1) == {5}
    assert len(speaking) == 4
    assert len(set(speaking)) == 3


@pytest.mark.slow
def test_an_interactive_request_overtakes_a_batch(three_at_once: Caller) -> None:
    three_at_once.say(*(line_of_a_batch(number, "one wait") for number in range(2, 7)), synthesize(7, "one two"))
    assert isinstance(three_at_once.events_until_end_of(7)[-1], protocol.Finished)
    assert len(three_at_once.opened[0].requests) <= 4, "it has passed two of the batch at least"


@pytest.mark.slow
def test_another_model_is_loaded_when_the_batch_has_ended(three_at_once: Caller) -> None:
    three_at_once.say(line_of_a_batch(2, "one wait"), protocol.Load(3, Path("fake"), EngineOptions()))
    assert ids_of_sound(three_at_once, 1) == {2}
    three_at_once.say(pause_engines(4))
    assert three_at_once.events_until_end_of(4) == [protocol.EnginesManaged(4, 0)]
    assert not three_at_once.opened[0].is_closed
    three_at_once.say(protocol.Cancel(2))
    assert isinstance(three_at_once.events_until_end_of(3)[-1], protocol.Ready)
    assert three_at_once.opened[0].is_closed


@pytest.mark.slow
def test_a_failure_affects_only_its_line(three_at_once: Caller) -> None:
    three_at_once.say(line_of_a_batch(2, "one bug"), line_of_a_batch(3, "one rest two"))
    ends: dict[int, Event] = {}
    while len(ends) < 2:
        event = three_at_once.next_event()
        if isinstance(event, protocol.Failed | protocol.Finished):
            ends[event.request_id] = event
    assert isinstance(ends[2], protocol.Failed)
    assert isinstance(ends[3], protocol.Finished)


@pytest.mark.slow
def test_a_client_that_disconnects_ends_the_batch(three_at_once: Caller) -> None:
    three_at_once.say(*(line_of_a_batch(number, "one wait") for number in range(2, 7)))
    ids_of_sound(three_at_once, 3)
    three_at_once.connection.close()
    three_at_once.thread.join(60)
    assert three_at_once.opened[0].is_closed


@pytest.mark.slow
def test_a_model_without_concurrency_runs_a_batch_line_by_line(loaded: Caller) -> None:
    loaded.say(line_of_a_batch(2, "one wait"), line_of_a_batch(3, "one"), pause_engines(4))
    assert loaded.events_until_end_of(4) == [protocol.EnginesManaged(4, 0)]
    assert len(loaded.opened[0].requests) <= 1
    loaded.say(protocol.Cancel(2))
    assert isinstance(loaded.events_until_end_of(3)[-1], protocol.Finished)


def test_memory_of_a_failed_request_is_free_when_garbage_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle of its objects can only be collected once no traceback refers to them."""
    monkeypatch.setattr(server._log, "exception", lambda *_: None)  # pytest keeps the tracebacks of log records

    class Tensors:
        pass

    made: list[weakref.ref[Tensors]] = []
    left: list[Tensors | None] = []

    def work() -> protocol.Event:
        tensors = Tensors()
        made.append(weakref.ref(tensors))
        raise ZeroDivisionError

    ours, _theirs = Pipe()
    failing = Server(ours, open_fake, collect_garbage=lambda: left.append(made[0]()))  # type: ignore[arg-type]
    assert isinstance(failing._outcome(1, work), protocol.Failed)
    assert left == [None]
