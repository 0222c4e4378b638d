"""Inputs of engine trials with the fake encoder, and the type of the factory of engine managers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import engine_fakes
import numpy as np

from studio.engines.manager import EngineManager
from studio.engines.overview import EngineStatus
from studio.engines.reference_io import ReferenceIO
from studio.engines.store import EngineStore
from studio.engines.task import TrialSize

TRIAL_SIZE = TrialSize(num_tokens=4, num_seeds=1, num_rounds=3, timing_seconds=20.0)


class MakeManager(Protocol):
    def __call__(
        self,
        candidates: str,
        *,
        start_trial: Callable[..., Any] = ...,
        on_change: Callable[[EngineStatus], None] = ...,
        store: EngineStore | None = None,
        was_disturbed: Callable[[int | None], bool] = ...,
    ) -> EngineManager: ...


def small_recording() -> ReferenceIO:
    """Return inputs and expected output of the fake encoder. Those of the other stages are empty."""
    empty = np.zeros((0,), np.float32)
    fbank = np.random.default_rng(0).standard_normal((50, 80)).astype(np.float32)
    return ReferenceIO(
        log_mel=empty,
        fbank=fbank,
        clip_tokens=np.zeros(0, np.int64),
        embedding=engine_fakes.exact(fbank),
        clip_mel=empty,
        clip_seconds=np.ones(1, np.float32),
        text_tokens=np.zeros(0, np.int64),
        prompt_text_tokens=np.zeros(0, np.int64),
        speech_tokens=np.zeros(0, np.int64),
        scores=empty,
        mel=empty,
        whole_mel=empty,
        samples=empty,
    )
