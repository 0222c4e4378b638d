"""Building plans with the real library, which needs no GPU: progress, cancellation, damaged files, a killed build."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import onnx
import pytest
import torch
from build_jobs import RecordingJob
from graph_cases import CPU, checkpoint_of, flow_folder, vocoder_folder

from studio.engines.candidate import Available, BuildCancelled, EngineTarget, Unusable
from studio.engines.onnx import files
from studio.engines.onnx.graph import FlowShapes, VocoderShapes
from studio.engines.quantized.building import Effort, write_quantized_flow, write_quantized_vocoder
from studio.engines.stage import Stage
from studio.engines.tensorrt import plan_files
from studio.engines.tensorrt.building import (
    Profile,
    ProgressTracker,
    build_plan,
    read_timing_cache,
    write_timing_cache,
)
from studio.engines.tensorrt.candidates import CANDIDATES, TensorRTCandidate
from studio.engines.tensorrt.library import Library, find_library
from studio.engines.tensorrt.plan_files import flow_profiles, vocoder_profiles
from studio.engines.tensorrt.plan_graph import PlanGraph
from studio.errors import DamagedModelFile, UnsupportedPrecision
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

WORKSPACE_BYTES = 1 << 30
real = pytest.mark.skipif(not isinstance(find_library(None, is_rtx=True), Library), reason="no TensorRT is installed")


@cache
def library() -> Library:
    found = find_library(None, is_rtx=True)
    assert isinstance(found, Library)
    return found


@cache
def small_plan(reference: Path) -> bytes:
    return build(small_graph(reference), reference)


def build(
    graph: Path,
    reference: Path,
    *,
    profiles: Sequence[Profile] | None = None,
    report: Callable[[float], None] = lambda share: None,
    should_continue: Callable[[], bool] = lambda: True,
    compute_capability: tuple[int, int] | None = None,
) -> bytes:
    profiles = profiles or flow_profiles(FlowShapes.read(flow_folder(reference, "cosyvoice3")))
    return build_plan(
        library(),
        graph,
        profiles,
        report=report,
        should_continue=should_continue,
        workspace_bytes=WORKSPACE_BYTES,
        compute_capability=compute_capability,
    )


def small_graph(reference: Path) -> Path:
    return flow_folder(reference, "cosyvoice3") / files.FLOW_ENCODER


@real
def test_progress_never_decreases(reference: Path) -> None:
    reported: list[float] = []
    assert len(build(small_graph(reference), reference, report=reported.append)) > 1000
    assert len(reported) > 20
    assert reported == sorted(reported)
    assert 0 <= reported[0] < 0.3
    assert 0.8 < reported[-1] <= 1.0


@real
def test_cancellation_ends_the_build(reference: Path) -> None:
    asked: list[bool] = []

    def should_continue() -> bool:
        asked.append(len(asked) < 10)
        return asked[-1]

    with pytest.raises(BuildCancelled):
        build(small_graph(reference), reference, should_continue=should_continue)
    assert asked.count(False) == 1, "should_continue is not called again after False"


@real
def test_exception_of_report_is_raised(reference: Path) -> None:
    def report(share: float) -> None:
        raise OSError("the pipe is gone")

    with pytest.raises(OSError, match="pipe"):
        build(small_graph(reference), reference, report=report)


@real
@pytest.mark.parametrize("damage", ["cut", "text", "missing"])
def test_damaged_graph_is_reported(reference: Path, tmp_path: Path, damage: str) -> None:
    graph = tmp_path / "flow-encoder.onnx"
    whole = small_graph(reference).read_bytes()
    if damage != "missing":
        graph.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"not a graph at all")
    with pytest.raises(DamagedModelFile, match=r"flow-encoder\.onnx cannot be read"):
        build(graph, reference)


@real
def test_unsupported_graph_is_reported(reference: Path, tmp_path: Path) -> None:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.STRING, ["frames"])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.STRING, ["frames"])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "words", [x], [y])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    onnx.save(model, tmp_path / "words.onnx")
    with pytest.raises(UnsupportedPrecision, match=r"TensorRT cannot build words\.onnx"):
        build(tmp_path / "words.onnx", reference)


class TimingConfig:
    """A fake of TensorRT's: other contents yield no cache, or one that it rejects."""

    def __init__(self) -> None:
        self.cache: bytes | None = None

    def create_timing_cache(self, content: bytes) -> bytes | None:
        return content if content in (b"", b"measured", b"of another GPU") else None

    def set_timing_cache(self, cache: bytes, ignore_mismatch: bool) -> bool:
        assert not ignore_mismatch
        if cache == b"of another GPU":
            return False
        self.cache = cache
        return True

    def get_timing_cache(self) -> SimpleNamespace:
        return SimpleNamespace(serialize=lambda: b"measured")


