"""Faults that the measurement of the checks plants in takes, and how it counts them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from measurements.planted_faults import takes
from measurements.planted_faults.measures import fault_table, lines_after_retries
from measurements.planted_faults.prompts import PromptClip
from measurements.planted_faults.takes import KINDS, Base, Generated, MeasuredTake, Planted
from measurements.planted_faults.truth import Spoken, SpokenWord, aligned_words
from studio.model.stages import SpeechTokenRequest
from studio.take_checks.records import Problem, ProblemKind, TakeCheck, Verdict
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence

RATE = 24_000
SAMPLES_PER_TOKEN = 960
WORDS = ("the", "captain", "folded", "maps")


@pytest.fixture
def base() -> Base:
    """Return a take of four words, of 0.4 s each, after 0.2 s of silence and before 0.2 s of it."""
    text = " ".join(WORDS)
    starts = [text.index(word) for word in WORDS]
    words = tuple(
        SpokenWord(word, start, start + len(word), 0.2 + 0.4 * number, 0.6 + 0.4 * number, 0.0)
        for number, (word, start) in enumerate(zip(WORDS, starts, strict=True))
    )
    tokens = list(range(50))
    time = np.arange(len(tokens) * SAMPLES_PER_TOKEN) / RATE
    samples = (0.3 * np.sin(2 * np.pi * 150 * time) * ((time >= 0.2) & (time < 1.8))).astype(np.float32)
    sentence = Sentence(text, text, ())
    generated = Generated(sentence, SpeechTokenRequest((), (), ()), tokens, Spoken(words, 0, 0))
    return Base(text, PromptClip(Path("prompt.wav"), ""), generated, samples)


def planted(kind: str, base: Base) -> Planted:
    return getattr(takes, kind)(base, np.random.default_rng(3))  # type: ignore[no-any-return]


def test_a_cut_end_is_within_the_last_word(base: Base) -> None:
    cut = planted("_cut_at_end", base)
    assert 1.4 < 0.04 * len(cut.tokens) < 1.8
    assert cut.tokens == base.tokens[: len(cut.tokens)]
    assert cut.samples is not None
    assert len(cut.samples) == len(cut.tokens) * SAMPLES_PER_TOKEN
    assert cut.place == pytest.approx((1.4, 0.04 * len(cut.tokens)))


def test_a_cut_start_is_within_the_first_word(base: Base) -> None:
    cut = planted("_cut_at_start", base)
    num_cut = len(base.tokens) - len(cut.tokens)
    assert 0.2 < 0.04 * num_cut < 0.6
    assert cut.samples is not None
    np.testing.assert_array_equal(cut.samples, base.samples[num_cut * SAMPLES_PER_TOKEN :])
    assert cut.place == pytest.approx((0.0, 0.6 - 0.04 * num_cut))


def test_silence_is_inserted_between_words(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takes, "silent_token", lambda _: 99)
    silent = planted("_with_silence", base)
    start, end = silent.place
    assert round(start, 2) in (0.6, 1.0, 1.4)
    assert end - start == pytest.approx(1.48)
    assert silent.tokens[round(start / 0.04) : round(end / 0.04)] == [99] * 37
    assert silent.samples is not None
    assert len(silent.samples) == len(silent.tokens) * SAMPLES_PER_TOKEN
    inside = silent.samples[round((start + 0.01) * RATE) : round((end - 0.01) * RATE)]
    assert 0.0 < np.abs(inside).max() < 1e-3


def test_noise_is_as_loud_as_the_speech_and_only_at_its_place(base: Base) -> None:
    noisy = planted("_with_noise", base)
    assert noisy.samples is not None
    added = noisy.samples - base.samples
    first, last = (round(seconds * RATE) for seconds in noisy.place)
    assert not added[:first].any()
    assert not added[last:].any()
    assert np.sqrt(np.mean(added[first:last] ** 2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.15)


def take(kind: str, place: tuple[float, float] | None, *, is_good: bool = True) -> MeasuredTake:
    return MeasuredTake(Path("take.wav"), kind, "", Path("prompt.wav"), (), place, (), is_really_good=is_good)


def check(verdict: Verdict, start: float = 0.0, end: float = 0.0) -> TakeCheck:
    found = verdict is not Verdict.GOOD
    return TakeCheck(verdict, (Problem(ProblemKind.MISSING_WORDS, start, end),) if found else ())


def test_faults_are_counted_as_found_placed_or_missed() -> None:
    table = fault_table(
        [
            (take("dropped word", (1.0, 1.2)), check(Verdict.DOUBTFUL, 1.3, 1.5)),
            (take("dropped word", (1.0, 1.2)), check(Verdict.BAD, 1.8, 2.0)),
            (take("dropped word", (1.0, 1.2)), check(Verdict.GOOD)),
            (take("dropped word", (1.0, 1.2)), check(Verdict.NOT_CHECKED)),
            (take("wrong sentence", takes.WHOLE_TAKE), check(Verdict.BAD, 0.0, 2.0)),
            (take("good", None), check(Verdict.GOOD)),
            (take("good", None), check(Verdict.DOUBTFUL)),
            (take("good", None, is_good=False), check(Verdict.BAD)),
        ]
    )
    assert table["dropped word"] == {"takes": 4, "found": 2, "placed": 1, "with_place": 2}
    assert table["wrong sentence"] == {"takes": 1, "found": 1, "placed": 0, "with_place": 0}
    assert table["good"] == {"takes": 2, "called_good": 1, "alarms": {"missing-words": 1}}
    assert table["natural faults"] == {"takes": 1, "found": 1}
    assert set(table) == {*KINDS, "good", "natural faults"}


def test_a_faulty_line_is_spoken_again_until_its_take_is_called_good() -> None:
    good = (take("good", None), check(Verdict.GOOD))
    found = lines_after_retries([good, (take("dropped word", (1.0, 1.2)), check(Verdict.BAD))])
    assert (found["wrong_before"], found["retried"], found["wrong_after"]) == (20, 20, 0)
    missed = lines_after_retries([good, (take("dropped word", (1.0, 1.2)), check(Verdict.GOOD))])
    assert (missed["retried"], missed["mean_wrong_after"]) == (0, 20.0)
    assert missed["scripts_with_one_wrong_line_or_none"] == 0


def test_of_takes_with_problems_the_one_with_the_weaker_problem_is_kept() -> None:
    weak, strong = (TakeCheck(Verdict.BAD, (Problem(ProblemKind.NOISE, 0, 1, "", each),)) for each in (0.91, 0.99))
    found = lines_after_retries([(take("good", None), weak), (take("noise burst", (0.0, 1.0)), strong)])
    assert found["wrong_after"] == 0


def test_an_equal_sound_at_the_end_of_a_word_and_the_start_of_the_next_one_is_heard_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Respellings, "spelled", lambda _self, word: word)
    heard = [(label, 0.1 * number, 0.1 * (number + 1)) for number, label in enumerate(("s", "t", "n", "s", "t"))]
    respellings = object.__new__(Respellings)
    apart = aligned_words(heard, "stn nst", respellings)
    joined = aligned_words(heard, "stn nst", respellings, joins_equal_sounds=True)
    assert max(word.error for word in apart.words) > 0.3
    assert [word.error for word in joined.words] == [0.0, 0.0]
