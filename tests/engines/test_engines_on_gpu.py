"""Every engine that a graphics card can run, on the card itself: built, opened, and right."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from build_jobs import RecordingJob
from graph_cases import checkpoint_of

from studio.engines.candidate import EngineBackend, EngineTarget, Unusable, all_candidates, references_of
from studio.engines.machine import budget_bytes, gpus
from studio.engines.reference_io import ReferenceIO, record_reference
from studio.engines.task import TrialSize
from studio.engines.trials import TRIALS
from studio.model.config import Precision

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card"),
]
TRIAL_SIZE = TrialSize(num_tokens=60, num_seeds=2, num_rounds=1, timing_seconds=1.0)
CANDIDATES = all_candidates()


@cache
def recording_of(reference: Path, family: str) -> tuple[EngineTarget, ReferenceIO]:
    target = EngineTarget(checkpoint_of(reference, family), gpus()[0])
    return target, record_reference(target, references_of(CANDIDATES), TRIAL_SIZE)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: f"{candidate.stage.value}-{candidate.name}")
def test_built_opened_and_right(reference: Path, family: str, candidate: EngineBackend, tmp_path: Path) -> None:
    """In 16 bits the miniature weights, which are noise, may lie beyond the limits: then finite is enough."""
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
