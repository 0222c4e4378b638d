"""A batch of lines through the whole worker, with a language model that batches their steps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import noise_models
import numpy as np
import pytest
from thread_worker import ThreadWorker

from studio.engines.cuda_graph.speech_lm import ContinuousBatch, GraphSpeechLM
from studio.engines.machine import processor
from studio.engines.manager import OpenedStage
from studio.engines.overview import CandidateView, EngineStatus, StageView, Status
from studio.engines.stage import Stage
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference
from studio.worker.client import WorkerClient
from studio.worker.model_host import ModelHost

NUM_LINES = 4


class OneEngineManager:
    """An engine manager with one verified engine, which batches the steps of concurrent lines."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.store = self
        view = CandidateView(Stage.SPEECH_LM, "shared", "shared steps", "float32", "shared", Status.VERIFIED)
        self._stages = (StageView(Stage.SPEECH_LM, "shared", (view,)),)

    def has_manifests(self) -> bool:
        return True

    def overview(self) -> EngineStatus:
        return EngineStatus("noise", processor(1), self._stages, 0, 1)

    def open_choice(self, stage: Stage) -> OpenedStage | None:
        if stage is not Stage.SPEECH_LM:
            return None
        plain = open_checkpoint(self._folder).load_speech_lm(Precision.FLOAT32, "cpu")
        return OpenedStage(GraphSpeechLM(plain), self._stages[0].candidates[0])

    def opens_slowly(self, stage: Stage) -> bool:
        return False

    def suspend(self, reason: object) -> None: ...

    def resume(self, reason: object) -> None: ...

    def close(self) -> None: ...

    def cancel(self) -> None: ...

    def clear(self, keys: Collection[str] | None = None) -> int:
        return 0


@pytest.fixture
def lines_met(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the size of the batch whenever a line joins. The first line waits for a second one."""
    seen: list[int] = []
    two_are_there = threading.Event()
    join = ContinuousBatch.add

    def joined(self: ContinuousBatch, *arguments: Any, **options: Any) -> Any:
        line = join(self, *arguments, **options)
        seen.append(len(self._lines))
        if len(seen) == 2:
            two_are_there.set()
        two_are_there.wait(60)
        return line

    monkeypatch.setattr(ContinuousBatch, "add", joined)
    return seen


def make_worker(folder: Path) -> Callable[[], ThreadWorker]:
    def open_model(path: Path, options: EngineOptions) -> ModelHost:
        manager: Any = OneEngineManager(folder)
        return ModelHost(path, options, lambda _on_status: manager)

    return lambda: ThreadWorker(open_model)


def spoken(folder: Path, requests: list[SynthesisRequest], *, in_batch: bool) -> list[np.ndarray]:
    async def one(client: WorkerClient, request: SynthesisRequest) -> np.ndarray:
        async with client.synthesize(request, in_batch=in_batch) as running:
            return np.concatenate([chunk.samples async for chunk in running])

    async def run() -> list[np.ndarray]:
        options = EngineOptions(num_threads=1)
        async with WorkerClient(folder, options, start_worker=make_worker(folder)) as client:
            assert (await client.load()).max_concurrent_lines == 31
            if in_batch:
                return list(await asyncio.gather(*(one(client, request) for request in requests)))
            return [await one(client, request) for request in requests]

    return asyncio.run(run())


@pytest.mark.slow
def test_concurrent_lines_equal_sequential_ones(
    tmp_path: Path, reference: Path, lines_met: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    folder = noise_models.V3
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    requests = [SynthesisRequest("One line.", voice, seed=seed, forced_tokens=30) for seed in range(NUM_LINES)]
    together = spoken(folder, requests, in_batch=True)
    assert max(lines_met) > 1, "they were one after the other"
    alone = spoken(folder, requests, in_batch=False)
    for ours, theirs in zip(together, alone, strict=True):
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max()
