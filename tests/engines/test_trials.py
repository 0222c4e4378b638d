"""Error measures, tolerances, and trials of miniature models with intact and damaged weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import noise_models
import numpy as np
import pytest
import torch

from studio.engines import torch_candidates
from studio.engines.candidate import (
    MODULES,
    Available,
    BuildCancelled,
    EngineTarget,
    Unusable,
    all_candidates,
    find_references,
)
from studio.engines.machine import processor
from studio.engines.reference_io import ReferenceIO, as_tokens, read_reference, record_reference
from studio.engines.stage import Device, Stage
from studio.engines.task import TrialSize, TrialTask, WasCancelled
from studio.engines.trial_run import run_trial
from studio.engines.trials import TRIALS, StageBenchmark, time_interleaved, time_single
from studio.engines.verification import apply_limits
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.measurements import Verification, compare
from studio.model.mel_distance import mel_distance_db
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import SpeechTokenRequest, TokenSampler

SECOND_GPU = torch.device("cuda", 1)
TRIAL_SIZE = TrialSize(num_tokens=30, num_seeds=1, num_rounds=1, timing_seconds=5.0)
REFERENCES = find_references(all_candidates())


def test_error_is_relative_to_the_reference() -> None:
    wanted = np.array([3.0, 4.0], np.float32)
    apart = compare(wanted, np.array([3.0, 4.5], np.float32))
    assert (apart.relative_error, apart.max_error) == (pytest.approx(0.1), pytest.approx(0.5))
    assert compare(wanted, wanted).relative_error == 0.0
    assert not compare(wanted, np.array([np.nan, 4.0], np.float32)).is_finite
    assert compare(wanted, np.zeros(3, np.float32)).relative_error == math.inf


def test_mel_distance_ignores_loudness() -> None:
    mel = np.random.default_rng(0).standard_normal((80, 20)).astype(np.float32)
    assert mel_distance_db(mel, mel + 1.0) == pytest.approx(0.0, abs=1e-5)
    ripple_db = math.sqrt(2) * np.cos(np.pi * 3 * (np.arange(80) + 0.5) / 80)[:, None]  # 1 dB root mean square
    assert mel_distance_db(mel, mel + ripple_db * math.log(10) / 20) == pytest.approx(1.0, rel=1e-3)
    assert mel_distance_db(mel, np.full_like(mel, np.nan)) == math.inf


@pytest.mark.parametrize(
    ("stage", "precision", "found", "is_right"),
    [
        (Stage.FLOW, Precision.FLOAT16, Verification(True, 0.9e-2, 1.0, 1, mel_distance_db=0.1), True),
        (Stage.FLOW, Precision.FLOAT16, Verification(True, 1.1e-2, 1.0, 1, mel_distance_db=0.1), False),
        (Stage.FLOW, Precision.INT8, Verification(True, 4e-2, 1.0, 1, mel_distance_db=0.99), True),
        (Stage.FLOW, Precision.INT8, Verification(True, 4e-2, 1.0, 1, mel_distance_db=1.01), False),
        (Stage.FLOW, Precision.INT8, Verification(False, 0.0, 0.0, 1, mel_distance_db=0.0), False),
        (Stage.VOCODER, Precision.FLOAT16, Verification(True, 0.5, 1.0, 1, mel_distance_db=0.1), True),
        (Stage.VOCODER, Precision.FLOAT32, Verification(True, 0.5, 1.0, 1, mel_distance_db=0.01), False),
        (Stage.SPEECH_TOKENIZER, Precision.FLOAT32, Verification(True, 0.0, 0.0, 1, agreement=0.98), False),
        (Stage.SPEECH_TOKENIZER, Precision.INT8, Verification(True, 0.0, 0.0, 1, agreement=0.98), True),
        (Stage.SPEECH_LM, Precision.INT8, Verification(True, 4e-2, 1.0, 1, agreement=0.9), True),
        (Stage.SPEECH_LM, Precision.FLOAT32, Verification(True, 4e-2, 1.0, 1, agreement=0.9), False),
        (Stage.SPEAKER_ENCODER, Precision.FLOAT32, Verification(True, math.inf, math.inf, 1), False),
    ],
)
def test_tolerances(stage: Stage, precision: Precision, found: Verification, is_right: bool) -> None:
    assert (apply_limits(stage, precision, found).rejection is None) is is_right


class OnSecondCard(torch.Tensor):
    is_cuda = True
    device = SECOND_GPU


def test_timing_synchronises_the_gpu_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    waited_for: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited_for.append)
    time_single(Timed([torch.zeros(1).as_subclass(OnSecondCard)]), None)
    assert set(waited_for) == {SECOND_GPU}
    waited_for.clear()
    time_single(Timed([torch.zeros(1), 5]), None)
    assert waited_for == [], "a result on the processor needs no synchronisation"


class Timed(StageBenchmark):
    """A benchmark whose work yields ``results``."""

    def __init__(self, results: list[object]) -> None:
        self.trial_size = TRIAL_SIZE
        self._results = results

    def compare(self, engine: object) -> Verification:
        raise NotImplementedError

    def work(self, engine: object) -> Callable[[], Iterator[object]]:
        return lambda: iter(self._results)


def test_trial_selects_the_gpu_of_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some libraries build for the current GPU of the thread, and are slower on its default stream."""
    chosen: list[object] = []

    class Pool:
        def __init__(self, device: torch.device) -> None:
            self._device = device

        def of_this_thread(self) -> str:
            return f"a stream of {self._device}"

    def choose(stream: str) -> None:
        chosen.append(stream)
        raise BuildCancelled

    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(torch.cuda, "set_stream", choose)
    monkeypatch.setattr("studio.model.torch_device.cuda_streams", Pool)
    task = TrialTask(
        model_folder=noise_models.V3,
        variant=None,
        device=Device(DeviceKind.CUDA, "a GPU", num_threads=1, total_bytes=8 << 30, index=1),
        stage=Stage.FLOW,
        name="torch-float32",
        modules=MODULES,
        workspace=tmp_path,
        reference_path=tmp_path / "recording",
        timing_cache=tmp_path / "cache",
        trial_size=TRIAL_SIZE,
    )
    assert isinstance(run_trial(task, None), WasCancelled)  # type: ignore[arg-type]
    assert chosen == [1, "a stream of cuda:1"]


