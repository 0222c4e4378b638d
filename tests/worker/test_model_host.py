"""Engines are replaced between requests, and never during one."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import noise_models
import numpy as np
import pytest
import torch
from waiting import wait_until

from studio.engines.machine import processor
from studio.engines.manager import OpenedStage
from studio.engines.overview import CandidateView, EngineAction, EngineStatus, StageView, Status, Suspension
from studio.engines.stage import Device, Stage
from studio.errors import OutOfMemory
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.measurements import Timing, Verification
from studio.model.stages import SourceNoise, Vocoder, VocoderStream
from studio.pipeline.request import EngineOptions, RequestControl, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer
from studio.worker import model_host
from studio.worker.model_host import ModelHost

MODEL = noise_models.V3
OPTIONS = EngineOptions(speech_lm_precision="float32", num_threads=1, engines="improve")


class Mute:
    """A vocoder that is recognised by its silence."""

    def __init__(self, vocoder: Vocoder) -> None:
        self._vocoder = vocoder
        self.sample_rate = vocoder.sample_rate
        self.samples_per_frame = vocoder.samples_per_frame

    def noise(self, seed: int) -> SourceNoise:
        return self._vocoder.noise(seed)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return MuteStream(self._vocoder.open_stream(noise))

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        return 0 * self._vocoder.synthesize_whole(mel, noise)


class MuteStream:
    def __init__(self, stream: VocoderStream) -> None:
        self._stream = stream

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        return 0 * self._stream.synthesize(mel, is_last=is_last)


def view(name: str, *, is_proven: bool = True) -> CandidateView:
    return CandidateView(
        stage=Stage.VOCODER,
        name=name,
        engine="a vocoder",
        precision="float32",
        key=name,
        status=Status.VERIFIED if is_proven else Status.UNTRIED,
        is_reference=name == "torch-float32",
        verification=Verification(True, 0.0, 0.0, 1),
        timing=Timing(0.1, 0.2, 0.1, 1),
    )


class FakeStore:
    def __init__(self, *, has_manifests: bool) -> None:
        self._has = has_manifests

    def has_manifests(self) -> bool:
        return self._has


class FakeManager:
    """An engine manager that finds the mute vocoder in ``improve``, or has verified it already."""

    def __init__(
        self, on_status: Callable[[EngineStatus], None], *, knows: bool = False, is_slow: bool = False
    ) -> None:
        self._on_status = on_status
        self.knows = knows
        self.has_improved = threading.Event()
        self.suspensions: list[tuple[Suspension, bool]] = []
        self.opened: list[Stage] = []
        self.again: list[Collection[str]] = []
        self.is_slow = is_slow
        self.may_open = threading.Event()
        self.disturbed: set[str] = set()
        self.store = FakeStore(has_manifests=knows)
        self.lacks_memory = False
        self.on_improve: Callable[[], None] = lambda: None
        self.interruptions: list[bool] = []

    def overview(self) -> EngineStatus:
        plain = view("torch-float32", is_proven=self.knows)
        stage = StageView(
            Stage.VOCODER, "mute" if self.knows else "torch-float32", (plain, view("mute", is_proven=self.knows))
        )
        flow = StageView(Stage.FLOW, "torch-float32", (replace(plain, stage=Stage.FLOW),))
        return EngineStatus("noise", processor(1), (flow, stage), 0, 1)

    def improve(self, *, again: Collection[str] = ()) -> EngineStatus:
        self.again.append(again)
        self.on_improve()
        self.knows = True
        self._on_status(self.overview())
        self.has_improved.set()
        return self.overview()

    def disturbed_keys(self) -> frozenset[str]:
        return frozenset(self.disturbed)

    def open_choice(self, stage: Stage) -> OpenedStage | None:
        self.opened.append(stage)
        if stage is not Stage.VOCODER or not self.knows:
            return None
        if self.is_slow:
            assert self.may_open.wait(30)
        plain = open_checkpoint(MODEL).load_vocoder(Precision.FLOAT32, "cpu")
        return OpenedStage(Mute(plain), view("mute"))

    def opens_slowly(self, stage: Stage) -> bool:
        return self.is_slow and stage is Stage.VOCODER

    def suspend(self, reason: Suspension) -> None:
        self.suspensions.append((reason, True))

    def resume(self, reason: Suspension) -> None:
        self.suspensions.append((reason, False))

    def cancel(self, *, at_once: bool = False) -> None:
        self.interruptions += [True] if at_once else []

    def could_try_with(self, more_bytes: int) -> bool:
        return self.lacks_memory and more_bytes == 5

    def close(self) -> None: ...

    def clear(self, keys: Collection[str] | None = None) -> int:
        self.knows = False
        return 7


@pytest.fixture
def open_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[ModelHost, FakeManager]]]:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    opened: list[ModelHost] = []

    def open_one(
        options: EngineOptions = OPTIONS,
        *,
        quiet_seconds: float = 0.0,
        knows: bool = False,
        is_slow: bool = False,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> tuple[ModelHost, FakeManager]:
        managers: list[Any] = []

        def make(on_status: Callable[[EngineStatus], None]) -> Any:
            managers.append(FakeManager(on_status, knows=knows, is_slow=is_slow))
            return managers[0]

        model = ModelHost(MODEL, options, make, quiet_seconds=quiet_seconds, is_busy=is_busy)
        opened.append(model)
        return model, managers[0]

    yield open_one
    for model in opened:
        model.close()


@pytest.fixture
def request_of(reference: Path) -> SynthesisRequest:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", name="a")
    return SynthesisRequest("A line.", voice, forced_tokens=30)


def loudness(model: ModelHost, request: SynthesisRequest) -> list[float]:
    return [float(np.abs(chunk.samples).max(initial=0.0)) for chunk in model.stream(request, control=RequestControl())]


@pytest.mark.slow
def test_a_faster_engine_is_used_from_the_next_line(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest
) -> None:
    model, manager = open_model(quiet_seconds=600.0)
    heard: list[EngineStatus] = []
    model.watch_engines(heard.append)
    chunks = model.stream(request_of, control=RequestControl())
    assert np.abs(next(chunks).samples).max() > 0
    model._improve()  # as on the background thread; here during a line
    assert manager.opened == [Stage.VOCODER]
    assert all(np.abs(chunk.samples).max() > 0 for chunk in chunks)
    assert model.description.engines["vocoder"] == "torch-float32"
    assert set(loudness(model, request_of)) == {0.0}
    assert model.description.engines["vocoder"] == "mute"
    assert model.description.stages["vocoder"] == "a vocoder float32"
    in_use = {stage.stage: stage.in_use for stage in heard[-1].stages}
    assert in_use == {Stage.FLOW: "torch-float32", Stage.VOCODER: "mute"}


@pytest.mark.slow
def test_benchmarks_start_when_idle(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest
) -> None:
    model, manager = open_model(quiet_seconds=0.2)
    assert manager.has_improved.wait(30)
    wait_until(lambda: Stage.VOCODER in model._stages._ready)
    assert set(loudness(model, request_of)) == {0.0}


@pytest.mark.slow
def test_nothing_is_measured_on_a_busy_machine(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.worker.model_host._BUSY_SECONDS", 0.05)
    is_busy, looks, heard = threading.Event(), list[int](), list[EngineStatus]()
    is_busy.set()

    def look() -> bool:
        looks.append(1)
        return is_busy.is_set()

    model, manager = open_model(quiet_seconds=0.0, is_busy=look)
    wait_until(lambda: len(looks) > 2)
    model.watch_engines(heard.append)
    assert not manager.has_improved.is_set()
    assert "Other programs keep this computer busy" in str(heard[-1].notes[-1])
    is_busy.clear()
    assert manager.has_improved.wait(30)
    wait_until(lambda: not model.engines().notes)


@pytest.mark.slow
def test_measurements_on_a_busy_machine_are_repeated_later(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.worker.model_host._REPEAT_SECONDS", 0.05)
    model, manager = open_model(quiet_seconds=600.0)
    manager.disturbed = {"mute"}
    model.manage_engines(EngineAction.IMPROVE, ())
    model._quiet_seconds = 0.0
    wait_until(lambda: len(manager.again) == 3)
    assert manager.again == [{"mute"}] * 3
    assert not model._keys_to_repeat(), "not more often until the next start"


@pytest.mark.slow
def test_only_disturbed_measurements_are_repeated(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.worker.model_host._REPEAT_SECONDS", 0.05)
    model, manager = open_model(quiet_seconds=600.0)
    model.manage_engines(EngineAction.IMPROVE, ())
    wait_until(lambda: len(manager.again) == 1)
    assert not model._should_improve
    assert manager.again == [set()]


@pytest.mark.slow
def test_benchmarks_start_at_once_on_request(open_model: Callable[..., tuple[ModelHost, FakeManager]]) -> None:
    model, manager = open_model(quiet_seconds=600.0)
    model.manage_engines(EngineAction.SUSPEND_FOR_USER, ())
    model.manage_engines(EngineAction.IMPROVE, ())
    assert manager.has_improved.wait(30)
    model.manage_engines(EngineAction.RESUME_AFTER_USER, ())
    assert manager.suspensions == [(Suspension.USER_ACTIVE, True), (Suspension.USER_ACTIVE, False)]


@pytest.mark.slow
def test_trials_pause_during_a_request(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest
) -> None:
    model, manager = open_model(quiet_seconds=600.0)
    chunks = model.stream(request_of, control=RequestControl())
    next(chunks)
    assert manager.suspensions == [(Suspension.REQUEST, True)]
    chunks.close()
    assert manager.suspensions == [(Suspension.REQUEST, True), (Suspension.REQUEST, False)]


@pytest.mark.slow
def test_a_proven_engine_is_used_from_the_first_line(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest
) -> None:
    model, manager = open_model(replace(OPTIONS, engines="proven"), knows=True)
    assert set(loudness(model, request_of)) == {0.0}
    assert not manager.has_improved.wait(0.3)


@pytest.mark.slow
def test_a_slow_engine_is_opened_in_the_background(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest
) -> None:
    model, manager = open_model(replace(OPTIONS, engines="proven"), knows=True, is_slow=True)
    assert min(loudness(model, request_of)) > 0
    assert model.description.engines["vocoder"] == "torch-float32"
    manager.may_open.set()
    wait_until(lambda: Stage.VOCODER in model._stages._ready)
    assert set(loudness(model, request_of)) == {0.0}
    assert model.description.engines["vocoder"] == "mute"


@pytest.mark.slow
@pytest.mark.parametrize("knows", [False, True])
def test_plain_torch_is_plain_torch(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], request_of: SynthesisRequest, knows: bool
) -> None:
    model, manager = open_model(replace(OPTIONS, engines="plain"), knows=knows)
    assert min(loudness(model, request_of)) > 0
    assert manager.opened == []


@pytest.mark.slow
def test_requested_options_are_not_replaced(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
) -> None:
    model, manager = open_model(replace(OPTIONS, engines="proven", flow_steps=4), knows=True)
    assert manager.opened == [Stage.VOCODER]  # neither the flow of 4 steps nor the language model in float32
    assert model.description.engines["speech_lm"] == "torch-float32"


LATER = EngineOptions(num_threads=1, engines="plain", compares_later=True)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[RequestControl]:
    """Record the measurements of qualities. The first one lasts until it is cancelled."""
    controls: list[RequestControl] = []
    waiting = [True]

    def measure(_synthesizer: Synthesizer, control: RequestControl) -> None:
        controls.append(control)
        if len(controls) == 1:
            wait_until(lambda: control.is_cancelled)
        control.raise_if_cancelled()
        waiting.clear()

    monkeypatch.setattr(Synthesizer, "measure_qualities", measure)
    monkeypatch.setattr(Synthesizer, "has_postponed_qualities", property(lambda _synthesizer: bool(waiting)))
    monkeypatch.setattr(model_host, "_MEASUREMENT_SECONDS", 0.1)
    return controls


@pytest.mark.slow
def test_qualities_are_measured_when_idle_and_requests_go_before(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
    request_of: SynthesisRequest,
    measured: list[RequestControl],
) -> None:
    model, _ = open_model(LATER)
    wait_until(lambda: bool(measured))
    assert max(loudness(model, request_of)) > 0
    assert measured[0].is_cancelled
    wait_until(lambda: len(measured) > 1)
    time.sleep(0.5)
    assert len(measured) == 2


@pytest.mark.slow
@pytest.mark.parametrize("compares_later", [True, False])
def test_a_command_waits_for_the_comparison_of_precisions_at_its_end(
    open_model: Callable[..., tuple[ModelHost, FakeManager]], monkeypatch: pytest.MonkeyPatch, compares_later: bool
) -> None:
    compared: list[RequestControl] = []
    monkeypatch.setattr(model_host, "compare_precisions", lambda _folder, _options, control: compared.append(control))
    measured: list[RequestControl] = []
    monkeypatch.setattr(Synthesizer, "measure_qualities", lambda _synthesizer, control: measured.append(control))
    options = LATER if compares_later else replace(LATER, speech_lm_precision="float32")
    model, _ = open_model(options)
    control = RequestControl()
    model.finish_writes(control)
    assert compared == ([control] if compares_later else [])
    assert measured == ([] if compares_later else [control])


@pytest.mark.slow
def test_opened_weights_are_synchronized_before_a_line(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
    request_of: SynthesisRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lines on separate streams do not wait for the stream on which weights are repacked."""
    order: list[str] = []
    stream = Synthesizer.stream

    def heard(*arguments: Any, **options: Any) -> Any:
        order.append("line")
        return stream(*arguments, **options)

    monkeypatch.setattr(Synthesizer, "stream", heard)
    monkeypatch.setattr("studio.pipeline.synthesizer.synchronize", lambda device: order.append(f"finish {device}"))
    model, manager = open_model()
    loudness(model, request_of)
    assert manager.has_improved.wait(60)
    wait_until(lambda: bool(model._stages._ready))
    loudness(model, request_of)
    assert order == ["finish cpu", "line"] * 2


