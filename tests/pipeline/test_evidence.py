"""Evidence of the bundled model about its sentences, which the checks of takes use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from studio import paths
from studio.model.speech_lm import TorchSpeechLM
from studio.pipeline import alignment
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import (
    EngineOptions,
    RequestControl,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.pipeline.synthesizer import Synthesizer

TEXT = "The harbour was quiet that morning. Dr. Brown said 42."
CACHE: dict[str, Path] = {}


@pytest.fixture(scope="module")
def synthesizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synthesizer]:
    with pytest.MonkeyPatch.context() as patch:
        CACHE["folder"] = tmp_path_factory.mktemp("cache")
        patch.setenv("TIMBRE_CACHE", str(CACHE["folder"]))
        options = EngineOptions(speech_lm_precision="float32", num_threads=1)
        opened = load_synthesizer(paths.resources() / "models" / "studio-mini", options)
        yield opened
        opened.close()


def speak(synthesizer: Synthesizer, **changes: object) -> tuple[np.ndarray, SynthesisReport]:
    clip = paths.resources() / "voices" / "Ada.wav"
    voice = VoiceReference(clip, transcript=clip.with_suffix(".txt").read_text("utf-8").strip())
    request = replace(SynthesisRequest(TEXT, voice, seed=3), **changes)  # type: ignore[arg-type]
    chunks = synthesizer.stream(request, control=RequestControl())
    pieces = []
    while True:
        try:
            pieces.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(pieces), end.value


def only(report: SynthesisReport) -> SentenceEvidence:
    (evidence,) = report.evidence
    return evidence


@pytest.mark.slow
def test_attention_follows_the_text_of_a_take(synthesizer: Synthesizer) -> None:
    _, first = speak(synthesizer)  # by a pass after the take, since the heads are not known yet
    (stored,) = (CACHE["folder"] / "engines").glob("attention-*.json")
    assert len(json.loads(stored.read_text())["heads"]) == 1
    _, second = speak(synthesizer)  # recorded during generation
    for report in (first, second):
        evidence = only(report)
        assert evidence.spoken_text == "The harbour was quiet that morning. doctor Brown said forty two."
        assert "".join(evidence.text_pieces) == evidence.spoken_text
        assert len(evidence.text_position) == len(evidence.speech_tokens) == report.num_speech_tokens
        assert len(evidence.text_coverage) == len(evidence.text_pieces)
        correlation = np.corrcoef(evidence.text_position, range(len(evidence.text_position)))[0, 1]
        assert correlation > 0.98
        assert min(evidence.text_coverage) > 0.5
        assert not evidence.stopped_by_limit
    np.testing.assert_allclose(only(first).text_position, only(second).text_position, atol=0.02)


@pytest.mark.slow
def test_audio_is_the_same_with_and_without_alignment(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(synthesizer, text="Yes.")  # the heads are known now
    traced, report = speak(synthesizer, text="One two three.")
    assert only(report).text_position
    monkeypatch.setattr(alignment.AlignmentReader, "new_trace", lambda self: None)
    monkeypatch.setattr(alignment.AlignmentReader, "attention", lambda *arguments: None)
    plain, report = speak(synthesizer, text="One two three.")
    assert only(report).text_position == ()
    np.testing.assert_array_equal(traced, plain)


@pytest.mark.slow
def test_times_of_tokens_are_times_in_the_audio(synthesizer: Synthesizer) -> None:
    """Also after a pause, at another speed, and with trimmed leading silence."""
    audio, report = speak(synthesizer, text="Yes. [pause 0.5] No, thank you.", speed=1.25, trims_leading_silence=True)
    first, second = report.evidence
    assert (first.spoken_text, second.spoken_text) == ("Yes.", "No, thank you.")
    assert second.to_seconds == pytest.approx(len(audio) / report.sample_rate)
    assert second.from_seconds == pytest.approx(first.to_seconds + 0.5)
    for evidence in report.evidence:
        assert evidence.token_seconds == pytest.approx(0.04 / 1.25)
        assert evidence.seconds_of_token(len(evidence.speech_tokens)) == evidence.to_seconds
    assert second.seconds_of_token(0) == pytest.approx(second.from_seconds, abs=0.02)
    assert first.seconds_of_token(0) < 0.05


@pytest.mark.slow
def test_limits_and_second_draws_are_reported(synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch) -> None:
    _, report = speak(synthesizer, text="One two three.")
    assert only(report).num_second_draws < len(only(report).speech_tokens) / 4

    def endless(self: TorchSpeechLM, request: object, sampler: object) -> Iterator[int]:
        while True:
            yield 5

    monkeypatch.setattr(TorchSpeechLM, "generate", endless)
    _, report = speak(synthesizer, text="One two three.")
    assert only(report).stopped_by_limit


@pytest.mark.slow
def test_benchmarks_collect_no_evidence(synthesizer: Synthesizer) -> None:
    _, report = speak(synthesizer, text="One two three.", forced_tokens=10)
    assert report.evidence == ()


@pytest.mark.slow
def test_a_model_without_such_heads_gives_the_rest(synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "choose_alignment_heads", lambda *arguments: ())
    monkeypatch.setattr(alignment, "_CHOICE_VERSION", -1)
    monkeypatch.setattr(synthesizer.stages.alignment, "_heads", None)
    _, report = speak(synthesizer, text="One two three.")
    evidence = only(report)
    assert evidence.text_position == ()
    assert evidence.text_coverage == ()
    assert "".join(evidence.text_pieces) == "One two three."
    assert evidence.speech_tokens
    # The decision is stored too.
    (stored,) = [path for path in (CACHE["folder"] / "engines").glob("attention-*.json") if "[]" in path.read_text()]
    assert json.loads(stored.read_text()) == {"heads": []}
