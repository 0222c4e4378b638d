"""Speculative language models are verified like others, and speak the same tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import noise_models
import pytest
from speech_lm_cases import LINE

from studio.engines.candidate import Available, EngineTarget, Unusable
from studio.engines.machine import processor
from studio.engines.speculative_candidates import CANDIDATES
from studio.engines.torch_candidates import TorchCandidate
from studio.model.checkpoint import open_checkpoint
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm import CachedSpeechLM, RepetitionAwareSampler
from studio.model.stages import SpeculationCount


@pytest.mark.slow
@pytest.mark.parametrize("model", [noise_models.V1, noise_models.V2, noise_models.V3], ids=lambda path: path.name)
def test_opened_engines_speak_the_tokens_of_plain_ones(model: Path) -> None:
    target = EngineTarget(open_checkpoint(model), processor(1))
    speculative = CANDIDATES[0]
    assert isinstance(speculative.probe(target), Available)
    opened = speculative.open(None, target)
    plain = TorchCandidate(speculative.stage, speculative.precision).open(None, target)
    assert isinstance(opened, CachedSpeechLM)
    assert isinstance(plain, CachedSpeechLM)
    assert opened.engine == f"{plain.engine}, speculative"
    for seed in range(3):
        count = SpeculationCount()
        request = replace(LINE, speculation=count)
        found = list(opened.generate(request, RepetitionAwareSampler(opened.sampling, seed)))
        assert found == list(plain.generate(LINE, RepetitionAwareSampler(plain.sampling, seed)))
        assert count.num_steps > 0


def test_not_offered_on_a_gpu() -> None:
    target = EngineTarget(open_checkpoint(noise_models.V3), replace(processor(1), kind=DeviceKind.CUDA))
    assert all(isinstance(candidate.probe(target), Unusable) for candidate in CANDIDATES)