@pytest.mark.slow
def test_unused_gpu_memory_is_released(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
    request_of: SynthesisRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory is released after faster engines are installed, and after the model is closed."""
    gone_by_then: list[list[bool]] = []
    watched: list[weakref.ref[object]] = []

    def give_back(device: str) -> None:
        assert device == "cpu"
        gone_by_then.append([what() is None for what in watched])

    monkeypatch.setattr("studio.worker.model_host.empty_cache", give_back)
    monkeypatch.setattr("studio.worker.stage_loader.empty_cache", give_back)
    model, manager = open_model()
    assert model._synthesizer is not None
    watched.append(weakref.ref(model._synthesizer.stages.vocoder))
    assert manager.has_improved.wait(60)
    wait_until(lambda: bool(model._stages._ready))
    loudness(model, request_of)
    assert gone_by_then == [[True]]
    watched.append(weakref.ref(model._synthesizer))
    model.close()
    assert gone_by_then == [[True], [True, True]]


@pytest.mark.slow
def test_benchmarks_are_started_and_cleared_on_request(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
) -> None:
    model, manager = open_model(replace(OPTIONS, engines="proven"), quiet_seconds=600.0)
    heard: list[EngineStatus] = []
    model.watch_engines(heard.append)
    assert len(heard) == 1
    assert model.manage_engines(EngineAction.IMPROVE, ("a",)) == 0
    assert manager.has_improved.wait(30)
    assert manager.again == [{"a"}]
    wait_until(lambda: len(heard) > 1)
    assert model.manage_engines(EngineAction.CLEAR, ()) == 7


def test_model_that_does_not_fit_on_the_gpu_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Device(DeviceKind.CUDA, "NVIDIA card", 1, 2 << 30, 0, (8, 6), "580.95.05")
    monkeypatch.setattr(model_host, "device_named", lambda _name, num_threads: gpu)
    monkeypatch.setattr(model_host, "budget_bytes", lambda _device: 1 << 20)
    with pytest.raises(OutOfMemory, match=r"needs 0\.0 GB of memory on NVIDIA card, where 0\.0 GB are available"):
        model_host.open_accelerated(MODEL, OPTIONS)


@pytest.mark.slow
def test_engines_are_tested_in_the_memory_of_the_model_on_a_small_gpu(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
    request_of: SynthesisRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The model is released for them while idle. A line interrupts them and loads it."""
    monkeypatch.setattr(model_host, "gains_by_warming_up", lambda device: True)
    monkeypatch.setattr(model_host, "used_memory_bytes", lambda device: 5)
    monkeypatch.setattr(Synthesizer, "warm_ups", lambda *_, **__: iter(()))
    model, manager = open_model(quiet_seconds=600.0)
    was_loaded: list[bool] = []
    manager.on_improve = lambda: was_loaded.append(model._synthesizer is not None)
    model._improve()
    assert was_loaded == [True], "the memory suffices"

    manager.lacks_memory = True
    model._improve()
    assert was_loaded == [True, True], "the model was used a moment ago"
    assert model._should_improve

    model._quiet_seconds = 0.0
    model._should_improve = False
    model._improve()
    assert was_loaded == [True, True, True, False]
    assert model._synthesizer is not None
    assert manager.interruptions == []

    is_improving, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        if model._synthesizer is None:
            is_improving.set()
            assert may_go_on.wait(30)

    manager.on_improve = wait
    improving = threading.Thread(target=model._improve)
    improving.start()
    assert is_improving.wait(30)
    model._quiet_seconds = 600.0
    assert loudness(model, request_of)
    assert manager.interruptions == [True]
    may_go_on.set()
    improving.join(30)
    assert model._synthesizer is not None
    assert model._should_improve, "they are tested again later"


@pytest.mark.slow
def test_model_is_warmed_up_once_while_idle(
    open_model: Callable[..., tuple[ModelHost, FakeManager]],
    request_of: SynthesisRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU. Lines wait for one task at most, and tasks wait for lines."""
    has_begun, may_go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        has_begun.set()
        assert may_go_on.wait(30)
        order.append("first")

    def tasks(*stages: object) -> Iterator[Callable[[], None]]:
        yield first
        for name in ("second", "third"):
            yield lambda name=name: order.append(name)  # type: ignore[misc]

    monkeypatch.setattr("studio.worker.model_host.gains_by_warming_up", lambda device: True)
    monkeypatch.setattr("studio.pipeline.synthesizer.warm_ups", tasks)
    model, _ = open_model(replace(OPTIONS, engines="proven"))
    assert has_begun.wait(30)
    chunks = model.stream(request_of, control=RequestControl())
    threading.Timer(0.1, may_go_on.set).start()
    next(chunks)
    time.sleep(0.1)
    assert order == ["first"], "the line waited for one task, and the next task waits for the line"
    chunks.close()
    wait_until(lambda: order == ["first", "second", "third"])
    model._wake.set()
    list(model.stream(request_of, control=RequestControl()))
    assert order == ["first", "second", "third"]