@pytest.mark.parametrize("stored", [None, b"yesterday's", b"of another GPU", b"measured"])
def test_timing_cache_is_used_if_it_matches(tmp_path: Path, stored: bytes | None) -> None:
    path, config = tmp_path / "timing", TimingConfig()
    if stored is not None:
        path.write_bytes(stored)
    assert read_timing_cache(config, path) is not None
    assert config.cache == (b"measured" if stored == b"measured" else b"")
    write_timing_cache(config, path)
    assert path.read_bytes() == b"measured"


@pytest.mark.slow
@real
@pytest.mark.parametrize("damage", ["empty", "cut", "foreign"])
def test_damaged_plan_is_rejected(reference: Path, damage: str) -> None:
    whole = small_plan(reference)
    plan = {"empty": b"", "cut": whole[: len(whole) // 2], "foreign": os.urandom(len(whole))}[damage]
    with pytest.raises(DamagedModelFile, match=r"TensorRT rejected the built engine flow\.plan"):
        PlanGraph(library(), plan, torch.device("cpu"), num_contexts=1, file_name="flow.plan")


@real
@pytest.mark.slow
def test_killed_build_leaves_no_plan(reference: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from studio.engines.tensorrt.building import *\n"
        "from studio.engines.tensorrt.library import find_library\n"
        "from studio.engines.tensorrt.plan_files import flow_profiles\n"
        "from studio.engines.onnx.graph import FlowShapes\n"
        "folder, out = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "plan = build_plan(find_library(None, is_rtx=True), folder / 'flow-step.onnx', flow_profiles(FlowShapes.read(folder)),\n"
        "    report=lambda share: print(share, flush=True), should_continue=lambda: True,\n"
        "    workspace_bytes=1 << 30, timing_cache=out / 'timing')\n"
        "(out / 'flow.plan').write_bytes(plan)\n"
    )
    folder = flow_folder(reference, "cosyvoice3")
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "it began"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


@real
@pytest.mark.slow
@pytest.mark.parametrize(
    ("generation", "precision", "compute_capability"),
    [
        ("cosyvoice2", Precision.FLOAT32, None),
        ("cosyvoice3", Precision.FLOAT16, (8, 6)),
        ("cosyvoice3", Precision.FLOAT16, (12, 0)),
    ],
)
def test_plans_of_the_flow_are_built(
    reference: Path, generation: str, precision: Precision, compute_capability: tuple[int, int] | None
) -> None:
    """For the oldest and the newest generation of GPUs that the flow supports, and for all."""
    folder = flow_folder(reference, generation, precision)
    profiles = flow_profiles(FlowShapes.read(folder))
    for name in (files.FLOW_ENCODER, files.FLOW_STEP):
        assert build(folder / name, reference, profiles=profiles, compute_capability=compute_capability)


@real
@pytest.mark.slow
@pytest.mark.parametrize(("stage", "precision"), [(Stage.FLOW, Precision.FLOAT16), (Stage.VOCODER, Precision.FLOAT32)])
def test_plans_of_the_first_generation_are_built(
    reference: Path, stage: Stage, precision: Precision, tmp_path: Path
) -> None:
    """One solver step of the flow, for whole sentences of any length, and the vocoder's decoder."""
    gpu = replace(CPU, kind=DeviceKind.CUDA, name="a desktop GPU", compute_capability=(8, 9))
    job = RecordingJob(
        EngineTarget(checkpoint_of(reference, "cosyvoice1"), gpu), tmp_path / "built", tmp_path / "timing"
    )
    job.workspace.mkdir()
    candidate = TensorRTCandidate(stage, precision, is_rtx=True)
    candidate.build(job)
    plans = [path.name for path in job.workspace.glob("*.plan")]
    assert plans == (["flow-step.plan"] if stage is Stage.FLOW else ["vocoder-decoder.plan"])


@real
@pytest.mark.slow
@pytest.mark.parametrize("compute_capability", [None, (7, 5), (12, 0)])
def test_plan_of_the_vocoder_is_built(reference: Path, compute_capability: tuple[int, int] | None) -> None:
    """For the oldest and the newest generation of GPUs, and for all."""
    folder = vocoder_folder(reference, "cosyvoice3")
    config = checkpoint_of(reference, "cosyvoice3").vocoder
    profiles = vocoder_profiles(VocoderShapes.read(folder), config.look_right_frames)
    assert build(folder / files.VOCODER_DECODER, reference, profiles=profiles, compute_capability=compute_capability)


@real
@pytest.mark.slow
@pytest.mark.parametrize(("generation", "stage"), [("cosyvoice3", Stage.FLOW), ("cosyvoice2", Stage.VOCODER)])
def test_8_bit_plans_are_built(
    reference: Path, generation: str, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole of ``build``: calibration, the distortion check, and plans from QDQ pairs."""
    few = Effort(num_clips=2, num_held_out=1)
    for name, write in (("flow", write_quantized_flow), ("vocoder", write_quantized_vocoder)):
        monkeypatch.setattr(plan_files, f"write_quantized_{name}", partial(write, effort=few))
    candidate = TensorRTCandidate(stage, Precision.INT8, is_rtx=True)
    gpu = replace(CPU, kind=DeviceKind.CUDA, name="a desktop GPU", compute_capability=(8, 9))
    job = RecordingJob(EngineTarget(checkpoint_of(reference, generation), gpu), tmp_path / "built", tmp_path / "timing")
    job.workspace.mkdir()
    candidate.build(job)
    assert {phase for phase, _, _ in job.reports} == set(candidate.phases)
    plans = sorted(path.name for path in job.workspace.glob("*.plan"))
    assert plans == (["flow-encoder.plan", "flow-step.plan"] if stage is Stage.FLOW else ["vocoder-decoder.plan"])
    assert "num_clips=100" in candidate.key_facts(job.target)["calibration"]


@real
@pytest.mark.slow
def test_flow_cannot_be_built_for_turing(reference: Path) -> None:
    """The reason why ``probe`` refuses it. If a newer library builds it, the refusal can be removed."""
    with pytest.raises(UnsupportedPrecision):
        build(small_graph(reference), reference, compute_capability=(7, 5))


@real
def test_turing_gets_the_vocoder_only(reference: Path) -> None:
    gpu = replace(CPU, kind=DeviceKind.CUDA, name="an older GPU", compute_capability=(7, 5))
    target = EngineTarget(checkpoint_of(reference, "cosyvoice3"), gpu)
    vocoder, flow = (
        TensorRTCandidate(stage, Precision.FLOAT16, is_rtx=True).probe(target) for stage in (Stage.VOCODER, Stage.FLOW)
    )
    assert isinstance(vocoder, Available)
    assert isinstance(flow, Unusable)
    assert "7.5" in str(flow.reason)


def test_missing_gpu_is_the_reason(reference: Path) -> None:
    for candidate in CANDIDATES:
        found = candidate.probe(EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU))
        assert isinstance(found, Unusable)
        assert str(found.reason) == "no NVIDIA GPU is in use"


def test_progress_of_nested_phases() -> None:
    shares: list[float] = []
    watch = ProgressTracker(shares.append, lambda: True)
    watch.begin("building", 2)
    watch.begin("layers", 4)
    for step in range(4):
        assert watch.step("layers", step)
    watch.end("layers")
    assert watch.step("building", 0)
    watch.begin("kernels", 1)
    assert watch.step("kernels", 0)
    watch.end("kernels")
    assert watch.step("building", 1)
    assert shares == pytest.approx([0.125, 0.25, 0.375, 0.5, 0.5, 1.0, 1.0])
