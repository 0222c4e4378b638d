"""Allowed and forbidden cut points of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from studio.text.language import Language
from studio.text.split import Layout, blocks, cut_points, is_wrapped, sentence_ends, split_near_middle
from studio.text.tokenizer import COSYVOICE3_TEXT

ENGLISH, CHINESE = Language.ENGLISH, Language.CHINESE


def _pieces(text: str, language: Language) -> list[str]:
    masked = Layout.of(text, COSYVOICE3_TEXT.tags).masked
    cuts = [0, *cut_points(masked, language), len(text)]
    return [text[start:end] for start, end in pairwise(cuts) if end > start]


@pytest.mark.parametrize(
    ("language", "pieces"),
    [
        (CHINESE, ["你好。", "再见！", "走、", "跑；", "好：", "是吗？"]),
        (CHINESE, ["“真的吗？”", "他问。"]),
        (CHINESE, ["「好。」", "（是。）", "《书！》", "完"]),
        (CHINESE, ["圆周率是3.14，比分3：2，有2、3个。", "对"]),
        (CHINESE, ["看example.com吧。", "好.", "完"]),
        (CHINESE, ["我……我不知道。", "真的……！", "走"]),
        (ENGLISH, ["It is.", " Is it?", " Yes!", " One; ", "two: ", "three"]),
        (ENGLISH, ['"Go!"', " she said.", " 'Why?'", " asked he."]),
        (ENGLISH, ["Wait... ", "What?!", " No… maybe."]),
        (ENGLISH, ["Dr. Smith met J. K. Rowling, Mrs. Lee vs. Mr. Wu."]),
        (ENGLISH, ["On Jan. 5 at 5 p.m. the U.S. Army read No. 7."]),
        (ENGLISH, ["He said no.", " She left in Jan.", " Then he came."]),
        (ENGLISH, ["From Jan.–Mar. he ran, ca. AD 12."]),
        (ENGLISH, ["Call ext. 7 or see vol. II, i.e. ~$4.40, born c. 1450.", " It cost 5.", " $6 is more."]),
        (ENGLISH, ["approx. five, i.e. 3.14 of example.com at 10:30"]),
        (ENGLISH, ["1. First item.", " 2. Second."]),
        (ENGLISH, ["It is I.", " He knew."]),
        (Language.JAPANESE, ["はい。", "いいえ。"]),
        (Language.KOREAN, ["네. ", "아니요!"]),
    ],
)
def test_clauses(language: Language, pieces: list[str]) -> None:
    pieces = [piece.rstrip() if piece.endswith(" ") else piece for piece in pieces]
    joined = "".join(pieces) if language.writes_without_spaces else " ".join(piece.strip() for piece in pieces)
    assert [piece.strip() for piece in _pieces(joined, language)] == [piece.strip() for piece in pieces]


def test_chinese_clause_marks_do_not_end_a_sentence() -> None:
    text = "一、二；三：四。五"
    assert sentence_ends(text) == [text.index("五")]


def test_long_piece_is_cut_at_a_comma_or_a_space_or_anywhere() -> None:
    assert split_near_middle("one two three, four five six") == len("one two three,")
    assert split_near_middle("one two three four") == len("one two ")
    assert split_near_middle("好" * 10) == 5
    assert split_near_middle("ab") == 1
    # A comma close to the end would leave a very short piece.
    assert split_near_middle("a, " + "word " * 20) > 20


def test_words_numbers_and_tags_are_not_cut() -> None:
    text = "好" * 8 + "example" + "好" * 9
    at = split_near_middle(text)
    assert "example" in text[:at] or "example" in text[at:]
    masked = Layout.of("好好好好[j][ǐ]好好好好", COSYVOICE3_TEXT.tags).masked
    at = split_near_middle(masked)
    assert not 4 < at < 10


def _blocks(text: str) -> list[str]:
    return [text[block.start : block.end] for block in blocks(Layout.of(text, COSYVOICE3_TEXT.tags))]


def test_lines_and_pauses_end_blocks() -> None:
    assert _blocks("\nTitle\n\nline one\r\nline two\u2028three") == [
        "\nTitle\n\n",
        "line one\r\n",
        "line two\u2028",
        "three",
    ]
    assert _blocks("a[pause 1]b") == ["a[pause 1]", "b"]


def test_wrapped_lines_are_one_paragraph() -> None:
    wrapped = (
        "It was the best of times, it was the worst of times, it was the age\n"
        "of wisdom, it was the age of foolishness, it was the epoch of belief,\n"
        "it was the epoch of incredulity."
    )
    assert _blocks(wrapped + "\n\nNext.") == [wrapped + "\n\n", "Next."]
    assert is_wrapped(wrapped.split("\n"))
    assert is_wrapped(["好" * 30, "好" * 30, "好" * 10])


@pytest.mark.parametrize(
    "lines",
    [
        ["Roses are red", "violets are blue"],
        ["This line is rather long, longer than fifty columns, and ends here.", "Short.", "Another line of text"],
        ["好" * 30, "好" * 10],
        [
            "A line of a play that is longer than fifty columns, as lines may be.",
            "And the next one is as long, and it too begins with a capital.",
        ],
    ],
)
def test_lines_with_intended_breaks_are_not_joined(lines: list[str]) -> None:
    assert not is_wrapped(lines)
