"""Choice of the language model's precision: the comparison, and stored results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
    """A checkpoint whose reduced flows differ by ``shifts`` in a bin, and whose virtual time passes while one decodes."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        shifts: Mapping[Precision, float],
        shares: Mapping[Precision, float],
    ) -> None:
        self.folder, self.shifts, self.shares = folder, shifts, shares
        self.loaded: list[Precision] = []
        self.num_runs = 0
        self.seconds = 0.0
        (folder / "flow.pt").write_bytes(b"weights")
        monkeypatch.setenv("TIMBRE_CACHE", str(folder / "cache"))
        monkeypatch.setattr(onednn, "speedup", lambda precision: 2.0 if precision in shares else 1.0)
        monkeypatch.setattr(flow_quality, "time", SimpleNamespace(perf_counter=lambda: self.seconds))

    def load_flow(self, precision: Precision, device: str) -> FlowDecoder:
        self.loaded.append(precision)

        def decode_whole(prompt: FlowPrompt, tokens: tuple[int, ...]) -> torch.Tensor:
            self.num_runs += 1
            self.seconds += 2.0 * self.shares.get(precision, 1.0)
            mel = torch.zeros(80, 6)
            mel[0] = self.shifts.get(precision, 0.0)
            return mel

        return cast("FlowDecoder", SimpleNamespace(precision=precision, device=device, decode_whole=decode_whole))

    def open(self) -> OpenedFlow:
        prompt = FlowPrompt((), np.zeros((0, 80), np.float32), np.zeros(192, np.float32))
        return open_flow(cast("Checkpoint", self), "cpu", lambda _: MeasuredSpeech(prompt, (1, 2, 3)))


@pytest.mark.parametrize("reduced", [Precision.BFLOAT16, Precision.INT8])
@pytest.mark.parametrize(
    ("shift", "share", "is_used"),
    [
        (0.1, 0.5, True),
        (9.0, 0.5, False),  # too far from float32
        (0.1, 0.95, False),  # not faster
        (float("nan"), 0.5, False),
    ],
)
def test_flow_uses_a_reduced_precision_if_it_is_close_and_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reduced: Precision, shift: float, share: float, is_used: bool
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={reduced: shift}, shares={reduced: share})
    opened = flows.open()
    assert opened.precision is opened.flow.precision is (reduced if is_used else Precision.FLOAT32)  # type: ignore[attr-defined]
    assert ("refused" in opened.reason) is not is_used
    assert flows.loaded == [Precision.FLOAT32, reduced, *([reduced] if is_used else [])]


@pytest.mark.parametrize(
    ("shares", "chosen"),
    [((0.3, 0.6), Precision.BFLOAT16), ((0.6, 0.3), Precision.INT8), ((0.2, 0.95), Precision.BFLOAT16)],
)
def test_flow_uses_the_faster_of_two_precisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: tuple[float, float], chosen: Precision
) -> None:
    both = (Precision.BFLOAT16, Precision.INT8)
    flows = FakeFlows(
        tmp_path, monkeypatch, shifts=dict.fromkeys(both, 0.1), shares=dict(zip(both, shares, strict=True))
    )
    opened = flows.open()
    assert opened.precision is chosen
    assert opened.reason.startswith(f"flow in {chosen.value}: ")
    assert ("refused" in opened.reason) is (max(shares) > 0.9)
    assert ("is slower" in opened.reason) is (max(shares) < 0.9)


def test_stored_comparison_of_the_flow_is_used_until_its_weights_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={Precision.BFLOAT16: 0.1}, shares={Precision.BFLOAT16: 0.25})
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
def test_flow_stays_float32_without_fast_reduced_precisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speedup: float
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={}, shares={})
    monkeypatch.setattr(onednn, "speedup", lambda _precision: speedup)
    opened = flows.open()
    assert (opened.precision, opened.reason, flows.num_runs) == (Precision.FLOAT32, "", 0)
    assert flows.loaded == [Precision.FLOAT32]


@pytest.mark.slow
def test_automatic_flow_of_a_model_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor without fast reduced precisions, the flow is float32."""
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
    assert precision in ("float32", "bfloat16", "int8")
    assert descriptions[0].stages["flow"] == f"torch {precision}, 1 thread"
    assert any(note.startswith(f"flow in {precision}") for note in descriptions[0].notes) or precision == "float32"
