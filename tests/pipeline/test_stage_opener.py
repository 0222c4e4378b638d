"""Choice of the precision of each stage: comparisons with float32, and their records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import noise_models
import numpy as np
import pytest
import torch

from studio.model import cpu_products
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision, PromptMelConfig
from studio.model.device_kind import DeviceKind, DeviceTraits
from studio.model.speech_lm import CachedSpeechLM, QualityReport, SpeechLMNetwork, TorchSpeechLM
from studio.model.stages import FlowDecoder, FlowPrompt, SpeechTokenRequest, Vocoder
from studio.pipeline import comparison, loading, stage_opener
from studio.pipeline.enrolment import Frontend
from studio.pipeline.loading import compare_precisions, load_synthesizer
from studio.pipeline.request import Cancelled, EngineOptions, RequestControl, VoicePrompt
from studio.pipeline.stage_opener import Opened, StageOpener

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

    monkeypatch.setattr(stage_opener, "compare_with_reference", compare)
    monkeypatch.setattr(DeviceKind, "traits", DeviceTraits(0, 0.4, (Precision.BFLOAT16,)))
    return comparisons


def open_speech_lm(
    checkpoint: Checkpoint, control: RequestControl | None = None, *, may_compare: bool = True, is_small: bool = False
) -> Opened[CachedSpeechLM[Any]]:
    return StageOpener(
        checkpoint, EngineOptions(), no_frontend, control, may_compare=may_compare, is_small=is_small
    ).speech_lm()


def no_frontend() -> Frontend:
    raise AssertionError("not needed")


def test_precisions_are_compared_on_sentences_after_bundled_clips(
    compared: list[Sequence[SpeechTokenRequest]],
) -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    opened = open_speech_lm(checkpoint)
    reason, verification = opened.reason, opened.verification
    (requests,) = compared
    tokenizer = checkpoint.load_text_tokenizer()
    texts = [tokenizer.decode(request.text_tokens) for request in requests]
    assert any("train" in text for text in texts)
    assert any("公园" in text for text in texts)
    assert all(len(request.prompt_speech_tokens) > 50 for request in requests)
    assert verification is not None
    assert verification.agreement == 0.98
    assert "worst step 2.0e-03" in reason
    assert "same most likely token in 98% of 128 steps" in reason


@pytest.mark.slow
def test_a_stored_report_is_used_unless_its_format_differs(
    compared: list[Sequence[SpeechTokenRequest]], tmp_path: Path
) -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    first = open_speech_lm(checkpoint)
    again = open_speech_lm(checkpoint)
    assert (again.reason, again.verification) == (first.reason, first.verification)
    assert len(compared) == 1
    (kept,) = (tmp_path / "engines" / "measured").glob("*.json")
    verdict = json.loads(kept.read_text("utf-8"))
    del verdict["verification"]["worst_divergence_nats"]
    kept.write_text(json.dumps(verdict), "utf-8")
    assert open_speech_lm(checkpoint).reason == first.reason
    assert len(compared) == 2
    assert "worst_divergence_nats" in json.loads(kept.read_text("utf-8"))["verification"]


PROMPT = VoicePrompt(
    key="",
    name="",
    transcript=None,
    clip_seconds=2.4,
    speech_tokens=tuple(range(60)),
    mel=np.zeros((120, 80), np.float32),
    embedding=np.zeros(192, np.float32),
)


def opener(
    fake: object, control: RequestControl | None = None, *, may_compare: bool = True, is_small: bool = False
) -> StageOpener:
    options = EngineOptions(flow_precision="auto")
    frontend = lambda: cast("Frontend", None)  # noqa: E731
    return StageOpener(cast("Checkpoint", fake), options, frontend, control, may_compare=may_compare, is_small=is_small)


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
        self.weights_key = lambda _variant: "weights"
        self.generation = SimpleNamespace(frame_rate=50)
        self.loaded: list[Precision] = []
        self.discarded: set[Precision] = set()
        self.num_runs = 0
        self.seconds = 0.0
        self.seconds_of_run = 2.0
        self.flow_path = folder / "flow.pt"
        self.flow_path.write_bytes(b"weights")
        monkeypatch.setenv("TIMBRE_CACHE", str(folder / "cache"))
        monkeypatch.setattr(cpu_products, "speedup", lambda precision: 2.0 if precision in shares else 1.0)
        monkeypatch.setattr(comparison, "time", SimpleNamespace(perf_counter=lambda: self.seconds))
        monkeypatch.setattr(stage_opener, "time", SimpleNamespace(monotonic=lambda: self.seconds))
        monkeypatch.setattr(stage_opener, "build_prompt", lambda *_: PROMPT)

    def load_flow(self, precision: Precision, device: str) -> FlowDecoder:
        self.loaded.append(precision)

        def decode_whole(prompt: FlowPrompt, tokens: tuple[int, ...]) -> torch.Tensor:
            self.num_runs += 1
            self.seconds += self.seconds_of_run * self.shares.get(precision, 1.0)
            mel = torch.zeros(80, 6)
            mel[0] = self.shifts.get(precision, 0.0)
            return mel

        fake = SimpleNamespace(
            precision=precision,
            device=device,
            decode_whole=decode_whole,
            frames_of_tokens=lambda count: 2 * count,
            streams_exactly=False,
        )
        return cast("FlowDecoder", fake)

    def discard_flow(self, precision: Precision) -> None:
        self.discarded.add(precision)

    def open(
        self, control: RequestControl | None = None, *, may_compare: bool = True, is_small: bool = False
    ) -> Opened[FlowDecoder]:
        return opener(self, control, may_compare=may_compare, is_small=is_small).flow()


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
    assert opened.precision is opened.network.precision is (reduced if is_used else Precision.FLOAT32)  # type: ignore[attr-defined]
    assert ("refused" in opened.reason) is not is_used
    assert flows.loaded == [Precision.FLOAT32, reduced]
    assert flows.discarded == {Precision.FLOAT32 if is_used else reduced}


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


def test_the_flow_is_compared_later_if_that_is_not_permitted_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={Precision.BFLOAT16: 0.1}, shares={Precision.BFLOAT16: 0.25})
    first = flows.open(may_compare=False)
    assert (first.precision, first.is_provisional, flows.num_runs) == (Precision.BFLOAT16, True, 0), "as it will be"
    small = flows.open(may_compare=False, is_small=True)
    assert (small.precision, small.is_provisional, flows.num_runs) == (Precision.FLOAT32, True, 0)
    assert "compared later" in first.reason
    assert "compared later" in small.reason
    stages: list[str] = []
    flows.open(RequestControl(on_progress=lambda stage, _share: stages.append(stage)))
    assert stages == ["precision"]
    later = flows.open(may_compare=False)
    assert (later.precision, later.is_provisional) == (Precision.BFLOAT16, False)


def test_comparisons_that_take_long_are_continued_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first start is bounded, although each run of the slow model takes 30 seconds in float32."""
    both = (Precision.BFLOAT16, Precision.INT8)
    flows = FakeFlows(
        tmp_path, monkeypatch, shifts=dict.fromkeys(both, 0.1), shares=dict(zip(both, (0.6, 0.3), strict=True))
    )
    flows.seconds_of_run = 30.0
    shares: list[float] = []
    first = flows.open(RequestControl(on_progress=lambda _stage, share: shares.append(share)))
    assert (first.precision, first.is_provisional) == (Precision.BFLOAT16, False)
    assert flows.seconds < stage_opener.MAX_COMPARISON_SECONDS + 30.0
    second = flows.open()
    assert second.precision is Precision.INT8
    before = flows.seconds
    assert flows.open().reason == second.reason
    assert flows.seconds == before
    assert shares == [0.0]


