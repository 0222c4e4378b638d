"""Length of a text in phones and pauses."""

from __future__ import annotations

import pytest

from studio.pipeline.length_limits import SpokenLength, spoken_length
from studio.text.respellings import Respellings

WORDS = Respellings({"hello": "HXLÓ", "it's": "ITS"})


def test_words_with_respellings_are_counted_exactly() -> None:
    assert spoken_length("Hello, it’s hello!", WORDS) == SpokenLength(11, 11, pauses=2)


def test_other_words_give_a_range() -> None:
    length = spoken_length("Hello zigzag.", WORDS)
    assert (length.fewest_phones, length.most_phones) == (4 + 3, 4 + 6)


@pytest.mark.parametrize(
    ("text", "num_phones"),
    [
        ("我是一个学生", 15),
        ("ありがとう", 9),
        ("감사합니다", 12),
        ("спасибо", 7),
        ("thought", 4),
        ("مرحبا", 8),
        ("BBC", 6),
    ],
)
def test_range_contains_the_true_number_in_each_script(text: str, num_phones: int) -> None:
    length = spoken_length(text)
    assert length.fewest_phones <= num_phones <= length.most_phones


def test_kanji_have_more_phones_than_chinese_characters() -> None:
    assert spoken_length("私は東京").most_phones > spoken_length("我东京").most_phones + 6


def test_tags_are_counted_as_sounds_or_phones() -> None:
    length = spoken_length("[laughter] <strong>Hello</strong> [HH][AH0]", WORDS)
    assert (length.fewest_phones, length.most_phones, length.sounds) == (4 + 2, 4 + 6, 2)


def test_consecutive_marks_are_one_pause() -> None:
    assert spoken_length("Wait... what?! Yes。").pauses == 3
