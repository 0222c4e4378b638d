"""Qualities: the choice of solver steps by measurement, and requests in each quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

from studio import paths
from studio.model.config import REDUCED_STEPS, Precision
from studio.model.cpu_products import has_fbgemm, multiplies_in
from studio.model.limits import QUALITY_DISTANCE_DB
from studio.model.measurements import Records
from studio.model.mel_distance import mel_distance_db
from studio.model.options import Quality
from studio.model.stages import FlowDecoder, FlowPrompt, Vocoder
from studio.pipeline import comparison, decodings, stage_opener
from studio.pipeline.comparison import MeasuredSpeech
from studio.pipeline.decodings import Decoding, Decodings
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.pacing import CostModel
from studio.pipeline.prompt_cache import PromptCache
from studio.pipeline.request import (
    Cancelled,
    ConversionRequest,
    EngineOptions,
    FlowQuality,
    KnownTokens,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.pipeline.synthesizer import Chunks, Synthesizer
from studio.pipeline.utterance import DecoderStages

TEXT = "The first sentence is short. [pause 0.2] Then, after a while, another one follows it."
SPEECH = MeasuredSpeech(FlowPrompt((1, 2), np.zeros((4, 80), np.float32), np.zeros(192, np.float32)), (3, 4, 5))
_RELEASED_STEPS = 10


class FakeFlow:
    """A flow whose mel moves away from the exact one by ``shift`` for each step that is left out."""

    streams_exactly = False

    def __init__(self, shift: float, num_steps: int = _RELEASED_STEPS, *, has_solvers: bool = True) -> None:
        self.shift, self.num_steps, self.has_solvers = shift, num_steps, has_solvers
        self.runs: list[int] = []

    def with_steps(self, num_steps: int) -> FakeFlow | None:
        if not self.has_solvers or num_steps >= self.num_steps:
            return None
        flow = FakeFlow(self.shift, num_steps)
        flow.runs = self.runs
        return flow

    def decode_whole(self, prompt: FlowPrompt, tokens: tuple[int, ...]) -> torch.Tensor:
        self.runs.append(self.num_steps)
        mel = torch.zeros(80, 2 * len(tokens))
        mel[0] = self.shift * (_RELEASED_STEPS - self.num_steps)
        return mel

    def prompt_key(self) -> str:
        return f"fake {self.shift}"


def choose(flow: FakeFlow, quality: Quality, folder: Path) -> tuple[FakeFlow, FlowQuality]:
    chosen = decodings_of(flow, folder).choose(quality, lambda _exact: [SPEECH], RequestControl())
    return chosen.stages.flow, chosen.quality  # type: ignore[return-value]


def decodings_of(flow: FakeFlow, folder: Path) -> Decodings:
    cache = cast("PromptCache", SimpleNamespace(for_solver=lambda _flow: None))
    stages = DecoderStages(cast("FlowDecoder", flow), cast("Vocoder", None), cast("CostModel", None))
    return Decodings(Decoding(stages, cache), lambda: cast("CostModel", None), 50, Records(folder))


def test_fewest_steps_within_the_limit_are_chosen(tmp_path: Path) -> None:
    for quality in (Quality.FAST, Quality.DRAFT):
        flow, found = choose(FakeFlow(0.4), quality, tmp_path)
        distances = {
            steps: mel_distance_db(
                FakeFlow(0.4).decode_whole(SPEECH.prompt, SPEECH.tokens).numpy(),
                FakeFlow(0.4, steps).decode_whole(SPEECH.prompt, SPEECH.tokens).numpy(),
            )
            for steps in REDUCED_STEPS
        }
        within = [steps for steps, distance in distances.items() if distance <= QUALITY_DISTANCE_DB[quality]]
        assert flow.num_steps == within[0] > REDUCED_STEPS[0]
        assert (found.quality, found.distortion_db) == (quality, distances[within[0]])
        assert found.relative_seconds > 0
    assert QUALITY_DISTANCE_DB[Quality.FAST] == 0.6


def test_half_of_the_solvers_are_excluded_by_each_measurement(tmp_path: Path) -> None:
    """Each of them takes seconds."""
    flow = FakeFlow(0.4)
    chosen, _ = choose(flow, Quality.FAST, tmp_path)
    measured = list(dict.fromkeys(flow.runs))
    assert chosen.num_steps in measured
    assert len(set(measured) - {_RELEASED_STEPS}) <= 3 < len(REDUCED_STEPS)


def test_a_line_that_is_played_does_not_wait_for_the_measurement(tmp_path: Path) -> None:
    flow = FakeFlow(0.1)
    decodings = decodings_of(flow, tmp_path)

    def first() -> Decoding:
        return decodings.choose(Quality.FAST, lambda _exact: [SPEECH], RequestControl(), may_measure=False)

    assert first() is decodings.exact
    assert (flow.runs, decodings.has_postponed) == ([], True)
    interrupted = RequestControl()
    interrupted.cancel()
    with pytest.raises(Cancelled):
        decodings.measure_postponed(lambda _exact: [SPEECH], interrupted)
    assert decodings.has_postponed
    decodings.measure_postponed(lambda _exact: [SPEECH], RequestControl())
    assert not decodings.has_postponed
    assert first().quality.quality is Quality.FAST
    # At the next start, the measurement is known.
    assert choose(FakeFlow(0.1), Quality.FAST, tmp_path)[1] == first().quality


def test_a_flow_with_few_steps_of_its_own_is_not_measured_against_itself(tmp_path: Path) -> None:
    flow = FakeFlow(0.4, REDUCED_STEPS[0])
    chosen, found = choose(flow, Quality.DRAFT, tmp_path)
    assert chosen is flow
    assert found == FlowQuality()
    assert not flow.runs


def test_the_slower_first_run_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    flow = FakeFlow(0.4)
    plain = FakeFlow.decode_whole

    def decode(flow: FakeFlow, prompt: FlowPrompt, tokens: tuple[int, ...]) -> torch.Tensor:
        nonlocal now
        now += flow.num_steps * (2.0 if not flow.runs else 1.0)
        return plain(flow, prompt, tokens)

    monkeypatch.setattr(FakeFlow, "decode_whole", decode)
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now)
    chosen, found = choose(flow, Quality.FAST, tmp_path)
    assert found.relative_seconds == pytest.approx(chosen.num_steps / _RELEASED_STEPS)


def test_flow_without_a_solver_within_the_limit_stays_exact(tmp_path: Path) -> None:
    for flow in (FakeFlow(1e3), FakeFlow(float("nan")), FakeFlow(0.0, has_solvers=False)):
        chosen, found = choose(flow, Quality.DRAFT, tmp_path)
        assert chosen is flow
        assert found == FlowQuality()


def test_measurements_are_stored_for_each_flow(tmp_path: Path) -> None:
    first, again, other = FakeFlow(0.1), FakeFlow(0.1), FakeFlow(0.11)
    measured = choose(first, Quality.DRAFT, tmp_path)[1]
    assert choose(again, Quality.DRAFT, tmp_path)[1] == measured
    assert first.runs
    assert not again.runs
    choose(other, Quality.DRAFT, tmp_path)
    assert other.runs
    for path in tmp_path.glob("*.json"):
        path.write_text("{}", "utf-8")
    damaged = FakeFlow(0.1)
    assert choose(damaged, Quality.DRAFT, tmp_path)[1].distortion_db == measured.distortion_db
    assert damaged.runs


def test_measuring_reports_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    stages: list[str] = []
    control = RequestControl(on_progress=lambda stage, _: stages.append(stage))
    control.cancel()
    with pytest.raises(Cancelled):
        decodings_of(FakeFlow(0.1), tmp_path).choose(Quality.FAST, lambda _exact: [SPEECH], control)
    assert stages == ["quality"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("num_tokens", "num_prompt", "num_spoken"), [(250, 25, 50), (72, 24, 48), (6, 2, 4)])
def test_measured_speech_continues_the_clip(num_tokens: int, num_prompt: int, num_spoken: int) -> None:
    class Frames:
        def frames_of_tokens(self, count: int) -> int:
            return 2 * count

    mel = np.arange(2 * num_tokens, dtype=np.float32)[:, None].repeat(80, 1)
    prompt = FlowPrompt(tuple(range(num_tokens)), mel, np.zeros(192, np.float32))
    found = MeasuredSpeech.of(prompt, Frames())  # type: ignore[arg-type]
    start = num_tokens - num_prompt - num_spoken
    assert found.prompt.speech_tokens == tuple(range(start, start + num_prompt))
    assert found.prompt.mel[:, 0].tolist() == list(range(2 * start, 2 * (start + num_prompt)))
    assert found.tokens == tuple(range(start + num_prompt, num_tokens))


@pytest.fixture(scope="module", params=["cosyvoice1", "cosyvoice2", "cosyvoice3"])
def synthesizer(
    request: pytest.FixtureRequest, reference: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Synthesizer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIMBRE_CACHE", str(tmp_path_factory.mktemp("cache")))
        # The distances of random weights have no meaning.
        patch.setattr(decodings, "QUALITY_DISTANCE_DB", {Quality.FAST: 1e6, Quality.DRAFT: 1e6})
        options = EngineOptions(speech_lm_precision="float32", num_threads=1)
        opened = load_synthesizer(reference / request.param / "checkpoint", options)
        yield opened
        opened.close()


def run(chunks: Chunks) -> tuple[np.ndarray, SynthesisReport]:
    collected = []
    while True:
        try:
            collected.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(collected), end.value


def speak(synthesizer: Synthesizer, request: SynthesisRequest) -> tuple[np.ndarray, SynthesisReport]:
    return run(synthesizer.stream(request, control=RequestControl()))


@pytest.mark.slow
@pytest.mark.parametrize("is_streaming", [True, False])
def test_draft_has_the_tokens_of_the_exact_speech_and_can_be_made_final(
    synthesizer: Synthesizer, reference: Path, monkeypatch: pytest.MonkeyPatch, is_streaming: bool
) -> None:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    request = SynthesisRequest(TEXT, voice, seed=7, is_streaming=is_streaming, is_played=False)
    exact, exact_report = speak(synthesizer, request)
    draft, draft_report = speak(synthesizer, replace(request, quality=Quality.DRAFT))
    assert exact_report.quality == FlowQuality()
    assert draft_report.quality.quality is Quality.DRAFT
    assert draft_report.quality.distortion_db > 0
    assert [part.speech_tokens for part in draft_report.evidence] == [
        part.speech_tokens for part in exact_report.evidence
    ]
    assert draft.shape == exact.shape
    assert not np.allclose(draft, exact, atol=1e-4)

    known = tuple(KnownTokens(part.spoken_text, part.speech_tokens) for part in draft_report.evidence)
    monkeypatch.setattr(type(synthesizer.stages.speech_lm), "generate", None)  # not needed any more
    final, final_report = speak(synthesizer, replace(request, known_tokens=known))
    assert np.array_equal(final, exact)
    assert [part.speech_tokens for part in final_report.evidence] == [part.speech_tokens for part in known]
    again, _ = speak(synthesizer, replace(request, known_tokens=known, quality=Quality.DRAFT))
    assert np.array_equal(again, draft)


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
def test_sentences_that_the_text_no_longer_has_are_spoken_by_the_language_model(
    synthesizer: Synthesizer, reference: Path
) -> None:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    request = SynthesisRequest(TEXT, voice, seed=7)
    exact, report = speak(synthesizer, request)
    known = (KnownTokens("Another sentence.", (1, 2, 3)),)
    other, other_report = speak(synthesizer, replace(request, known_tokens=known))
    assert np.array_equal(other, exact)
    assert [part.speech_tokens for part in other_report.evidence] == [part.speech_tokens for part in report.evidence]
    # Tokens that the model does not have come from a damaged project or a hostile request.
    known = tuple(KnownTokens(part.spoken_text, (1, token)) for part in report.evidence for token in (1 << 62, -1))
    other, _ = speak(synthesizer, replace(request, known_tokens=known))
    assert np.array_equal(other, exact)


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
def test_sentences_after_a_changed_one_keep_their_tokens(synthesizer: Synthesizer, reference: Path) -> None:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    tokens = tuple(range(50, 80))
    known = tuple(KnownTokens(text, tokens) for text in ("A quiet sea.", "A wide land.", "A high sky."))
    request = SynthesisRequest(
        "A rough sea. [pause 0.2] A wide land. [pause 0.2] A high sky.", voice, seed=7, known_tokens=known
    )
    _, report = speak(synthesizer, request)
    assert [part.spoken_text for part in report.evidence] == ["A rough sea.", "A wide land.", "A high sky."]
    assert [part.speech_tokens == tokens for part in report.evidence] == [False, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("synthesizer", ["cosyvoice3"], indirect=True)
def test_the_first_line_of_a_quality_is_exact_if_it_is_played(
    synthesizer: Synthesizer, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    monkeypatch.setattr(synthesizer, "_decodings", synthesizer._new_decodings(synthesizer._prompt_cache))
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    request = SynthesisRequest("A rough sea.", voice, seed=7, quality=Quality.FAST)
    first, report = speak(synthesizer, request)
    assert report.quality == FlowQuality()
    assert synthesizer.has_postponed_qualities
    assert np.array_equal(first, speak(synthesizer, replace(request, quality=Quality.EXACT))[0])
    synthesizer.measure_qualities(RequestControl())
    assert speak(synthesizer, request)[1].quality.quality is Quality.FAST


@pytest.mark.slow
def test_conversion_has_qualities(synthesizer: Synthesizer, reference: Path) -> None:
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", transcript="A short prompt.", name="a")
    request = ConversionRequest(reference / "inputs" / "prompt_a.wav", voice)
    exact, _ = run(synthesizer.convert(request, control=RequestControl()))
    draft, report = run(synthesizer.convert(replace(request, quality=Quality.DRAFT), control=RequestControl()))
    assert report.quality.quality is Quality.DRAFT
    assert draft.shape == exact.shape
    assert not np.allclose(draft, exact, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8])
def test_the_bundled_model_includes_its_comparisons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision
) -> None:
    """If this fails because the model or a comparison has changed: packaging/mini/train.py comparisons."""
    if not multiplies_in(precision) or not has_fbgemm():
        pytest.skip("this processor does not multiply in this precision")
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    monkeypatch.setattr(stage_opener, "compare_with_reference", None)
    monkeypatch.setattr(decodings, "timed_flow", None)
    options = EngineOptions(flow_precision=precision.value, num_threads=1)
    synthesizer = load_synthesizer(paths.resources() / "models" / "studio-mini", options)
    assert synthesizer.description.engines["speech_lm"] == "torch-int8"
    for quality in (Quality.FAST, Quality.DRAFT):
        found = synthesizer._decodings.choose(quality, lambda _exact: [], RequestControl()).quality
        assert found.quality is quality
        assert found.relative_seconds < 1.0
    synthesizer.close()
