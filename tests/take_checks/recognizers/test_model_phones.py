"""The recogniser of the bundled model on the bundled voices: clean recordings, and the same with planted faults."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from recognized_clips import clip, findings

from studio import paths
from studio.errors import DamagedModelFile, RecognizerNotFound, UnrecognizedVoice
from studio.pipeline.request import SentenceEvidence
from studio.take_checks.engine import TakeCheckEngine
from studio.take_checks.findings import TextFindings
from studio.take_checks.recognizers.choice import MODEL, MODEL_RECOGNIZER_FILE, recognizer_of_model
from studio.take_checks.recognizers.model_phones import ModelPhones
from studio.take_checks.recognizers.opening import open_recognizer
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, Samples
from studio.take_checks.records import ProblemKind, Verdict
from studio.take_checks.requests import CheckRequest
from studio.take_checks.units import spoken_units

MODEL_FOLDER = paths.resources() / "models" / "studio-mini"
VOICES = ["Ada", "Angus", "Miles", "Linda", "Max"]


@cache
def recognizer() -> ModelPhones:
    return ModelPhones(MODEL, MODEL_FOLDER)


def checked(samples: Samples, text: str) -> TextFindings:
    return findings(recognizer(), samples, text)


def certain(found: TextFindings) -> set[ProblemKind]:
    return {problem.kind for problem in found.problems if problem.confidence > 0.5}


def longest_word(samples: Samples, text: str) -> tuple[int, int, str]:
    words = checked(samples, text).words
    word = max(words[1:-1], key=lambda each: each.to_seconds - each.from_seconds)
    return round(word.from_seconds * SAMPLE_RATE), round(word.to_seconds * SAMPLE_RATE), word.text


@pytest.mark.parametrize("name", VOICES)
def test_the_bundled_clips_contain_their_transcripts(name: str) -> None:
    samples, text = clip(name)
    found = checked(samples, text)
    assert certain(found) == set()
    starts = [word.from_seconds for word in found.words]
    assert starts == sorted(starts)
    assert len(found.words) == len(text.split())


@pytest.mark.parametrize("name", VOICES)
def test_a_removed_word_is_found_at_its_place(name: str) -> None:
    samples, text = clip(name)
    start, end, word = longest_word(samples, text)
    found = checked(np.concatenate([samples[:start], samples[end:]]), text)
    problem = max(found.problems, key=lambda each: each.confidence)
    assert problem.confidence > 0.9
    assert word in problem.text
    assert abs((problem.from_seconds + problem.to_seconds) / 2 - start / SAMPLE_RATE) < 0.3


@pytest.mark.parametrize("name", VOICES)
def test_a_repeated_word_is_found(name: str) -> None:
    samples, text = clip(name)
    start, end, word = longest_word(samples, text)
    found = checked(np.concatenate([samples[:end], samples[start:]]), text)
    problem = max(found.problems, key=lambda each: each.confidence)
    assert problem.kind is ProblemKind.REPEATED_WORDS
    assert word in problem.text
    assert problem.confidence > 0.9


@pytest.mark.parametrize("name", VOICES)
def test_cut_ends_and_other_speech_are_found(name: str) -> None:
    samples, text = clip(name)
    words = checked(samples, text).words
    start = round((words[0].from_seconds + words[0].to_seconds) / 2 * SAMPLE_RATE)
    end = round((words[-1].from_seconds + words[-1].to_seconds) / 2 * SAMPLE_RATE)
    assert ProblemKind.CUT_END in {problem.kind for problem in checked(samples[:end], text).problems}
    babble = np.concatenate([samples, samples[start:end][: SAMPLE_RATE // 2]])
    assert certain(checked(babble, text)) & {ProblemKind.EXTRA_SPEECH, ProblemKind.REPEATED_WORDS}


def test_another_sentence_is_found() -> None:
    (samples, _), (_, text) = clip("Ada"), clip("Angus")
    found = checked(samples, text)
    assert max(problem.confidence for problem in found.problems) > 0.95
    assert found.word_error_rate is not None
    assert found.word_error_rate > 0.5


def test_in_silence_and_in_too_short_sounds_all_words_are_missing() -> None:
    for samples in (np.zeros(SAMPLE_RATE, np.float32), np.zeros(10, np.float32), np.zeros(0, np.float32)):
        found = checked(samples, "Nothing is spoken here.")
        assert max(problem.confidence for problem in found.problems) > 0.9


def test_words_that_the_dictionary_lacks_are_read_by_their_letters() -> None:
    samples, _ = clip("Ada")
    text = "Zyxwv (brk) 中文 ünïcödé it's o'clock <sil> [NOISE] aaa"
    units = [*(unit.text for unit in spoken_units(text, "en")), "[B][AY1]"]
    assert all(recognizer().phones(unit) for unit in units)
    assert len(recognizer().recognize(samples, units, "en").aligned) == len(units)


def test_a_pronunciation_in_pinyin_is_read_like_its_characters() -> None:
    own = ModelPhones(MODEL, MODEL_FOLDER)
    own._sounds = replace(own._sounds, syllables={"zhang": [3, 4], "da": [5, 6]})  # the bundled one reads English only
    assert own.phones(["[zh][ǎng][d][à]"]) == [[3, 4, 5, 6]]
    assert [phone for each in own.phones(["长", "大"]) for phone in each] == [3, 4, 5, 6]


def test_it_does_not_transcribe() -> None:
    with pytest.raises(RecognizerNotFound):
        recognizer().transcribe(clip("Ada")[0], "en")


def request(text: str, folder: Path | None, *, is_take: bool = True) -> CheckRequest:
    samples, _ = clip("Ada")
    evidence = (SentenceEvidence(text, 0.0, len(samples) / SAMPLE_RATE),) if is_take else ()
    return CheckRequest(samples, SAMPLE_RATE, text, evidence=evidence, model_folder=folder)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A model folder with what the recogniser needs."""
    shutil.copy(MODEL_FOLDER / MODEL_RECOGNIZER_FILE, tmp_path)
    (tmp_path / "CosyVoice-BlankEN").mkdir()
    (tmp_path / "CosyVoice-BlankEN" / "respellings.txt").write_text("the\tÐX\n", "utf-8")
    return tmp_path


