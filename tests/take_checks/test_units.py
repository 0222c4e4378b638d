from __future__ import annotations

import pytest

from studio.take_checks.units import UNKNOWN, expected_texts, heard_text, spoken_units, written_spans


def placed(text: str, language: str = "") -> list[tuple[str, str]]:
    return [(unit.text, text[unit.start : unit.end]) for unit in spoken_units(text, language)]


def test_words_are_in_lower_case_and_keep_their_places() -> None:
    assert placed('"Don’t," said Anna.') == [("don't", "Don’t"), ("said", "said"), ("anna", "Anna")]


def test_numbers_are_spelled_out_at_the_place_of_their_digits() -> None:
    assert placed("In 1984 we left.") == [
        ("in", "In"),
        ("nineteen", "1984"),
        ("eighty", "1984"),
        ("four", "1984"),
        ("we", "we"),
        ("left", "left"),
    ]


def test_units_of_one_written_word_are_grouped() -> None:
    units = spoken_units("In 1984 we left.")
    assert list(written_spans(units)) == [(0, 1), (1, 4), (4, 5), (5, 6)]


def test_chinese_is_split_into_simplified_characters() -> None:
    assert placed("這裡有3個iPhone很好。", "zh") == [
        ("这", "這"),
        ("里", "裡"),
        ("有", "有"),
        ("三", "3"),
        ("个", "個"),
        ("iphone", "iPhone"),
        ("很", "很"),
        ("好", "好"),
    ]


def test_tags_are_not_spoken_and_pronunciations_are_unknown() -> None:
    assert placed("Wait [laughter] for [M][AO1] more. [pause 2]") == [
        ("wait", "Wait"),
        ("for", "for"),
        (UNKNOWN, "[M][AO1]"),
        ("more", "more"),
    ]


def test_a_recogniser_gets_pronunciations_as_written() -> None:
    text = "他[zh][ǎng][d][à]了 ²"
    assert expected_texts(spoken_units(text, "zh"), text)[:3] == ["他", "[zh][ǎng][d][à]", "了"]
    assert all(not each.isnumeric() for each in expected_texts(spoken_units(text, "zh"), text))


def test_numbers_are_read_in_the_language_of_the_text() -> None:
    assert placed("Ich habe 25 Äpfel.", "de")[2] == ("fünfundzwanzig", "25")
    assert placed("Gut 🍕", "de-x-emoji") == [("gut", "Gut"), ("pizza", " 🍕")]
    assert placed("Nr. 7", "de-AT") == [("nummer", "Nr"), ("sieben", "7")]
    assert ("april", "3/4/2024") in placed("On 3/4/2024", "und-GB")


@pytest.mark.parametrize("text", ["", "…", "[pause 1]", "。。。", "\ud800"])
def test_text_without_words_has_no_units(text: str) -> None:
    assert spoken_units(text) == ()


def test_all_places_are_within_the_text_and_in_order() -> None:
    text = "It cost $3.50 & 5% more; by 9:45, Dr. O'Neil’s 2nd (third?) e-mail came — at last!"
    units = spoken_units(text)
    starts = [unit.start for unit in units]
    assert starts == sorted(starts)
    assert all(0 <= unit.start < unit.end <= len(text) for unit in units)


def test_heard_text_has_the_same_form() -> None:
    assert heard_text("Peut-être, Oui.") == "peut être oui"
