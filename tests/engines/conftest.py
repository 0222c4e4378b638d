"""A store, a model and a recording for the fake candidates of ``engine_fakes``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import engine_fakes
import noise_models
import pytest
from engine_bench import EXTENT, MakeManager, small_recording

from studio.engines.candidate import EngineTarget
from studio.engines.machine import processor
from studio.engines.manager import EngineManager, StartTrial
from studio.engines.overview import EngineStatus
from studio.engines.reference_io import recording_name
from studio.engines.store import EngineStore
from studio.model.checkpoint import open_checkpoint


@pytest.fixture(scope="session")
def subject() -> EngineTarget:
    return EngineTarget(open_checkpoint(noise_models.V3), processor(1))


@pytest.fixture
def store(tmp_path: Path) -> EngineStore:
    return EngineStore(tmp_path / "engines")


@pytest.fixture
def make_manager(
    subject: EngineTarget, store: EngineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> MakeManager:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))
    small_recording().write(store.folder / "recorded" / recording_name(subject, EXTENT))
    engine_fakes.ThreadTrial.tasks.clear()

    def make(
        candidates: str,
        *,
        start_trial: StartTrial = engine_fakes.ThreadTrial,
        on_change: Callable[[EngineStatus], None] = lambda _overview: None,
        store: EngineStore | None = store,
    ) -> EngineManager:
        assert store is not None
        return EngineManager(
            subject,
            store,
            modules=(f"engine_fakes:{candidates}",),
            extent=EXTENT,
            start_trial=start_trial,
            on_change=on_change,
        )

    return make
