"""Speculative language models are verified like others, and speak the same tokens."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import noise_models
import pytest
import torch
from small_speculator import speculator_files
from speech_lm_cases import LINE

from studio.engines.candidate import Available, EngineTarget, Unusable, all_candidates, references_of
from studio.engines.cuda_graph.speculative_lm import SpeculativeGraphSpeechLM
from studio.engines.machine import processor
from studio.engines.manager import EngineManager
from studio.engines.overview import EngineStatus, Status
from studio.engines.reference_io import record_reference
from studio.engines.speculative_candidates import (
    CANDIDATES,
    SpeculativeCandidate,
    SpeculativeGraphCandidate,
    TrainedCandidate,
    TrainedGraphCandidate,
)
from studio.engines.stage import Stage
from studio.engines.store import EngineStore
from studio.engines.task import TrialSize
from studio.engines.torch_candidates import TorchCandidate
from studio.engines.trials import TRIALS, time_interleaved
from studio.model.checkpoint import open_checkpoint
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm import CachedSpeechLM, RepetitionAwareSampler, linear
from studio.model.stages import SpeculationCount


@pytest.mark.slow
@pytest.mark.parametrize("model", [noise_models.V1, noise_models.V2, noise_models.V3], ids=lambda path: path.name)
def test_opened_engines_speak_the_tokens_of_plain_ones(model: Path) -> None:
    target = EngineTarget(open_checkpoint(model), processor(1))
    speculative = CANDIDATES[0]
    assert isinstance(speculative.probe(target), Available)
    opened = speculative.open(None, target)
    plain = TorchCandidate(speculative.stage, speculative.precision).open(None, target)
    assert isinstance(opened, CachedSpeechLM)
    assert isinstance(plain, CachedSpeechLM)
    assert opened.engine == f"{plain.engine}, speculative"
    for seed in range(3):
        count = SpeculationCount()
        request = replace(LINE, speculation=count)
        found = list(opened.generate(request, RepetitionAwareSampler(opened.sampling, seed)))
        assert found == list(plain.generate(LINE, RepetitionAwareSampler(plain.sampling, seed)))
        assert count.num_steps > 0


def _gpu(model: Path) -> EngineTarget:
    gpu = replace(processor(1), kind=DeviceKind.CUDA, name="a GPU", compute_capability=(8, 9), driver="580")
    return EngineTarget(open_checkpoint(model), gpu)


def _kinds(kind: type[TorchCandidate]) -> list[TorchCandidate]:
    return [candidate for candidate in CANDIDATES if type(candidate) is kind]


def test_steps_are_recorded_on_a_gpu_only() -> None:
    for candidate in (*_kinds(SpeculativeCandidate), *_kinds(TrainedCandidate)):
        assert isinstance(candidate.probe(_gpu(noise_models.V3)), Unusable)
    for candidate in (*_kinds(SpeculativeGraphCandidate), *_kinds(TrainedGraphCandidate)):
        assert isinstance(candidate.probe(EngineTarget(open_checkpoint(noise_models.V3), processor(1))), Unusable)


def test_speculators_need_memory_and_a_model_that_can_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "load_compiler", object)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    for model in (noise_models.V2, noise_models.V3):
        assert all(isinstance(each.probe(_gpu(model)), Available) for each in _kinds(SpeculativeGraphCandidate))
    for candidate in _kinds(SpeculativeGraphCandidate):
        found = candidate.probe(_gpu(noise_models.V1))
        assert isinstance(found, Unusable)
        assert "one token each" in str(found.reason)
    for candidate in _kinds(TrainedGraphCandidate):
        found = candidate.probe(_gpu(noise_models.V3))
        assert isinstance(found, Unusable)
        assert "no speculator" in str(found.reason)
    model = tmp_path / "model"
    model.mkdir()
    for path in noise_models.V3.iterdir():
        (model / path.name).symlink_to(path)
    (model / "speculator").mkdir()
    (model / "speculator" / "config.json").write_text("{}")
    (model / "speculator" / "model.safetensors").write_bytes(bytes(1000))
    for with_speculator, without in zip(_kinds(TrainedGraphCandidate), _kinds(SpeculativeGraphCandidate), strict=True):
        found, other = with_speculator.probe(_gpu(model)), without.probe(_gpu(model))
        assert isinstance(found, Available)
        assert isinstance(other, Available)
        assert found.memory_bytes == other.memory_bytes + 1000


def test_a_loaded_model_notices_that_its_speculator_is_installed_and_removed(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for path in noise_models.V3.iterdir():
        (model / path.name).symlink_to(path)
    told: list[EngineStatus] = []
    manager = EngineManager(
        EngineTarget(open_checkpoint(model), processor(1)),
        EngineStore(tmp_path / "store", limit_bytes=1 << 30),
        modules=("studio.engines.torch_candidates", "studio.engines.speculative_candidates"),
        on_change=told.append,
    )

    def status() -> Status:
        views = next(stage for stage in manager.overview().stages if stage.stage is Stage.SPEECH_LM).candidates
        return next(view for view in views if view.name == "torch-dspark-float32").status

    assert status() is Status.UNUSABLE
    (model / "speculator").mkdir()
    for name, content in speculator_files().items():
        (model / "speculator" / name).write_bytes(content)
    manager.refresh()
    assert status() is Status.UNTRIED
    assert len(told) == 1
    shutil.rmtree(model / "speculator")
    manager.refresh()
    assert status() is Status.UNUSABLE


@pytest.mark.slow
def test_recorded_speculation_passes_its_trial(tmp_path: Path) -> None:
    """Scores are compared with plain float32, and a line is timed with the sampler of synthesis."""
    target = EngineTarget(open_checkpoint(noise_models.V3), processor(1))
    plain = TorchCandidate(Stage.SPEECH_LM)
    size = TrialSize(num_tokens=30, num_seeds=0, num_rounds=1, timing_seconds=1.0)
    recording = record_reference(target, references_of(all_candidates()), size)
    for candidate in _kinds(SpeculativeGraphCandidate)[:2]:
        trial = TRIALS[Stage.SPEECH_LM](recording, target.checkpoint, size)
        engine = candidate.open(None, target)
        assert trial.verify(engine, candidate.precision).rejection is None
        count = SpeculationCount()
        assert isinstance(engine, SpeculativeGraphSpeechLM)
        request = replace(recording.speech_request(), speculation=count)
        list(engine.generate(request, RepetitionAwareSampler(engine.sampling, 0)))
        assert 0 < count.num_steps <= 30
        timing = time_interleaved(trial, engine, plain.open(None, target))
        assert timing.seconds_per_audio_second > 0
        assert engine.engine.endswith("CUDA graph, speculative")
