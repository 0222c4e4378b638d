"""Words of the written text behind the spoken words."""

from __future__ import annotations

import pytest

from studio.take_checks.records import WordTime
from studio.take_checks.words import pause_times, split_words, written_words


@pytest.mark.parametrize(
    ("written", "spoken", "expected"),
    [
        ("Dr. Brown said 42.", "doctor Brown said forty two.", ["Dr", "Brown", "said", "42", "42"]),
        ("It costs $45.50 now.", "It costs forty five dollars fifty cents now.", None),
        ("今天有3个人", "今天有三个人", ["今", "天", "有", "3", "个", "人"]),
        ("don't stop", "don't stop", ["don't", "stop"]),
    ],
)
def test_spoken_words_belong_to_written_ones(written: str, spoken: str, expected: list[str] | None) -> None:
    own, said = split_words(written), split_words(spoken)
    owners = written_words(own, said)
    assert len(owners) == len(said)
    assert owners == sorted(owners)
    if expected is not None:
        assert [own[owner].text for owner in owners] == expected
    assert own[owners[0]].text == own[0].text
    assert own[owners[-1]].text == own[-1].text


def test_texts_without_words() -> None:
    assert split_words("… – !") == []
    assert written_words([], split_words("a b")) == []


def test_pauses_are_allowed_at_punctuation() -> None:
    text = "Yes, I know now."
    words = [
        WordTime("Yes", 0.1, 0.4, 0, 3),
        WordTime("I", 0.7, 0.8, 5, 6),
        WordTime("know", 0.8, 1.2, 7, 11),
        WordTime("now", 1.3, 1.6, 12, 15),
    ]
    assert pause_times(text, words) == [0.4, 0.7]
