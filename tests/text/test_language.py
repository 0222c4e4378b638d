"""Detection of the language in which numbers are read."""

from __future__ import annotations

import pytest

from studio.text.language import (
    Language,
    ReadingRules,
    detect_language,
    is_english_inset,
    language_of_line,
    language_of_script,
    languages_of_lines,
    parse_language,
    tag_named,
    tag_of_line,
    unsupported_language,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("你好，世界", Language.CHINESE),
        ("他说 hello world 然后 走了 ok", Language.CHINESE),
        ("iPhone 15 Pro Max 256GB 很好", Language.CHINESE),
        ("第1-3章", Language.CHINESE),
        # The official program treats these as Chinese.
        ("The word 你好 means hello in 2024.", Language.ENGLISH),
        ("東京に行きます", Language.JAPANESE),
        ("コーヒー", Language.JAPANESE),
        ("안녕하세요 5", Language.KOREAN),
        ("Привет, 5 друзей", Language.RUSSIAN),
        ("PM2.5为35μg/m³，AQI 58。", Language.CHINESE),
        ("10^6 bacteria per mL; 5e-3 mol/L", Language.ENGLISH),
        ("Ich habe 5 Äpfel und ein Brot.", Language.GERMAN),
        ("J'ai 5 pommes et le pain est bon", Language.FRENCH),
        ("Tengo 5 manzanas y el pan", Language.SPANISH),
        ("Ho 5 mele e il pane", Language.ITALIAN),
        ("Hello world", Language.ENGLISH),
        ("La La Land won 6 Oscars", Language.ENGLISH),
        ("El Niño hit in 1998.", Language.ENGLISH),
        ("Er kaufte 10 Äpfel.", Language.GERMAN),
        ("Il a 25 ans.", Language.FRENCH),
        ("Tiene 30 años.", Language.SPANISH),
    ],
)
def test_languages(text: str, language: Language) -> None:
    assert detect_language(text) is language


def test_a_line_needs_evidence_to_differ_from_its_script() -> None:
    assert language_of_line("Kapitel 12", Language.GERMAN) is Language.GERMAN
    assert language_of_line("It was the end of the day.", Language.GERMAN) is Language.ENGLISH
    assert language_of_line("第12章", Language.GERMAN) is Language.CHINESE
    assert language_of_line("12", Language.FRENCH) is Language.FRENCH


def test_tags_of_languages() -> None:
    assert parse_language("de")[:2] == (Language.GERMAN, True)
    assert parse_language("en-GB")[:2] == (Language.ENGLISH, True)
    assert parse_language("en_US")[:2] == (Language.ENGLISH, False)
    assert parse_language("yue")[:2] == (Language.CHINESE, True)
    assert parse_language("xx").language is None
    assert parse_language("zh-x-emoji") == (Language.CHINESE, True, True)
    assert parse_language("und-x-emoji") == (None, False, True)
    assert parse_language("und-GB-x-emoji") == (None, True, True)


def test_digits_alone_have_the_default_language() -> None:
    assert detect_language("123 !", Language.CHINESE) is Language.CHINESE
    assert detect_language("123 !") is Language.ENGLISH


def test_lines_without_clear_signs_have_the_usual_language_of_the_script() -> None:
    french = ("La mer est calme.", "Oui.", "1984", "我们走吧。", "Il ne vient pas.")
    assert [each.value for each in languages_of_lines(french)] == ["fr", "fr", "fr", "zh", "fr"]
    chinese = ("我们走吧。", "1984", "OK!", "好的。")
    assert [each.value for each in languages_of_lines(chinese)] == ["zh", "zh", "en", "zh"]
    assert languages_of_lines(()) == ()


def test_an_english_clause_in_chinese_needs_three_words() -> None:
    assert is_english_inset("I have 3 apples.")
    assert not is_english_inset("iPhone 15 Pro")
    assert not is_english_inset("I have 3 苹果 here.")


ENGLISH, MANY = ("en",), ("zh", "en", "ja", "ko")


@pytest.mark.parametrize(
    ("languages", "text", "expected"),
    [
        (ENGLISH, "大家好，今天我们聊一聊手冲咖啡。", "zh"),
        (ENGLISH, "[breath]今天天气很好。", "zh"),
        (ENGLISH, "我用 iPhone 拍的", "zh"),
        (ENGLISH, "コーヒーを飲みます", "ja"),
        (ENGLISH, "Привет, как дела?", "ru"),
        (ENGLISH, "Ich habe heute keine Zeit und das ist nicht gut.", "de"),
        (ENGLISH, "مرحبا بالعالم", "ar"),
        (ENGLISH, "The word 你好 simply means hello in Chinese.", None),
        (ENGLISH, "Ten naïve cafés, 😀 and a [breath].", None),
        (ENGLISH, "Vamos a la playa", None),  # too few words to be sure
        (ENGLISH, "El Niño hit Los Angeles", None),
        (ENGLISH, "The angle π is 180 degrees.", None),
        (ENGLISH, "123 !", None),
        (ENGLISH, "", None),
        (MANY, "大家好。", None),
        (MANY, "サッカー", None),
        (MANY, "Привет", "ru"),
        (("yue",), "大家好。", None),
    ],
)
def test_languages_that_a_model_has_not_learned(languages: tuple[str, ...], text: str, expected: str | None) -> None:
    assert unsupported_language(text, languages) == expected


def test_languages_have_tags_and_names() -> None:
    assert [tag_named(name) for name in ("de", "de-AT", "German", " 德语 ", "yue", "auto", "")] == [
        "de", "de-AT", "de", "de", "yue", "", "",
    ]  # fmt: skip
    assert tag_named("klingon") is None
    assert parse_language("und-GB") == (None, True, False)


def test_the_language_of_a_script_is_that_of_most_lines() -> None:
    assert language_of_script(["1984", "Er ist nicht da, und sie ist auch nicht da.", "OK"]) == "de"
    assert language_of_script(["12", "..."]) == ""


def test_a_line_has_a_tag_only_if_it_is_read_otherwise_without_one() -> None:
    assert tag_of_line("Kapitel 12", script="de") == "de"
    assert tag_of_line("Er ist nicht da, und sie auch nicht.", script="de") == ""
    assert tag_of_line("It was the end of the day.", script="de") == ""
    assert tag_of_line("Chapter 12", script="en") == ""
    assert tag_of_line("12", tag="fr", script="de") == "fr"


DAY_FIRST = ReadingRules(day_first=True)


def test_the_order_of_dates_is_part_of_the_tag_of_lines_with_dates() -> None:
    assert tag_of_line("On 3/4/2024", rules=DAY_FIRST) == "und-GB"
    assert tag_of_line("On 3/4/2024", tag="en", rules=DAY_FIRST) == "en-GB"
    assert tag_of_line("On 3/4/2024", tag="en-US", rules=DAY_FIRST) == "en-US"
    assert tag_of_line("On 3/4/2024") == tag_of_line("On time", rules=DAY_FIRST) == ""


def test_the_names_of_emoji_are_part_of_the_tag_of_lines_with_emoji() -> None:
    named = ReadingRules(names_emoji=True)
    assert tag_of_line("Good 👍", rules=named) == "und-x-emoji"
    assert tag_of_line("Good 👍", tag="de", rules=named) == "de-x-emoji"
    assert tag_of_line("Good 👍") == tag_of_line("Good", rules=named) == ""
    assert tag_named("de-x-emoji") == "de-x-emoji"
