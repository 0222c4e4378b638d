from __future__ import annotations

import pytest

from studio.take_checks.comparison import compare
from studio.take_checks.findings import TextFindings
from studio.take_checks.recognizers.protocol import AlignedUnit, HeardUnit, Recognition
from studio.take_checks.records import ProblemKind
from studio.take_checks.units import spoken_units


def heard(words: str, *, start: float = 0.5, confidence: float = 0.95) -> tuple[HeardUnit, ...]:
    return tuple(
        HeardUnit(word, start + 0.4 * index, start + 0.4 * index + 0.3, confidence)
        for index, word in enumerate(words.split())
    )


def compared(
    text: str, words: str, *, language: str = "en", known: tuple[str, ...] = (), scores: tuple[float, ...] = ()
) -> TextFindings:
    aligned = tuple(AlignedUnit(0.4 * index, 0.4 * index + 0.3, score) for index, score in enumerate(scores))
    units = spoken_units(text, language)
    recognition = Recognition(heard(words), aligned)
    return compare(text, units, recognition, seconds=20.0, recognizer="it", language=language, known_words=known)


def kinds(found: TextFindings) -> list[tuple[ProblemKind, str]]:
    return [(problem.kind, problem.text) for problem in found.problems]


def test_the_same_words_are_no_problem_and_have_times() -> None:
    found = compared("In 1984, we left.", "in nineteen eighty four we left")
    assert found.problems == ()
    assert found.word_error_rate == 0.0
    assert [word.text for word in found.words] == ["In", "1984", "we", "left"]
    year = found.words[1]
    assert (year.from_seconds, year.to_seconds) == pytest.approx((0.9, 2.0))
    assert (year.text_start, year.text_end) == (3, 7)


def test_a_missing_word_is_named_and_placed_between_its_neighbours() -> None:
    found = compared("We had three letters.", "we had letters")
    assert kinds(found) == [(ProblemKind.MISSING_WORDS, "three")]
    problem = found.problems[0]
    assert problem.from_seconds <= 1.2
    assert problem.to_seconds >= 1.3
    assert (problem.text_start, problem.text_end) == (7, 12)
    assert found.word_error_rate == pytest.approx(0.25)


def test_a_repeated_word_is_extra_speech_for_a_recogniser_without_indices() -> None:
    found = compared("We had three letters.", "we had three three letters")
    assert [problem.kind for problem in found.problems] == [ProblemKind.EXTRA_SPEECH]


def test_a_repetition_that_the_recogniser_reports_is_named() -> None:
    units = spoken_units("We had three letters.", "en")
    spoken = [("we", 0), ("had", 1), ("three", 2), ("had", 1), ("three", 2), ("letters", 3)]
    recognition = Recognition(
        tuple(HeardUnit(word, 0.4 * at, 0.4 * at + 0.3, 0.97, index) for at, (word, index) in enumerate(spoken))
    )
    found = compare("We had three letters.", units, recognition, seconds=9.0, recognizer="it", language="en")
    assert kinds(found) == [(ProblemKind.REPEATED_WORDS, "had three")]


@pytest.mark.parametrize(("confidence", "repeated"), [(0.6, 0.6), (1.0, 1.0)])
def test_a_repetition_is_as_certain_as_the_second_of_both_words(confidence: float, repeated: float) -> None:
    units = spoken_units("We had letters.", "en")
    spoken = [("we", 0, 1.0), ("had", 1, confidence), ("had", 1, 1.0), ("letters", 2, 1.0)]
    recognition = Recognition(
        tuple(HeardUnit(word, at, at + 0.3, sure, index) for at, (word, index, sure) in enumerate(spoken))
    )
    found = compare("We had letters.", units, recognition, seconds=9.0, recognizer="it", language="en")
    assert [(problem.kind, problem.confidence) for problem in found.problems] == [
        (ProblemKind.REPEATED_WORDS, repeated)
    ]