def test_the_comparison_of_the_flow_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={}, shares={Precision.BFLOAT16: 0.25})
    control = RequestControl()
    control.cancel()
    with pytest.raises(Cancelled):
        flows.open(control)
    assert flows.num_runs == 0
    assert flows.open(may_compare=False).is_provisional


def test_the_language_model_is_compared_later_if_that_is_not_permitted_now(
    compared: list[Sequence[SpeechTokenRequest]],
) -> None:
    checkpoint = open_checkpoint(noise_models.V3)
    first = open_speech_lm(checkpoint, may_compare=False)
    assert (first.precision, first.is_provisional, compared) == (Precision.BFLOAT16, True, [])
    small = open_speech_lm(checkpoint, may_compare=False, is_small=True)
    assert (small.precision, small.is_provisional, compared) == (Precision.FLOAT32, True, [])
    assert "compared later" in first.reason
    assert "compared later" in small.reason
    stages: list[str] = []
    open_speech_lm(checkpoint, RequestControl(on_progress=lambda stage, _share: stages.append(stage)))
    assert stages == ["precision"]
    later = open_speech_lm(checkpoint, may_compare=False)
    assert (later.precision, later.is_provisional) == (Precision.BFLOAT16, False)


class FakeVocoders:
    """A checkpoint whose vocoder in bfloat16 adds ``noise``, and takes ``share`` of the virtual time of float32."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, noise: float, share: float) -> None:
        self.folder, self.share, self.noise = folder, share, noise
        self.weights_key = lambda _variant: "weights"
        self.loaded: list[Precision] = []
        self.num_runs = 0
        self.seconds = 0.0
        self.vocoder = SimpleNamespace(sample_rate=24_000)
        self.generation = SimpleNamespace(frame_rate=50)
        self.prompt_mel = PromptMelConfig(24_000)
        self.vocoder_path = folder / "hift.pt"
        self.vocoder_path.write_bytes(b"weights")
        monkeypatch.setenv("TIMBRE_CACHE", str(folder / "cache"))
        monkeypatch.setattr(cpu_products, "speedup", lambda precision: 2.0 if precision is Precision.BFLOAT16 else 1.0)
        monkeypatch.setattr(comparison, "time", SimpleNamespace(perf_counter=lambda: self.seconds))
        monkeypatch.setattr(stage_opener, "build_prompt", lambda *_: PROMPT)

    def load_vocoder(self, precision: Precision, device: str) -> Vocoder:
        self.loaded.append(precision)

        def synthesize_whole(mel: torch.Tensor, noise: object) -> torch.Tensor:
            self.num_runs += 1
            is_exact = precision is Precision.FLOAT32
            self.seconds += 1.0 if is_exact else self.share
            generator = torch.Generator().manual_seed(0)
            samples = torch.randn(480 * mel.shape[1], generator=generator)
            return samples if is_exact else samples + self.noise * torch.randn(len(samples), generator=generator)

        fake = SimpleNamespace(precision=precision, synthesize_whole=synthesize_whole, noise=lambda seed: seed)
        return cast("Vocoder", fake)

    def open(self, *, may_compare: bool = True) -> Opened[Vocoder]:
        return opener(self, may_compare=may_compare).vocoder()


@pytest.mark.parametrize(
    ("noise", "share", "is_used"),
    [(1e-3, 0.6, True), (1.0, 0.6, False), (1e-3, 0.95, False), (float("nan"), 0.6, False)],
)
def test_vocoder_uses_bfloat16_if_it_is_close_and_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: float, share: float, is_used: bool
) -> None:
    vocoders = FakeVocoders(tmp_path, monkeypatch, noise=noise, share=share)
    provisional = vocoders.open(may_compare=False)
    assert (provisional.precision, provisional.is_provisional, vocoders.num_runs) == (Precision.BFLOAT16, True, 0)
    opened = vocoders.open()
    assert opened.precision is opened.network.precision is (Precision.BFLOAT16 if is_used else Precision.FLOAT32)  # type: ignore[attr-defined]
    assert ("refused" in opened.reason) is not is_used
    assert opened.reason.startswith(f"vocoder in {opened.precision.value}")
    if noise == noise:
        num_runs = vocoders.num_runs
        assert vocoders.open().reason == opened.reason
        assert vocoders.num_runs == num_runs


def test_vocoder_stays_float32_on_a_processor_that_is_not_faster_in_bfloat16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocoders = FakeVocoders(tmp_path, monkeypatch, noise=0.0, share=0.5)
    monkeypatch.setattr(cpu_products, "speedup", lambda _precision: 1.0)
    opened = vocoders.open()
    assert (opened.precision, opened.reason, vocoders.num_runs) == (Precision.FLOAT32, "", 0)


@pytest.mark.parametrize("speedup", [0.0, 1.0])
def test_flow_stays_float32_without_fast_reduced_precisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speedup: float
) -> None:
    flows = FakeFlows(tmp_path, monkeypatch, shifts={}, shares={})
    monkeypatch.setattr(cpu_products, "speedup", lambda _precision: speedup)
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
    where = f"{torch.backends.cpu.get_cpu_capability()}, 1 thread"
    assert descriptions[0].stages["flow"] == f"torch {precision}, {where}"
    assert any(note.startswith(f"flow in {precision}") for note in descriptions[0].notes) or precision == "float32"
    vocoder = descriptions[0].engines["vocoder"].removeprefix("torch-")
    assert descriptions[0].stages["vocoder"] == f"torch {vocoder}, {where}"


@pytest.mark.slow
def test_a_large_model_speaks_first_in_the_fastest_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    monkeypatch.setattr(loading, "_SMALL_MODEL_BYTES", 0)
    monkeypatch.setattr(cpu_products, "speedup", lambda precision: 2.0 if precision is Precision.INT8 else 1.0)
    options = EngineOptions(flow_precision="auto", num_threads=1, compares_later=True)
    synthesizer = load_synthesizer(noise_models.V3, options)
    assert synthesizer.description.is_provisional
    names = synthesizer.description.engines
    assert names == {"speech_lm": "torch-int8", "flow": "torch-int8", "vocoder": "torch-float32"}
    assert not list((tmp_path / "engines").glob("*"))
    synthesizer.close()


@pytest.mark.slow
def test_a_small_model_speaks_first_and_is_compared_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    options = EngineOptions(flow_precision="auto", num_threads=1, compares_later=True)
    synthesizer = load_synthesizer(noise_models.V3, options)
    assert synthesizer.stages.is_provisional
    assert set(synthesizer.description.engines.values()) == {"torch-float32"}
    synthesizer.close()
    assert not list((tmp_path / "engines").glob("*"))
    compare_precisions(noise_models.V3, options, RequestControl())
    compared = load_synthesizer(noise_models.V3, options)
    assert not compared.stages.is_provisional
    compared.close()
    at_once = load_synthesizer(noise_models.V3, replace(options, compares_later=False))
    assert at_once.description.notes == compared.description.notes
    at_once.close()
