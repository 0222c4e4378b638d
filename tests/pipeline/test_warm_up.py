"""Warming up uses every stage as a line does, and changes no later line."""

from __future__ import annotations

from pathlib import Path

import noise_models
import pytest
import torch

from studio.engines.cuda_graph.flow import load_graphed_flow
from studio.engines.cuda_graph.speech_lm import GraphSpeechLM
from studio.engines.cuda_graph.window_vocoder import graphed
from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import SpeechLM, SpeechTokenRequest
from studio.pipeline import warm_up
from studio.pipeline.warm_up import warm_ups


@pytest.mark.slow
@pytest.mark.parametrize("model", [noise_models.V2, noise_models.V3], ids=lambda folder: folder.name)
def test_plain_stages_run_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = open_checkpoint(model)
    speech_lm = checkpoint.load_speech_lm(Precision.FLOAT32, "cpu")
    flow, vocoder = checkpoint.load_flow(Precision.FLOAT32, "cpu"), checkpoint.load_vocoder(Precision.FLOAT32, "cpu")
    tasks = list(warm_ups(speech_lm, flow, vocoder))
    waited_for: list[torch.Tensor] = []

    def noted(samples: torch.Tensor) -> torch.Tensor:
        waited_for.append(samples)
        return samples

    monkeypatch.setattr(torch.Tensor, "cpu", noted)
    for task in tasks:
        task()
    assert len(tasks) == 2
    assert len(waited_for[-1]) > 0


@pytest.mark.slow
def test_recordings_change_no_later_line() -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    speech_lm = GraphSpeechLM(checkpoint.load_speech_lm(Precision.FLOAT32, "cpu"))
    flow = load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, Precision.FLOAT32, "cpu")
    vocoder = graphed(checkpoint.load_vocoder(Precision.FLOAT32, "cpu"))
    before = _tokens(speech_lm)
    tasks = list(warm_ups(speech_lm, flow, vocoder))
    assert len(tasks) > 10
    for task in tasks:
        task()
    assert _tokens(speech_lm) == before
    assert {capacity // flow._pool._layout.block_frames for capacity, idle in flow._pool._idle.items() if idle} >= {12}


def _tokens(speech_lm: SpeechLM) -> list[int]:
    request = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)), max_tokens=20)
    return list(speech_lm.generate(request, RepetitionAwareSampler(speech_lm.sampling, seed=1)))


def test_model_without_its_language_model_is_warmed_up_without_it() -> None:
    """Conversion does not need it."""
    tasks = warm_ups(None, object(), object())  # type: ignore[arg-type]
    assert [getattr(task, "func", None) for task in tasks] == [warm_up._decode]
