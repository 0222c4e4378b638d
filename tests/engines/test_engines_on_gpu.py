"""Every engine that runs on a GPU is built, opened and verified on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from build_jobs import RecordingJob
from graph_cases import checkpoint_of

from studio.engines.candidate import EngineBackend, EngineTarget, Unusable, all_candidates, find_references
from studio.engines.machine import budget_bytes, gpus
from studio.engines.reference_io import ReferenceIO, record_reference
from studio.engines.task import TrialSize
from studio.engines.trials import TRIALS
from studio.model.config import Precision

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]
TRIAL_SIZE = TrialSize(num_tokens=60, num_seeds=2, num_rounds=1, timing_seconds=1.0)
CANDIDATES = all_candidates()


@cache
def recording_of(reference: Path, family: str) -> tuple[EngineTarget, ReferenceIO]:
    target = EngineTarget(checkpoint_of(reference, family), gpus()[0])
    return target, record_reference(target, find_references(CANDIDATES), TRIAL_SIZE)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: f"{candidate.stage.value}-{candidate.name}")
def test_engine_builds_opens_and_matches_float32(
    reference: Path, family: str, candidate: EngineBackend, tmp_path: Path
) -> None:
    """The miniature weights are noise and may exceed the limits in 16 bits, where only finite output is required."""
    target, reference_io = recording_of(reference, family)
    usable = candidate.probe(target)
    if isinstance(usable, Unusable):
        pytest.skip(str(usable.reason))
    workspace = tmp_path / "built"
    if candidate.phases:
        workspace.mkdir()
        candidate.build(RecordingJob(target, workspace, tmp_path / "timing-cache", budget_bytes(target.device)))
    engine = candidate.open(workspace if candidate.phases else None, target)
    verification = TRIALS[candidate.stage](reference_io, target.checkpoint, TRIAL_SIZE).verify(
        engine, candidate.precision
    )
    assert verification.is_finite
    if candidate.precision is Precision.FLOAT32:
        assert verification.rejection is None, str(verification.rejection)
