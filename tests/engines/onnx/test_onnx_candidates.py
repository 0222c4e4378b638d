"""Candidates under ONNX Runtime."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from build_jobs import RecordingJob
from graph_cases import CPU, checkpoint_of

from studio.engines.candidate import Available, BuildCancelled, EngineTarget, Unusable, all_candidates
from studio.engines.onnx.candidates import CANDIDATES, OrtCandidate
from studio.engines.stage import Stage
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

GPU = replace(CPU, kind=DeviceKind.CUDA, name="a GPU")


@pytest.mark.slow
def test_listing_candidates_does_not_import_onnx() -> None:
    code = "import sys, studio.engines.onnx.candidates; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_graphs_run_on_the_cpu_only(reference: Path) -> None:
    checkpoint = checkpoint_of(reference, "cosyvoice3")
    for candidate in CANDIDATES:
        assert isinstance(candidate.probe(EngineTarget(checkpoint, CPU)), Available)
        assert isinstance(candidate.probe(EngineTarget(checkpoint, GPU)), Unusable)


def test_names_of_earlier_versions_are_kept() -> None:
    """They are part of the keys of stored engines."""
    every = [candidate for candidate in all_candidates() if candidate.name.startswith("onnxruntime")]
    assert {(candidate.name, candidate.engine) for candidate in every} == {
        ("onnxruntime-cpu", "ONNX Runtime (CPU)"),
        ("onnxruntime-cpu-int8", "ONNX Runtime (CPU)"),
    }


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
