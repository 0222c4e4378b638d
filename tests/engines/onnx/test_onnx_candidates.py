"""Candidates under ONNX Runtime."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import onnxruntime
import pytest
from build_jobs import RecordingJob
from graph_cases import CPU, checkpoint_of, flow_folder

from studio.engines.candidate import Available, BuildCancelled, EngineTarget, Unusable, all_candidates
from studio.engines.onnx.candidates import CANDIDATES, FolderNetwork, OrtCandidate
from studio.engines.onnx.files import FLOW_ENCODER
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.stage import Stage
from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.onnx_networks import providers

GPU = replace(CPU, kind=DeviceKind.CUDA, name="a GPU")


@pytest.mark.slow
def test_listing_candidates_does_not_import_onnx() -> None:
    code = "import sys, studio.engines.onnx.candidates; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_candidate_runs_on_its_device_only(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    for candidate in CANDIDATES:
        assert isinstance(candidate, OrtCandidate | FolderNetwork)
        for device in (CPU, GPU):
            found = candidate.probe(EngineTarget(checkpoint, device))
            # This build of ONNX Runtime has no CUDA.
            expected = Available if device is CPU and candidate.kind is DeviceKind.CPU else Unusable
            assert isinstance(found, expected), candidate.name


def test_onnx_runtime_without_cuda_is_the_reason(reference: Path) -> None:
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime supports CUDA")
    candidate = OrtCandidate(Stage.FLOW, kind=DeviceKind.CUDA)
    found = candidate.probe(EngineTarget(checkpoint_of(reference, "cosyvoice3"), GPU))
    assert isinstance(found, Unusable)
    assert str(found.reason).startswith(
        "onnxruntime-gpu is not installed (pip uninstall -y onnxruntime, then pip install"
    )


def test_new_sizes_do_not_repeat_the_search_for_algorithms() -> None:
    (name, options), fallback = providers(1)
    assert (name, fallback) == ("CUDAExecutionProvider", "CPUExecutionProvider")
    assert options == {"device_id": "1", "cudnn_conv_algo_search": "HEURISTIC"}


def test_session_on_another_device_is_rejected(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its CUDA libraries, onnxruntime-gpu silently uses the processor."""
    monkeypatch.setattr("studio.model.onnx_networks.providers", lambda index: ["CPUExecutionProvider"])
    with pytest.raises(UnsupportedPrecision, match="cannot use cuda:0"):
        OrtGraph(flow_folder(reference, "cosyvoice3") / FLOW_ENCODER, GPU)
    for stage in (Stage.SPEECH_TOKENIZER, Stage.SPEAKER_ENCODER):
        with pytest.raises(UnsupportedPrecision, match="cannot use cuda:0"):
            FolderNetwork(stage, kind=DeviceKind.CUDA).open(
                None, EngineTarget(checkpoint_of(reference, "cosyvoice3"), GPU)
            )


def test_display_names_contain_the_device() -> None:
    every = [candidate for candidate in all_candidates() if candidate.name.startswith("onnxruntime")]
    words = {(candidate.stage, candidate.name): candidate.engine for candidate in every}
    assert words[Stage.SPEECH_TOKENIZER, "onnxruntime-cpu"] == "ONNX Runtime (CPU)"
    assert words[Stage.SPEECH_TOKENIZER, "onnxruntime-cuda"] == "ONNX Runtime (CUDA)"
    assert all(engine.lower().endswith(f"({name.split('-')[1]})") for (_, name), engine in words.items())


@pytest.mark.slow
def test_candidate_builds_and_opens(reference: Path, tmp_path: Path) -> None:
    target = EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU)
    candidate = OrtCandidate(Stage.FLOW, Precision.FLOAT16)
    job = RecordingJob(target, tmp_path)
    candidate.build(job)
    assert [report[1:] for report in job.reports] == [(0, 2), (1, 2), (2, 2)]
    assert {report[0] for report in job.reports} == set(candidate.phases)
    assert "onnxruntime" in candidate.key_facts(target)
    flow = candidate.open(tmp_path, target)
    assert flow.chunk_tokens == 25  # type: ignore[union-attr]


def test_cancelled_build_ends(reference: Path, tmp_path: Path) -> None:
    job = RecordingJob(EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU), tmp_path, cancel_at=1)
    with pytest.raises(BuildCancelled):
        OrtCandidate(Stage.FLOW).build(job)
    assert not (tmp_path / "flow-step.onnx").exists()
