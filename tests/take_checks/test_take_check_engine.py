from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_recognizers import SENSE_VOICE_HZ, spoken, write_sense_voice

from studio.pipeline.request import SentenceEvidence
from studio.take_checks.engine import TakeCheckEngine
from studio.take_checks.recognizers.choice import EMBEDDED, AvailableRecognizer
from studio.take_checks.records import DifferenceKind, Verdict
from studio.take_checks.requests import CheckRequest, TranscriptRequest


@pytest.fixture
def sense_voice(tmp_path: Path) -> AvailableRecognizer:
    folder = write_sense_voice(tmp_path / "SenseVoiceSmall")
    return AvailableRecognizer("SenseVoiceSmall", frozenset({"zh", "en"}), folder)


def checker(*recognizers: AvailableRecognizer) -> TakeCheckEngine:
    return TakeCheckEngine(lambda: recognizers)


def request(text: str, tokens: list[int], **changes: object) -> CheckRequest:
    return CheckRequest(spoken(tokens, SENSE_VOICE_HZ), 16_000, text, **changes)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_take_is_compared_with_its_text(sense_voice: AvailableRecognizer) -> None:
    check = checker(sense_voice).check(request("你好！", [5, 6]))
    assert check.error_code == ""
    assert check.recognizer == "SenseVoiceSmall"
    assert check.word_error_rate == 0.0
    assert [word.text for word in check.words] == ["你", "好"]
    wrong = checker(sense_voice).check(request("你好！", [5, 4]))
    assert wrong.word_error_rate is not None
    assert wrong.word_error_rate > 0.4
    assert wrong.verdict is not Verdict.GOOD


@pytest.mark.slow
def test_a_missing_recogniser_is_reported_each_time(sense_voice: AvailableRecognizer) -> None:
    checks = checker(sense_voice)
    for _ in range(2):
        assert checks.check(request("你好", [5, 6], recognizer="Other")).error_code == "recognizer-not-found"
        assert checks.check(request("Привет", [5], language="ru")).error_code == "recognizer-not-found"
        assert checks.check(request("你好", [5, 6])).error_code == ""


@pytest.mark.slow
def test_a_damaged_recogniser_is_reported_each_time_and_can_be_repaired(sense_voice: AvailableRecognizer) -> None:
    assert sense_voice.folder is not None
    network = sense_voice.folder / "model.int8.onnx"
    content = network.read_bytes()
    network.write_bytes(content[:1000])
    checks = checker(sense_voice)
    for _ in range(2):
        check = checks.check(request("你好", [5, 6]))
        assert (check.verdict, check.error_code) != (Verdict.GOOD, "")
        assert check.error_code == "damaged-model-file"
        assert check.verdict is not Verdict.GOOD
    network.write_bytes(content)
    assert checks.check(request("你好", [5, 6])).error_code == ""


@pytest.mark.slow
def test_a_recogniser_without_memory_is_reported_each_time(
    sense_voice: AvailableRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    checks = checker(sense_voice)
    with monkeypatch.context() as exhausted:
        exhausted.setattr("studio.take_checks.recognizers.sense_voice.SenseVoice.recognize", fail)
        for _ in range(2):
            assert checks.check(request("你好", [5, 6])).error_code == "out-of-memory"
    assert checks.check(request("你好", [5, 6])).error_code == ""


def test_without_a_recogniser_for_the_language_the_evidence_decides(sense_voice: AvailableRecognizer) -> None:
    evidence = (SentenceEvidence("Привет", 0.0, 1.0),)
    check = checker(sense_voice).check(request("Привет", [5], language="ru", evidence=evidence))
    assert check.error_code == ""
    assert checker(sense_voice).check(request("你好", [5, 6], recognizer="off")).verdict is not Verdict.GOOD


@pytest.mark.slow
def test_a_failing_comparison_of_voices_leaves_the_verdict_on_the_words(
    sense_voice: AvailableRecognizer, tmp_path: Path
) -> None:
    plain = checker(sense_voice).check(request("你好", [5, 6]))
    missing = {"prompt_clip": tmp_path / "clip.wav", "model_folder": tmp_path / "none"}
    check = checker(sense_voice).check(request("你好", [5, 6], **missing))
    assert check.error_code
    assert check.verdict is plain.verdict


@pytest.mark.slow
def test_the_recogniser_stays_loaded_between_takes(sense_voice: AvailableRecognizer) -> None:
    checks = checker(sense_voice)
    checks.check(request("你好", [5, 6]))
    assert sense_voice.folder is not None
    (sense_voice.folder / "model.int8.onnx").unlink()
    assert checks.check(request("你好", [5, 6])).error_code == ""


@pytest.mark.slow
def test_samples_that_are_not_finite_do_no_harm(sense_voice: AvailableRecognizer) -> None:
    broken = np.full(16_000, np.nan, np.float32)
    assert checker(sense_voice).check(CheckRequest(broken, 16_000, "你好")).verdict is not Verdict.GOOD


def test_a_recording_is_transcribed_and_compared_with_its_typed_transcript(sense_voice: AvailableRecognizer) -> None:
    samples = spoken([5, 6, 3], SENSE_VOICE_HZ)
    transcript = checker(sense_voice).transcribe(TranscriptRequest(samples, 16_000, "你好 no", "zh"))
    assert transcript.text == "你好 yes"
    assert [word.text for word in transcript.words] == ["你", "好", "yes"]
    assert [(each.kind, each.typed, each.heard) for each in transcript.differences] == [
        (DifferenceKind.OTHER, "no", "yes")
    ]
    assert checker(sense_voice).transcribe(TranscriptRequest(samples, 16_000, "你好 yes", "zh")).differences == ()


def test_the_embedded_recogniser_is_for_english() -> None:
    assert EMBEDDED.languages == {"en"}