def test_a_word_that_is_heard_only_later_is_as_certain_as_itself() -> None:
    units = spoken_units("We had letters.", "en")
    spoken = [("we", 0, 1.0), ("letters", 2, 1.0), ("had", 1, 0.7)]
    recognition = Recognition(
        tuple(HeardUnit(word, at, at + 0.3, sure, index) for at, (word, index, sure) in enumerate(spoken))
    )
    found = compare("We had letters.", units, recognition, seconds=9.0, recognizer="it", language="en")
    assert (ProblemKind.REPEATED_WORDS, 0.7) in [(problem.kind, problem.confidence) for problem in found.problems]


def test_word_times_are_in_order_after_a_jump_back() -> None:
    """A recogniser that allows repetitions may skip a word, go back to it, and go on."""
    units = spoken_units("We had three letters.", "en")
    spoken = [("we", 0), ("three", 2), ("had", 1), ("three", 2), ("letters", 3)]
    recognition = Recognition(
        tuple(HeardUnit(word, 0.5 * place, 0.5 * place + 0.4, 0.9, index) for place, (word, index) in enumerate(spoken))
    )
    found = compare("We had three letters.", units, recognition, seconds=9.0, recognizer="it", language="en")
    starts = [word.from_seconds for word in found.words]
    assert starts == sorted(starts)
    assert [word.text for word in found.words] in (["We", "had", "letters"], ["We", "three", "letters"])


def test_other_words_are_wrong() -> None:
    found = compared("We had three letters.", "we had green sweaters")
    assert kinds(found) == [(ProblemKind.WRONG_WORDS, "three letters")]


def test_a_word_that_the_alignment_finds_is_not_wrong() -> None:
    found = compared("We had three letters.", "we had tree letters", scores=(1.0, 1.0, 0.9, 1.0))
    assert all(problem.confidence < 0.2 for problem in found.problems)


def test_the_error_counts_as_much_as_the_recogniser_is_certain() -> None:
    units = spoken_units("We had three letters.", "en")
    unsure = Recognition((*heard("we had"), HeardUnit("green", 1.3, 1.6, 0.2), *heard("letters", start=1.7)))
    found = compare("We had three letters.", units, unsure, seconds=9.0, recognizer="it", language="en")
    assert found.problems[0].confidence == pytest.approx(0.2)
    assert found.word_error_rate == pytest.approx(0.05)


def test_names_may_be_spelled_as_they_sound() -> None:
    assert compared("He met Doctor Aldous Wren.", "he met doctor aldus ren").problems == ()
    assert compared("we saw the qwyll", "we saw the quill", known=("qwyll",)).problems == ()
    assert kinds(compared("we saw the quilt", "we saw the cord")) == [(ProblemKind.WRONG_WORDS, "quilt")]
    assert kinds(compared("He met Anna.", "he met peter")) == [(ProblemKind.WRONG_WORDS, "Anna")]


def test_chinese_homophones_are_accepted_but_other_characters_are_not() -> None:
    assert compared("他在那里。", "她 在 那 里", language="zh").problems == ()
    assert kinds(compared("我喜欢猫。", "我 喜 欢 狗", language="zh")) == [(ProblemKind.WRONG_WORDS, "猫")]


def test_a_recording_that_stops_within_the_text_is_cut() -> None:
    units = spoken_units("We had three letters.", "en")
    stopped = compare(
        "We had three letters.", units, Recognition(heard("we had")), seconds=1.25, recognizer="it", language="en"
    )
    assert kinds(stopped) == [(ProblemKind.CUT_END, "three letters")]
    late = compare(
        "We had three letters.",
        units,
        Recognition(heard("three letters", start=0.05)),
        seconds=9.0,
        recognizer="it",
        language="en",
    )
    assert kinds(late) == [(ProblemKind.CUT_START, "We had")]


def test_babble_after_the_end_is_extra_speech() -> None:
    found = compared("We left.", "we left bla blub bla")
    assert kinds(found) == [(ProblemKind.EXTRA_SPEECH, "")]
    assert found.problems[0].from_seconds == pytest.approx(1.3)


def test_silence_misses_everything() -> None:
    found = compared("We left.", "")
    assert found.word_error_rate == 1.0
    assert kinds(found) == [(ProblemKind.MISSING_WORDS, "We left")]


def test_text_without_words_has_no_problems() -> None:
    assert compared("…", "").problems == ()
