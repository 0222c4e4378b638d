"""Every engine that a graphics card can run, on the card itself: built, opened, and right."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from graph_cases import checkpoint_of

from studio.engines.candidate import EngineBackend, EngineTarget, Unusable
from studio.engines.machine import budget_bytes, graphics_cards
from studio.engines.reference_io import ReferenceIO, record
from studio.engines.registry import all_candidates
from studio.engines.trial_run import references_of
from studio.engines.trial_size import TrialSize
from studio.engines.trials import TRIALS
from studio.model.config import Precision

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card"),
]
EXTENT = TrialSize(num_tokens=60, num_seeds=2, num_rounds=1, timing_seconds=1.0)
CANDIDATES = all_candidates()


class Job:
    """A build that nobody cancels."""

    def __init__(self, subject: EngineTarget, workspace: Path) -> None:
        self.subject = subject
        self.workspace = workspace
        self.timing_cache = workspace.parent / "timing-cache"
        self.memory_bytes = budget_bytes(subject.device)

    def report(self, phase: str, done: float, total: float) -> None:
        assert 0 <= done <= total

    def should_continue(self) -> bool:
        return True


@cache
def recording_of(reference: Path, family: str) -> tuple[EngineTarget, ReferenceIO]:
    subject = EngineTarget(checkpoint_of(reference, family), graphics_cards()[0])
    return subject, record(subject, references_of(CANDIDATES), EXTENT)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: f"{candidate.stage.value}-{candidate.name}")
def test_built_opened_and_right(reference: Path, family: str, candidate: EngineBackend, tmp_path: Path) -> None:
    """In 16 bits the miniature weights, which are noise, may lie beyond the limits: then finite is enough."""
    subject, recording = recording_of(reference, family)
    usable = candidate.probe(subject)
    if isinstance(usable, Unusable):
        pytest.skip(str(usable.reason))
    workspace = tmp_path / "built"
    if candidate.phases:
        workspace.mkdir()
        candidate.build(Job(subject, workspace))
    engine = candidate.open(workspace if candidate.phases else None, subject)
    verification = TRIALS[candidate.stage](recording, subject.checkpoint, EXTENT).verify(engine, candidate.precision)
    assert verification.is_finite
    if candidate.precision is Precision.FLOAT32:
        assert verification.complaint is None, str(verification.complaint)
