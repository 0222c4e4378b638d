"""ONNX Runtime as the manager meets it."""

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

CARD = replace(CPU, kind=DeviceKind.CUDA, name="a graphics card")


def test_listing_candidates_does_not_import_what_only_builds_want() -> None:
    code = "import sys, studio.engines.onnx.candidates; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_runs_at_its_place_only(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    for candidate in CANDIDATES:
        assert isinstance(candidate, OrtCandidate | FolderNetwork)
        for device in (CPU, CARD):
            found = candidate.probe(EngineTarget(checkpoint, device))
            # This build of ONNX Runtime has no CUDA; with one, a session would tell (below).
            expected = Available if device is CPU and candidate.kind is DeviceKind.CPU else Unusable
            assert isinstance(found, expected), candidate.name


def test_a_build_without_cuda_is_named(reference: Path) -> None:
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime knows CUDA")
    candidate = OrtCandidate(Stage.FLOW, kind=DeviceKind.CUDA)
    found = candidate.probe(EngineTarget(checkpoint_of(reference, "cosyvoice3"), CARD))
    assert isinstance(found, Unusable)
    assert str(found.reason) == "onnxruntime-gpu is not installed"


def test_a_sentence_of_another_length_is_no_reason_to_search_anew() -> None:
    (name, options), fallback = providers(1)
    assert (name, fallback) == ("CUDAExecutionProvider", "CPUExecutionProvider")
    assert options == {"device_id": "1", "cudnn_conv_algo_search": "HEURISTIC"}


def test_a_session_that_fell_back_is_refused(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with onnxruntime-gpu without its libraries: asked for CUDA, it takes the processor without a word."""
    monkeypatch.setattr("studio.engines.onnx.ort_graph.providers", lambda index: ["CPUExecutionProvider"])
    with pytest.raises(UnsupportedPrecision, match="cannot use cuda:0"):
        OrtGraph(flow_folder(reference, "cosyvoice3") / FLOW_ENCODER, CARD)
    monkeypatch.setattr("studio.model.onnx_networks.providers", lambda index: ["CPUExecutionProvider"])
    for stage in (Stage.SPEECH_TOKENIZER, Stage.SPEAKER_ENCODER):
        with pytest.raises(UnsupportedPrecision, match="cannot use cuda:0"):
            FolderNetwork(stage, kind=DeviceKind.CUDA).open(
                None, EngineTarget(checkpoint_of(reference, "cosyvoice3"), CARD)
            )


def test_engines_on_a_card_are_called_otherwise_than_those_on_the_processor() -> None:
    every = [candidate for candidate in all_candidates() if candidate.name.startswith("onnxruntime")]
    words = {(candidate.stage, candidate.name): candidate.engine for candidate in every}
    assert words[Stage.SPEECH_TOKENIZER, "onnxruntime-cpu"] == "ONNX Runtime (CPU)"
    assert words[Stage.SPEECH_TOKENIZER, "onnxruntime-cuda"] == "ONNX Runtime (CUDA)"
    assert all(engine.lower().endswith(f"({name.split('-')[1]})") for (_, name), engine in words.items())


def test_built_opened_and_speaking(reference: Path, tmp_path: Path) -> None:
    target = EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU)
    candidate = OrtCandidate(Stage.FLOW, Precision.FLOAT16)
    job = RecordingJob(target, tmp_path)
    candidate.build(job)
    assert [report[1:] for report in job.reports] == [(0, 2), (1, 2), (2, 2)]
    assert {report[0] for report in job.reports} == set(candidate.phases)
    assert "onnxruntime" in candidate.key_facts(target)
    flow = candidate.open(tmp_path, target)
    assert flow.chunk_tokens == 25  # type: ignore[union-attr]


def test_a_cancelled_build_ends(reference: Path, tmp_path: Path) -> None:
    job = RecordingJob(EngineTarget(checkpoint_of(reference, "cosyvoice3"), CPU), tmp_path, cancel_at=1)
    with pytest.raises(BuildCancelled):
        OrtCandidate(Stage.FLOW).build(job)
    assert not (tmp_path / "flow-step.onnx").exists()
