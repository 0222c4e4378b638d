"""Choice of the language model's precision: the comparison, and stored results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import noise_models
import numpy as np
import pytest
import torch

from studio.model import onednn
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind, DeviceTraits
from studio.model.speech_lm import QualityReport, SpeechLMNetwork, TorchSpeechLM
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechTokenRequest
from studio.pipeline import flow_quality, precision_selection
from studio.pipeline.flow_quality import MeasuredSpeech
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.precision_selection import OpenedFlow, open_flow, open_speech_lm
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


class FakeFlows:
    """A checkpoint whose bfloat16 flow differs by ``shift`` in a bin, and whose virtual time passes while it decodes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, shift: float, share: float) -> None:
        self.folder, self.shift, self.share = folder, shift, share
        self.loaded: list[Precision] = []
        self.num_runs = 0
        self.seconds = 0.0
        (folder / "flow.pt").write_bytes(b"weights")
        monkeypatch.setenv("TIMBRE_CACHE", str(folder / "cache"))
        monkeypatch.setattr(onednn, "bfloat16_speedup", lambda: 2.0)
        monkeypatch.setattr(flow_quality, "time", SimpleNamespace(perf_counter=lambda: self.seconds))

    def load_flow(self, precision: Precision, device: str) -> FlowDecoder:
        self.loaded.append(precision)
        is_reduced = precision is Precision.BFLOAT16

        def decode_whole(prompt: FlowPrompt, tokens: tuple[int, ...]) -> torch.Tensor:
            self.num_runs += 1
            self.seconds += 2.0 * (self.share if is_reduced else 1.0)
            mel = torch.zeros(80, 6)
            mel[0] = self.shift if is_reduced else 0.0
            return mel

        return cast("FlowDecoder", SimpleNamespace(precision=precision, device=device, decode_whole=decode_whole))

    def open(self) -> OpenedFlow:
        prompt = FlowPrompt((), np.zeros((0, 80), np.float32), np.zeros(192, np.float32))
        return open_flow(cast("Checkpoint", self), "cpu", lambda _: MeasuredSpeech(prompt, (1, 2, 3)))


@pytest.mark.parametrize(
    ("shift", "share", "precision"),
    [
        (0.1, 0.5, Precision.BFLOAT16),
        (9.0, 0.5, Precision.FLOAT32),  # too far from float32
        (0.1, 0.95, Precision.FLOAT32),  # not faster
        (float("nan"), 0.5, Precision.FLOAT32),
    ],
)
def test_flow_uses_bfloat16_if_it_is_close_and_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shift: float, share: float, precision: Precision
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shift=shift, share=share)
    opened = flows.open()
    assert opened.precision is opened.flow.precision is precision  # type: ignore[attr-defined]
    assert ("refused" in opened.reason) is (precision is Precision.FLOAT32)
    assert flows.loaded == [Precision.FLOAT32, Precision.BFLOAT16]


def test_stored_comparison_of_the_flow_is_used_until_its_weights_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shift=0.1, share=0.25)
    first = flows.open()
    assert "25% of its time" in first.reason
    flows.loaded.clear()
    num_runs = flows.num_runs
    assert flows.open().reason == first.reason
    assert (flows.loaded, flows.num_runs) == ([Precision.BFLOAT16], num_runs)
    (tmp_path / "flow.pt").write_bytes(b"other weights")
    flows.open()
    assert flows.num_runs > num_runs


@pytest.mark.parametrize("speedup", [0.0, 1.0])
def test_flow_stays_float32_without_fast_bfloat16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speedup: float
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shift=0.1, share=0.25)
    monkeypatch.setattr(onednn, "bfloat16_speedup", lambda: speedup)
    opened = flows.open()
    assert (opened.precision, opened.reason, flows.num_runs) == (Precision.FLOAT32, "", 0)
    assert flows.loaded == [Precision.FLOAT32]


@pytest.mark.slow
def test_automatic_flow_of_a_model_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor without fast bfloat16, the flow is float32."""
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    options = EngineOptions(speech_lm_precision="float32", flow_precision="auto", num_threads=1)
    descriptions = []
    for _ in range(2):
        synthesizer = load_synthesizer(noise_models.V3, options)
        descriptions.append(synthesizer.description)
        synthesizer.close()
    assert descriptions[0].notes == descriptions[1].notes
    assert descriptions[0].engines == descriptions[1].engines
    precision = descriptions[0].engines["flow"].removeprefix("torch-")
    assert precision in ("float32", "bfloat16")
    assert descriptions[0].stages["flow"] == f"torch {precision}, 1 thread"
    assert any(note.startswith(f"flow in {precision}") for note in descriptions[0].notes) or precision == "float32"
