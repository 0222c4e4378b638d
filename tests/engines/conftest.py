"""A store, a model and a recording for the fake candidates of ``engine_fakes``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine_fakes
import noise_models
import pytest
from trial_inputs import TRIAL_SIZE, MakeManager, small_recording

from studio.engines.candidate import EngineTarget
from studio.engines.machine import processor
from studio.engines.manager import EngineManager
from studio.engines.overview import EngineStatus
from studio.engines.reference_io import reference_file_name
from studio.engines.store import EngineStore
from studio.model.checkpoint import open_checkpoint


@pytest.fixture(scope="session")
def target() -> EngineTarget:
    return EngineTarget(open_checkpoint(noise_models.V3), processor(1))


@pytest.fixture
def store(tmp_path: Path) -> EngineStore:
    return EngineStore(tmp_path / "engines")


@pytest.fixture
def make_manager(
    target: EngineTarget, store: EngineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> MakeManager:
    monkeypatch.setenv("TIMBRE_LOGS", str(tmp_path / "logs"))
    small_recording().write(store.folder / "recorded" / reference_file_name(target, TRIAL_SIZE))
    engine_fakes.ThreadTrial.tasks.clear()

    def make(
        candidates: str,
        *,
        start_trial: Callable[..., Any] = engine_fakes.ThreadTrial,
        on_change: Callable[[EngineStatus], None] = lambda _overview: None,
        store: EngineStore | None = store,
        was_disturbed: Callable[[int | None], bool] = lambda _: False,
    ) -> EngineManager:
        assert store is not None
        return EngineManager(
            target,
            store,
            modules=(f"engine_fakes:{candidates}",),
            trial_size=TRIAL_SIZE,
            start_trial=start_trial,
            on_change=on_change,
            was_disturbed=was_disturbed,
        )

    return make
