"""Choice of the language model's precision: the comparison, and stored results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import noise_models
import pytest

from studio.model.checkpoint import open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind, DeviceTraits
from studio.model.speech_lm import QualityReport, SpeechLMNetwork, TorchSpeechLM
from studio.model.stages import SpeechTokenRequest
from studio.pipeline import precision_selection
from studio.pipeline.precision_selection import open_speech_lm
from studio.pipeline.request import EngineOptions

GOOD = QualityReport(128, 0.005, 1e-4, 0.98, 2e-3)


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[SpeechTokenRequest]]:
    """Record the requests of each comparison; the first precision passes."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    comparisons: list[Sequence[SpeechTokenRequest]] = []

    def compare(
        speech_lm: TorchSpeechLM, network: SpeechLMNetwork, *, requests: Sequence[SpeechTokenRequest]
    ) -> QualityReport:
        comparisons.append(requests)
        return GOOD

    monkeypatch.setattr(precision_selection, "compare_with_reference", compare)
    monkeypatch.setattr(DeviceKind, "traits", DeviceTraits(0, 0.4, (Precision.BFLOAT16,)))
    return comparisons


def test_precisions_are_compared_on_sentences_after_bundled_clips(
    compared: list[Sequence[SpeechTokenRequest]],
) -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    reason = open_speech_lm(checkpoint, EngineOptions()).reason
    (requests,) = compared
    tokenizer = checkpoint.load_text_tokenizer()
    texts = [tokenizer.decode(request.text_tokens) for request in requests]
    assert any("train" in text for text in texts)
    assert any("公园" in text for text in texts)
    assert all(len(request.prompt_speech_tokens) > 50 for request in requests)
    assert "worst step 2.0e-03" in reason
    assert "same most likely token in 98% of 128 steps" in reason


@pytest.mark.slow
def test_a_stored_report_is_used_unless_its_format_differs(
    compared: list[Sequence[SpeechTokenRequest]], tmp_path: Path
) -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    first = open_speech_lm(checkpoint, EngineOptions())
    assert open_speech_lm(checkpoint, EngineOptions()).reason == first.reason
    assert len(compared) == 1
    (kept,) = (tmp_path / "engines").glob("*.json")
    verdict = json.loads(kept.read_text("utf-8"))
    del verdict["worst_divergence_nats"]
    kept.write_text(json.dumps(verdict), "utf-8")
    assert open_speech_lm(checkpoint, EngineOptions()).reason == first.reason
    assert len(compared) == 2
    assert "worst_divergence_nats" in json.loads(kept.read_text("utf-8"))
