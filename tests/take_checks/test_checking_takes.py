"""Takes of the bundled model with planted faults, and one without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checked_takes import MODEL, RATE, TEXT, Take, bundled_clip

from studio.audio.files import read_audio
from studio.pipeline.request import SentenceEvidence
from studio.take_checks.checking import check_take
from studio.take_checks.findings import TextFindings
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, TakeMeasures, Verdict, WordTime
from studio.take_checks.requests import CheckRequest, Strictness


def kinds(check: TakeCheck) -> set[ProblemKind]:
    return {problem.kind for problem in check.problems}


def of_kind(check: TakeCheck, kind: ProblemKind) -> Problem:
    return next(problem for problem in check.problems if problem.kind is kind)


def cut_evidence(evidence: SentenceEvidence, start: int, end: int) -> SentenceEvidence:
    """Return the evidence of tokens ``start`` to ``end`` alone."""
    return replace(
        evidence,
        to_seconds=(end - start) * evidence.token_seconds,
        speech_tokens=evidence.speech_tokens[start:end],
        text_position=evidence.text_position[start:end],
    )


@pytest.mark.slow
def test_a_good_take_is_good_and_has_word_times(take: Take) -> None:
    check = check_take(take.request())
    assert check.verdict is Verdict.GOOD, check.problems
    assert check.problems == ()
    assert [word.text for word in check.words] == TEXT.replace(",", "").replace(".", "").split()
    assert [TEXT[word.text_start : word.text_end] for word in check.words] == [word.text for word in check.words]
    times = [time for word in check.words for time in (word.from_seconds, word.to_seconds)]
    assert times == sorted(times)
    assert check.similarity is not None
    assert check.similarity > 0.8
    assert check.measures is not None
    assert check.measures.pace == pytest.approx(1.0, abs=0.35)


def test_another_voice_is_found(take: Take) -> None:
    check = check_take(take.request(prompt_clip=bundled_clip("Max")))
    assert check.verdict is Verdict.BAD
    assert kinds(check) == {ProblemKind.OTHER_VOICE}


def test_silence_within_a_phrase_is_found_at_its_place(take: Take) -> None:
    word = next(word for word in check_take(take.request()).words if word.text == "toward")
    cut = round(word.from_seconds / 0.04)
    tokens = list(take.evidence.speech_tokens)
    rest = np.random.default_rng(0).normal(scale=2e-5, size=37 * 960).astype(np.float32)
    samples = np.concatenate([take.samples[: cut * 960], rest, take.samples[cut * 960 :]])
    silent = tokens[0]  # takes begin with silence
    check = check_take(
        take.request(samples=samples, evidence=(take.of_tokens(tokens[:cut] + [silent] * 37 + tokens[cut:]),))
    )
    found = of_kind(check, ProblemKind.LONG_SILENCE)
    assert found.from_seconds == pytest.approx(cut * 0.04, abs=0.3)
    assert found.to_seconds - found.from_seconds == pytest.approx(1.48, abs=0.3)
    assert check.verdict is Verdict.BAD
    assert kinds(check) == {ProblemKind.LONG_SILENCE}


def test_a_pause_tag_between_sentences_is_no_fault(take: Take) -> None:
    first, second = take.evidence, take.evidence
    pause = round(1.6 * RATE)
    samples = np.concatenate([take.samples, np.zeros(pause, np.float32), take.samples])
    shift = first.to_seconds + 1.6
    second = replace(second, from_seconds=shift, to_seconds=shift + second.to_seconds)
    check = check_take(take.request(samples=samples, text=f"{TEXT} [pause 1.6] {TEXT}", evidence=(first, second)))
    assert check.verdict is Verdict.GOOD, check.problems


def test_a_cut_end_is_found_by_sound_and_attention(take: Take) -> None:
    last = check_take(take.request()).words[-1]
    end = round((last.from_seconds + last.to_seconds) / 2 / 0.04)
    check = check_take(take.request(samples=take.samples[: end * 960], evidence=(cut_evidence(take.evidence, 0, end),)))
    assert ProblemKind.CUT_END in kinds(check)
    assert of_kind(check, ProblemKind.CUT_END).to_seconds == pytest.approx(end * 0.04, abs=0.05)
    # Without the evidence, the sound is enough.
    assert ProblemKind.CUT_END in kinds(check_take(take.request(samples=take.samples[: end * 960], evidence=())))


@pytest.mark.slow
def test_a_dropped_word_is_found_with_its_place_in_text_and_sound(take: Take) -> None:
    samples, spoken = take.speak("The captain folded the map, and looked toward the shore.")
    check = check_take(take.request(samples=samples, evidence=(take.of_tokens(list(spoken.speech_tokens)),)))
    assert check.verdict is not Verdict.GOOD
    problem = of_kind(check, ProblemKind.MISSING_WORDS)
    assert problem.text in ("distant", "the")
    assert TEXT[problem.text_start : problem.text_end] == problem.text
    shore = next(word for word in check.words if word.text == "shore")
    assert problem.to_seconds == pytest.approx(shore.from_seconds, abs=0.4)


def test_a_repeated_word_is_found(take: Take) -> None:
    words = check_take(take.request()).words
    word = next(word for word in words if word.text == "distant")
    start, end = round(word.from_seconds / 0.04), round(word.to_seconds / 0.04)
    tokens = list(take.evidence.speech_tokens)
    samples = np.concatenate([take.samples[: end * 960], take.samples[start * 960 :]])
    check = check_take(take.request(samples=samples, evidence=(take.of_tokens(tokens[:end] + tokens[start:]),)))
    problem = of_kind(check, ProblemKind.REPEATED_WORDS)
    assert problem.from_seconds < 2 * word.to_seconds - word.from_seconds
    assert problem.to_seconds > word.from_seconds


@pytest.mark.slow
def test_another_sentence_and_babble_after_the_end_are_found(take: Take) -> None:
    samples, other = take.speak("Nothing in the report explained the missing money.")
    wrong = check_take(take.request(samples=samples, evidence=(take.of_tokens(list(other.speech_tokens)),)))
    assert wrong.verdict is Verdict.BAD
    assert ProblemKind.WRONG_WORDS in kinds(wrong)
    end = round(check_take(take.request()).words[-1].to_seconds / 0.04)
    tokens = list(take.evidence.speech_tokens[:end]) + list(other.speech_tokens[20:55])
    babble = np.concatenate([take.samples[: end * 960], samples[20 * 960 : 55 * 960], np.zeros(2400, np.float32)])
    check = check_take(take.request(samples=babble, evidence=(take.of_tokens(tokens),)))
    assert check.verdict is not Verdict.GOOD
    assert max(problem.to_seconds for problem in check.problems) > (end + 10) * 0.04


def test_strictness_hides_or_shows_less_certain_problems(take: Take) -> None:
    noisy = take.samples.copy()
    burst = np.random.default_rng(1).normal(scale=0.1, size=round(0.26 * RATE))
    start = round(1.0 * RATE)
    noisy[start : start + len(burst)] += burst.astype(np.float32)
    found = {
        strictness: len(check_take(take.request(samples=noisy, strictness=strictness)).problems)
        for strictness in Strictness
    }
    assert found[Strictness.LENIENT] <= found[Strictness.NORMAL] <= found[Strictness.STRICT]
    assert found[Strictness.STRICT] > 0


def test_a_damaged_speaker_encoder_leaves_the_other_checks(take: Take, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(MODEL / "campplus.onnx", folder)
    (folder / "campplus.onnx").write_bytes(b"damaged")
    check = check_take(take.request(model_folder=folder))
    assert check.error_code == "damaged-model-file"
    assert check.similarity is None
    assert check.verdict is Verdict.GOOD
    assert check.words


def test_a_recogniser_adds_findings_and_its_words_are_preferred(take: Take) -> None:
    word = WordTime("The", 0.1, 0.2, 0, 3)
    problem = Problem(ProblemKind.WRONG_WORDS, 1.0, 1.4, "map", 0.97, 23, 26)

    def recognizer(request: CheckRequest) -> TextFindings:
        return TextFindings((problem,), (word,), 0.1, "small-english")

    check = check_take(take.request(), recognizer)
    assert check.verdict is Verdict.BAD
    assert check.problems == (problem,)
    assert (check.words, check.word_error_rate, check.recognizer) == ((word,), 0.1, "small-english")


@pytest.mark.parametrize(("name", "verdict"), [("pocketsphinx", Verdict.GOOD), ("SenseVoiceSmall", Verdict.BAD)])
def test_one_wrong_word_counts_if_the_recogniser_is_not_the_embedded_one(
    take: Take, name: str, verdict: Verdict
) -> None:
    problem = Problem(ProblemKind.WRONG_WORDS, 1.0, 1.4, "map", 0.97, 23, 26)
    check = check_take(take.request(), lambda _: TextFindings((problem,), (), 0.1, name))
    assert check.verdict is verdict
    without_alignment = check_take(take.request(evidence=()), lambda _: TextFindings((problem,), (), 0.1, name))
    assert without_alignment.verdict is Verdict.BAD


def test_a_voice_that_changes_within_a_take_is_found(take: Take) -> None:
    ada, angus = (read_audio(bundled_clip(name)).resampled(RATE).samples for name in ("Ada", "Angus"))
    twice = np.concatenate([ada, ada])
    steady = check_take(take.request(samples=twice, evidence=()))
    assert steady.verdict is Verdict.GOOD, steady.problems
    changed = check_take(take.request(samples=np.concatenate([twice[: 6 * RATE], angus[: 3 * RATE]]), evidence=()))
    assert changed.verdict is Verdict.BAD
    assert kinds(changed) == {ProblemKind.VOICE_DRIFT, ProblemKind.CUT_END}


def test_a_silent_and_an_empty_take_are_bad(take: Take) -> None:
    for samples in (np.zeros(RATE, np.float32), np.zeros(0, np.float32)):
        check = check_take(take.request(samples=samples, evidence=()))
        assert check.verdict is Verdict.BAD
        assert check.measures is None


def test_audio_without_evidence_is_checked_by_its_sound(take: Take) -> None:
    check = check_take(take.request(evidence=()))
    assert check.verdict is Verdict.GOOD, check.problems
    assert check.words == ()


def test_level_bandwidth_and_length_are_compared_with_earlier_takes(take: Take) -> None:
    usual = check_take(take.request()).measures
    assert usual is not None
    earlier = tuple(
        TakeMeasures(usual.pace * (1 + 0.02 * i), usual.level_dbfs + 0.2 * i, usual.bandwidth_hz + 20 * i, 0.95)
        for i in range(-4, 5)
    )
    assert check_take(take.request(earlier_takes=earlier)).verdict is Verdict.GOOD
    quiet = check_take(take.request(samples=take.samples * 0.1, earlier_takes=earlier))
    assert ProblemKind.ODD_LEVEL in kinds(quiet)
    half = np.fft.rfft(take.samples)
    half[round(len(half) / 8) :] = 0
    dull = np.fft.irfft(half, len(take.samples)).astype(np.float32)
    assert ProblemKind.ODD_BANDWIDTH in kinds(check_take(take.request(samples=dull, earlier_takes=earlier)))
    slow = tuple(replace(each, pace=each.pace * 2.5) for each in earlier)
    assert ProblemKind.ODD_LENGTH in kinds(check_take(take.request(earlier_takes=slow)))


def test_checks_do_not_import_torch() -> None:
    """The process that checks takes stays small."""
    code = "import sys, studio.take_checks.checking; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