@pytest.fixture(scope="module")
def recorded() -> tuple[EngineTarget, ReferenceIO]:
    target = EngineTarget(open_checkpoint(noise_models.V3), processor(1))
    return target, record_reference(target, REFERENCES, TRIAL_SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("stage", list(Stage))
def test_float32_matches_its_own_recording_and_is_timed(
    recorded: tuple[EngineTarget, ReferenceIO], stage: Stage
) -> None:
    target, reference_io = recorded
    trial = TRIALS[stage](reference_io, target.checkpoint, TRIAL_SIZE)
    engine = REFERENCES[stage].open(None, target)
    found = trial.verify(engine, Precision.FLOAT32)
    assert found.rejection is None
    assert found.relative_error <= 1e-6
    timing = time_interleaved(trial, engine, engine)
    assert 0 < timing.first_seconds <= timing.seconds_per_audio_second * trial.audio_seconds + 1.0
    assert timing.num_rounds >= 1


@pytest.mark.slow
def test_16_bit_vocoder_is_accurate_and_needs_fast_arithmetic(
    recorded: tuple[EngineTarget, ReferenceIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    target, reference_io = recorded
    halves = {
        candidate.precision: candidate
        for candidate in torch_candidates.CANDIDATES
        if candidate.stage is Stage.VOCODER and candidate.precision is not Precision.FLOAT32
    }
    bfloat16 = halves[Precision.BFLOAT16]
    engine = bfloat16.open(None, target)
    found = TRIALS[Stage.VOCODER](reference_io, target.checkpoint, TRIAL_SIZE).verify(engine, bfloat16.precision)
    assert found.rejection is None, str(found.rejection)
    assert found.relative_error > 1e-6, "the precision has an effect"
    for has_it in (True, False):
        monkeypatch.setattr(torch_candidates, "multiplies_in", lambda precision, has_it=has_it: has_it)
        assert isinstance(bfloat16.probe(target), Available if has_it else Unusable)
        assert isinstance(halves[Precision.FLOAT16].probe(target), Unusable)


@pytest.mark.slow
@pytest.mark.parametrize("stage", [Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER])
def test_network_with_damaged_weights_is_rejected(
    recorded: tuple[EngineTarget, ReferenceIO], stage: Stage, tmp_path: Path
) -> None:
    """The rows of one matrix are wrong, as after a faulty export."""
    target, reference_io = recorded
    folder = tmp_path / "model"
    folder.mkdir()
    for path in target.checkpoint.folder.iterdir():
        (folder / path.name).symlink_to(path)
    name = {Stage.SPEECH_LM: "llm.pt", Stage.FLOW: "flow.pt", Stage.VOCODER: "hift.pt"}[stage]
    tensors = torch.load(folder / name, weights_only=True)
    largest = max((key for key in tensors if tensors[key].dim() > 1), key=lambda key: tensors[key].numel())
    if stage is Stage.SPEECH_LM:
        largest = next(key for key in tensors if key.endswith("mlp.down_proj.weight"))
    tensors[largest] = tensors[largest].flip(0)
    (folder / name).unlink()
    torch.save(tensors, folder / name)
    spoilt = EngineTarget(open_checkpoint(folder), target.device)
    trial = TRIALS[stage](reference_io, target.checkpoint, TRIAL_SIZE)
    assert trial.verify(REFERENCES[stage].open(None, spoilt), Precision.INT8).rejection is not None


def test_speech_lm_is_timed_with_the_sampler_of_synthesis(recorded: tuple[EngineTarget, ReferenceIO]) -> None:
    target, reference_io = recorded
    used: list[TokenSampler] = []

    class Engine:
        def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
            assert request.min_tokens == request.max_tokens == len(reference_io.speech_tokens)
            used.append(sampler)
            return iter(())

    trial = TRIALS[Stage.SPEECH_LM](reference_io, target.checkpoint, TRIAL_SIZE)
    assert not list(trial.work(Engine())())
    (sampler,) = used
    assert isinstance(sampler, RepetitionAwareSampler)
    assert sampler.options == target.checkpoint.speech_lm.sampling


def test_speech_lm_is_timed_on_another_text_in_each_round(recorded: tuple[EngineTarget, ReferenceIO]) -> None:
    """vLLM keeps what it has computed for a text; a line of a script is new to it, except for the voice's transcript."""
    target, reference_io = recorded
    requests: dict[str, list[SpeechTokenRequest]] = {"ours": [], "theirs": []}

    class Engine:
        def __init__(self, name: str) -> None:
            self.asked = requests[name]

        def generate(self, request: SpeechTokenRequest, sampler: TokenSampler) -> Iterator[int]:
            self.asked.append(request)
            return iter((1,))

    trial = TRIALS[Stage.SPEECH_LM](reference_io, target.checkpoint, TRIAL_SIZE)
    time_interleaved(trial, Engine("ours"), Engine("theirs"))
    texts = [request.text_tokens for request in requests["ours"]]
    assert len(set(texts)) == len(texts) > 1
    assert {tuple(sorted(text)) for text in texts} == {tuple(sorted(as_tokens(reference_io.text_tokens)))}
    assert requests["ours"] == requests["theirs"]


def test_recording_round_trip_and_damaged_file(recorded: tuple[EngineTarget, ReferenceIO], tmp_path: Path) -> None:
    _, reference_io = recorded
    path = tmp_path / "recorded" / "a.safetensors"
    reference_io.write(path)
    again = read_reference(path)
    assert again is not None
    np.testing.assert_array_equal(again.mel, reference_io.mel)
    path.write_bytes(path.read_bytes()[:-100])
    assert read_reference(path) is None
    assert read_reference(tmp_path / "nothing") is None