def test_takes_of_the_model_are_heard_by_its_own_recogniser() -> None:
    check = TakeCheckEngine(lambda: ()).check(request(clip("Ada")[1], MODEL_FOLDER))
    assert (check.recognizer, check.error_code, check.verdict) == (MODEL, "", Verdict.GOOD)
    assert TakeCheckEngine(lambda: ()).check(request(clip("Ada")[1], None)).recognizer == ""
    assert TakeCheckEngine(lambda: ()).check(request("今天天气很好。", MODEL_FOLDER)).recognizer == ""


def test_other_recordings_are_not_heard_by_it() -> None:
    check = TakeCheckEngine(lambda: ()).check(request(clip("Ada")[1], MODEL_FOLDER, is_take=False))
    assert (check.recognizer, check.error_code) == ("", "recognizer-not-found")


def test_a_model_without_a_recogniser_has_none(tmp_path: Path) -> None:
    assert recognizer_of_model(tmp_path) is None
    assert recognizer_of_model(None) is None


@pytest.mark.parametrize("damage", ["truncated", "not onnx", "another network", "no pronunciations"])
def test_a_damaged_recogniser_is_reported_each_time(copy: Path, damage: str) -> None:
    path = copy / MODEL_RECOGNIZER_FILE
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:100_000])
    elif damage == "not onnx":
        path.write_bytes(b"\x00" * 100)
    elif damage == "another network":
        shutil.copy(MODEL_FOLDER / "speech_tokenizer_v3.onnx", path)
    else:
        (copy / "CosyVoice-BlankEN" / "respellings.txt").unlink()
    choice = recognizer_of_model(copy)
    assert choice
    checker = TakeCheckEngine(lambda: ())
    for _ in range(2):
        with pytest.raises(DamagedModelFile):
            open_recognizer(choice)
        check = checker.check(request("The text.", copy))
        assert (check.verdict, check.error_code) == (Verdict.NOT_CHECKED, "damaged-model-file")


def test_a_recogniser_without_memory_is_reported_each_time(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    checker = TakeCheckEngine(lambda: ())
    with monkeypatch.context() as exhausted:
        exhausted.setattr("studio.take_checks.recognizers.model_phones.ModelPhones.recognize", fail)
        for _ in range(2):
            check = checker.check(request("The text.", copy))
            assert (check.verdict, check.error_code) == (Verdict.NOT_CHECKED, "out-of-memory")
    assert checker.check(request("The text.", copy)).error_code == ""


def test_a_voice_that_it_does_not_know_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelPhones, "log_probabilities", lambda *_: np.full((100, 41), np.log(1 / 41), np.float32))
    with pytest.raises(UnrecognizedVoice):
        checked(clip("Ada")[0], "Words.")
