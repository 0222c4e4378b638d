"""Sentences for the models: official behaviour, with corrections."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from official_faults import is_damaged, is_unspeakable, without_stray_backslashes

from studio.errors import NothingToSpeak, StyleNotSupported, TextTooLong
from studio.text.segmentation import (
    MAX_CHARACTERS,
    IncrementalText,
    Pause,
    Sentence,
    TextPart,
    prepare_text,
    prepare_undivided,
)
from studio.text.tokenizer import COSYVOICE2_TEXT, COSYVOICE3_TEXT, PromptForm, TextTokenizer

# Texts that the official program damages, with the correct result. Each comment describes the defect.
REPAIRED = {
    # " - " should become a comma, but the spaces around it are deleted first.
    "今天是2024年5月1日，气温25.5度 - 很热，": ["今天是二零二四年五月一日，气温二十五点五度，很热。"],
    # ㎡ is not spelled out, and brackets are removed so that their words are joined to the text.
    "面积是100㎡和3²、体积5³（大约）【注】——完`了`": ["面积是一百平方米和三平方、体积五立方，大约，注 完了。"],
    # Line feeds are removed, so paragraphs are lost.
    "中文\n换行。第二句": ["中文。", "换行。第二句。"],
    "line one\nline two. 7": ["line one.", "line two. seven."],
    # Digits alone are read in English.
    "123": ["one hundred and twenty three."],
    # A text that contains "<|" is neither normalised nor split (J2, row 10).
    "<|en|>Keep 100 as it is": ["Keep one hundred as it is."],
    # Amounts of money are read as decimal numbers.
    "It costs $3.50, 25% off. Dr. Smith's 3rd": [
        "It costs three dollars fifty, twenty five percent off. doctor Smith's third."
    ],
}


def _spoken(text: str, form: PromptForm, tokenizer: TextTokenizer, *, normalize: bool = True) -> list[str | float]:
    items = prepare_text(text, form=form, tokenizer=tokenizer, normalize=normalize)
    assert "".join(item.written for item in items) == text
    return [item.spoken if isinstance(item, Sentence) else item.seconds for item in items]


@pytest.mark.reference
def test_golden_texts(form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any]) -> None:
    entries = [entry for entry in golden["text_normalize"] if entry["split"] and entry["normalizer"] == "wetext"]
    sound = [entry for entry in entries if not is_damaged(entry["text"])]
    assert {entry["text"].isascii() for entry in sound} == {True, False}
    for entry in sound:
        official = [without_stray_backslashes(sentence) for sentence in entry["result"]]
        assert _spoken(entry["text"], form, tokenizer) == official
    for text in (entry["text"] for entry in entries if is_unspeakable(entry["text"])):
        with pytest.raises(NothingToSpeak):
            prepare_text(text, form=form, tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("One is here. [pause 0.5] Two\nare there.", "One is here. Two are there."),
        ("今天有3个。\n明天呢？", "今天有三个。明天呢？"),
        (
            40 * "This is a long sentence, which ends here. ",
            " ".join(40 * ["This is a long sentence, which ends here."]),
        ),
    ],
)
def test_the_text_of_a_recording_is_one_sentence(
    text: str, spoken: str, form: PromptForm, tokenizer: TextTokenizer
) -> None:
    sentence = prepare_undivided(text, form=form, tokenizer=tokenizer)
    assert sentence.spoken == spoken
    assert sentence.text_tokens == tokenizer.encode(spoken, allow_special=True)
    with pytest.raises(NothingToSpeak):
        prepare_undivided("[pause 1]", form=form, tokenizer=tokenizer)


@pytest.mark.parametrize("text", REPAIRED)
def test_texts_that_the_official_program_damages_are_correct(
    text: str, form: PromptForm, tokenizer: TextTokenizer
) -> None:
    assert is_damaged(text)
    assert _spoken(text, form, tokenizer) == REPAIRED[text]


@pytest.mark.parametrize("text", ["……！？", "。", "(*&^%)", ""])
def test_symbols_alone_are_not_spoken(text: str, form: PromptForm, tokenizer: TextTokenizer) -> None:
    assert is_unspeakable(text)
    with pytest.raises(NothingToSpeak):
        prepare_text(text, form=form, tokenizer=tokenizer)


@pytest.mark.reference
def test_golden_paragraphs_are_split_equally(
    form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any]
) -> None:
    """Without normalisation, no end mark is added, and the first sentence has no leading space."""
    entries = [entry for entry in golden["split_paragraph"] if entry["token_max_n"] == 80]
    assert entries
    for entry in entries:
        official = list(entry["result"])
        official[0] = official[0].lstrip()
        if not entry["text"].endswith((".", "。")):
            official[-1] = official[-1].rstrip(".。")
        assert _spoken(entry["text"], form, tokenizer, normalize=False) == official


@pytest.mark.reference
def test_normalised_text_is_not_changed(form: PromptForm, tokenizer: TextTokenizer, golden: dict[str, Any]) -> None:
    for entry in golden["text_normalize"]:
        if entry.get("text_frontend") is False:
            assert _spoken(entry["text"], form, tokenizer, normalize=False) == entry["result"]


class TestDefectsOfTheOfficialProgram:
    """Texts that the official program damages."""

    def test_english_pronunciation_survives(self, tokenizer3: TextTokenizer) -> None:
        text = "The [W][AY1][N][D] blew 5 times."
        (sentence,) = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=tokenizer3)
        assert isinstance(sentence, Sentence)
        assert sentence.spoken == "The [W][AY1][N][D] blew five times."
        phones = [tokenizer3.special_ids[phone] for phone in ("[W]", "[AY1]", "[N]", "[D]")]
        position = sentence.text_tokens.index(phones[0])
        assert list(sentence.text_tokens[position : position + 4]) == phones

    def test_pronunciation_survives_in_chinese(self, tokenizer3: TextTokenizer) -> None:
        assert _spoken("请读[W][AY1][N][D]，3遍", COSYVOICE3_TEXT, tokenizer3) == ["请读[W][AY1][N][D]，三遍。"]
        assert _spoken("对报道[j][ǐ]予好评", COSYVOICE3_TEXT, tokenizer3) == ["对报道[j][ǐ]予好评。"]
        assert _spoken("[j][i\u030c]予", COSYVOICE3_TEXT, tokenizer3) == ["[j][ǐ]予。"]

    def test_tags_survive(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        text = "[breath]他说[laughter]<strong>极</strong>好[vocalized-noise]3次"
        (sentence,) = prepare_text(text, form=form, tokenizer=tokenizer)
        assert isinstance(sentence, Sentence)
        for tag in ("[breath]", "[laughter]", "<strong>", "</strong>", "[vocalized-noise]"):
            assert tokenizer.special_ids[tag] in sentence.text_tokens
        assert sentence.spoken == "[breath]他说[laughter]<strong>极</strong>好[vocalized-noise]三次。"

    def test_quotes_stay_quotes(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken('He said "hi" 2 times', form, tokenizer) == ['He said "hi" two times.']

    def test_range_of_chapters_is_not_read_as_a_subtraction(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("第1-3章", form, tokenizer) == ["第一到三章。"]

    def test_a_tilde_is_silent(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("The ~ sign", form, tokenizer) == ["The sign."]

    def test_a_version_is_read_whole(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("Use v2.5.1", form, tokenizer) == ["Use v two point five point one."]

    def test_line_feeds_end_paragraphs(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("第一章\n\n天黑了", form, tokenizer) == ["第一章。", "天黑了。"]

    def test_brackets_are_set_off_by_commas(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("他（小王）说`好`【注】", form, tokenizer) == ["他，小王，说好，注。"]

    def test_control_marks_do_not_disable_normalisation(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        text = "<|zh|>" + "他在2024年写了3本书。" * 30
        spoken = _spoken(text, form, tokenizer)
        assert len(spoken) > 3
        assert "2" not in "".join(map(str, spoken))

    def test_normalisation_works_offline(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert _spoken("3", form, tokenizer) == ["three."]


@pytest.mark.parametrize(
    "text", ["", "  \n\t ", "。”", "……！？", "😀👍🏽", "(*&^%)", "\x00\u200b", "[pause 1]", "<strong></strong>"]
)
def test_nothing_to_speak(text: str, form: PromptForm, tokenizer: TextTokenizer) -> None:
    with pytest.raises(NothingToSpeak, match="nothing to speak") as caught:
        prepare_text(text, form=form, tokenizer=tokenizer)
    assert caught.value.code == "nothing-to-speak"


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        # Specification J2, row 16.
        ("。”你好", ["你好。"]),
        ("”。你好 ", ["你好。"]),
        ("好😀吗[laughter]", ["好吗。[laughter]"]),
        ("[laughter]", ["[laughter]."]),
        ("他买了3个。I have 3 apples and 2 pears. 再见", ["他买了三个。I have three apples and two pears.再见。"]),
        ("第一章\n5\n第二章", ["第一章。", "五。", "第二章。"]),
        ("hello,", ["hello."]),
        ("“你好，”", ["“你好”。"]),
        ("But—", ["But."]),
        ("他走了……", ["他走了……"]),
        ("はい。2人です", ["はい。二人です。"]),
        ("good\u200bbye \ud800 2", ["goodbye two."]),
    ],
)
def test_unusual_texts(text: str, spoken: list[str], tokenizer3: TextTokenizer) -> None:
    assert _spoken(text, COSYVOICE3_TEXT, tokenizer3) == spoken


def test_pauses_split_sentences_and_add_commas(form: PromptForm, tokenizer: TextTokenizer) -> None:
    text = "And the winner is [pause 2] Anna! [PAUSE 500ms][pause .5s] Bravo[pause 0]"
    assert _spoken(text, form, tokenizer) == ["And the winner is,", 2.0, "Anna!", 0.5, 0.5, "Bravo.", 0.0]
    assert _spoken("好[pause 30]吗", form, tokenizer) == ["好，", 30.0, "吗。"]


def test_a_pause_of_more_than_30_seconds_is_refused(form: PromptForm, tokenizer: TextTokenizer) -> None:
    with pytest.raises(StyleNotSupported, match="at most 30 seconds"):
        prepare_text("a [pause 30.5] b", form=form, tokenizer=tokenizer)


def test_text_resembling_a_pause_is_spoken(form: PromptForm, tokenizer: TextTokenizer) -> None:
    assert _spoken("a [pause] b [pause x] c", form, tokenizer) == ["a, pause, b, pause x, c."]


def test_pronunciation_tokens_are_refused_by_a_model_without_them(tokenizer2: TextTokenizer) -> None:
    with pytest.raises(StyleNotSupported, match=r"\[j\]\[ǐ\]"):
        prepare_text("对[j][ǐ]予", form=COSYVOICE2_TEXT, tokenizer=tokenizer2)


def test_single_letter_in_brackets_is_text(form: PromptForm, tokenizer: TextTokenizer) -> None:
    assert _spoken("[a] is right, not [B]", form, tokenizer) == ["a, is right, not, B."]


def test_single_toned_final_is_pronunciation(tokenizer3: TextTokenizer) -> None:
    assert _spoken("[ā]呀", COSYVOICE3_TEXT, tokenizer3) == ["[ā]呀。"]


def test_unknown_tags_are_read_as_words(form: PromptForm, tokenizer: TextTokenizer) -> None:
    assert _spoken("[whispers] come", form, tokenizer) == ["whispers, come."]


def test_span_is_not_split(form: PromptForm, tokenizer: TextTokenizer) -> None:
    long = "很长的一句话，有二十个字左右的样子。" * 3
    text = f"{long}他说<strong>{long}</strong>。{long}"
    (torn,) = [part for part in _spoken(text, form, tokenizer) if "<strong>" in str(part)]
    assert "</strong>" in str(torn)


@pytest.mark.parametrize(
    "text",
    ["好" * 5000, "a" * 5000, "word " * 2000, "一二三，" * 1000, "7" * 3000, "[breath]好" * 500, "é" * 3000],
)
def test_line_of_any_length_is_split_into_sentences_of_bounded_length(text: str, tokenizer3: TextTokenizer) -> None:
    items = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=tokenizer3)
    assert "".join(item.written for item in items) == text
    for item in items:
        assert isinstance(item, Sentence)
        # The miniature vocabulary has three or more tokens for a Chinese character.
        assert 0 < len(item.text_tokens) < 600
        # A sentence that is cut ends with a comma.
        assert item.spoken.removesuffix("[breath]")[-1] in ".,。，"


def test_text_that_is_too_long_is_refused(form: PromptForm, tokenizer: TextTokenizer) -> None:
    with pytest.raises(TextTooLong, match="1,000,001 characters"):
        prepare_text("x" * (MAX_CHARACTERS + 1), form=form, tokenizer=tokenizer)


class TestIncrementalText:
    def _items(self, pieces: list[str], form: PromptForm, tokenizer: TextTokenizer) -> list[str | float]:
        text = IncrementalText()
        parts = [*(part for piece in pieces for part in text.feed(piece)), *text.finish()]
        items = [
            item
            for number, part in enumerate(parts)
            for item in prepare_text(
                part.text, form=form, tokenizer=tokenizer, language=part.language, is_continued=number > 0
            )
        ]
        return [item.spoken if isinstance(item, Sentence) else item.seconds for item in items]

    def test_parts_are_returned_while_text_arrives(self) -> None:
        text = IncrementalText()
        assert text.feed("It is now 5") == []
        assert text.feed(" o'clock in the afternoon. N") == [TextPart("It is now 5 o'clock in the afternoon.")]
        assert text.feed("ever mind what") == []
        assert text.finish() == [TextPart(" Never mind what")]

    def test_a_flush_ends_a_part_anywhere(self) -> None:
        text = IncrementalText()
        assert text.flush() == []
        text.feed("And then he")
        assert text.flush() == [TextPart("And then he")]
        text.feed(" left")
        assert text.finish() == [TextPart(" left")]

    def test_pauses_and_lines(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        pieces = ["你好[pau", "se 1]世界\n", "\n", "😀\n再见", "[pause 2]", "😀"]
        assert self._items(pieces, form, tokenizer) == ["你好，", 1.0, "世界。", "再见。", 2.0]

    def test_a_pause_may_follow_the_last_sentence(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert self._items(["Good morning to you.\n", "[pause 2]"], form, tokenizer) == ["Good morning to you.", 2.0]

    def test_a_pause_may_precede_the_first_sentence(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert self._items(["[pause 2]\n", "Good morning."], form, tokenizer) == [2.0, "Good morning."]

    def test_digits_have_the_language_of_the_preceding_text(self, form: PromptForm, tokenizer: TextTokenizer) -> None:
        assert self._items(["第一章\n", "5\n"], form, tokenizer) == ["第一章。", "五。"]

    def test_text_without_words_is_an_error(self) -> None:
        text = IncrementalText()
        for piece in ("", " \n", "[pause 1]\n", "…"):
            assert text.feed(piece) == []
        with pytest.raises(NothingToSpeak):
            text.finish()


def test_written_text_of_a_pause_is_its_tag(form: PromptForm, tokenizer: TextTokenizer) -> None:
    items = prepare_text("a [pause 1] b", form=form, tokenizer=tokenizer)
    assert [item.written for item in items] == ["a ", "[pause 1]", " b"]
    assert isinstance(items[1], Pause)


def test_importing_the_text_front_end_loads_no_networks_or_grammars() -> None:
    check = (
        "import sys, studio.text.segmentation, studio.text.styles, studio.text.tokenizer;"
        "print({'torch', 'onnxruntime', 'wetext', 'kaldifst'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
