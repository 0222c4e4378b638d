"""Splitting of pasted text into lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.project.splitting import SplitMode, split_text, unwrap


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("  \n\n ", []),
        ("One sentence.", ["One sentence."]),
        ("First sentence. Second sentence! Third one?", ["First sentence.", "Second sentence!", "Third one?"]),
        ("Dr. Smith paid 3.14 dollars. He left.", ["Dr. Smith paid 3.14 dollars.", "He left."]),
        ("今天天气很好。我们出去玩吧！你觉得怎么样？", ["今天天气很好。", "我们出去玩吧！", "你觉得怎么样？"]),
        ("嗯。今天天气很好。", ["嗯。今天天气很好。"]),
        ("No. I will not. Oh!", ["No. I will not. Oh!"]),
        ("I will not go. No.", ["I will not go. No."]),
        ("A heading\n\nThe first paragraph.", ["A heading", "The first paragraph."]),
        ("A poem has\nlines of its own", ["A poem has", "lines of its own"]),
        ("One line.\r\nAnother line.\r\n", ["One line.", "Another line."]),
        ("Before the stars.\n* * *\nAfter the stars.", ["Before the stars.", "After the stars."]),
        ("“Are you sure?” he asked. “Yes, I am.”", ["“Are you sure?” he asked.", "“Yes, I am.”"]),
        (
            "A <strong>very long. Strong part</strong> stays together. So it is.",
            ["A <strong>very long. Strong part</strong> stays together.", "So it is."],
        ),
        ("[laughter] Oh, that was good! [breath]", ["[laughter] Oh, that was good! [breath]"]),
        ("It was good! [breath] Then he left.", ["It was good!", "[breath] Then he left."]),
        ("It was good!\n[cough]\nThen he left.", ["It was good!", "[cough]", "Then he left."]),
        ("He waited. [pause 1.5] Then he spoke.", ["He waited.", "[pause 1.5] Then he spoke."]),
        ("An endless [pause 9999] pause. Another sentence.", ["An endless [pause 9999] pause.", "Another sentence."]),
        ("Say [W][AY1][N][D] now. Good, is it not?", ["Say [W][AY1][N][D] now.", "Good, is it not?"]),
        ("[laughter]", ["[laughter]"]),
    ],
)
def test_sentences_become_lines(text: str, lines: list[str]) -> None:
    assert split_text(text) == lines


def test_paragraphs_become_lines_on_request() -> None:
    text = "First sentence. Second sentence.\n\n第一句话。第二句话。\nHe waited. [pause 2] Then he spoke."
    assert split_text(text, SplitMode.PARAGRAPH) == [
        "First sentence. Second sentence.",
        "第一句话。第二句话。",
        "He waited. [pause 2] Then he spoke.",
    ]


def test_wrapped_lines_are_joined() -> None:
    text = (
        "It was the best of times, it was the worst of times, it was the age\n"
        "of wisdom, it was the age of foolishness, it was the epoch of belief,\n"
        "it was the epoch of incredulity.\n"
    )
    (line,) = split_text(text)
    assert line == " ".join(text.split())


def test_wrapped_chinese_lines_are_joined_without_spaces() -> None:
    assert (
        unwrap("他叹了口气……\n电量只剩\n——百分之七。他说：\n“走吧。”")
        == "他叹了口气……电量只剩——百分之七。他说：“走吧。”"
    )
    assert unwrap("He paused …\n“Go.”") == "He paused … “Go.”"


PIECES = [
    "ab",
    "c",
    " ",
    ".",
    "。",
    "！",
    "\n",
    "\n\n",
    "“",
    "”",
    "<strong>",
    "</strong>",
    "[pause 1]",
    "中文",
    ",",
    "\t",
    "* *",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_splitting_keeps_all_words(text: str) -> None:
    for breaks in SplitMode:
        lines = split_text(text, breaks)
        assert all(line == line.strip() and "\n" not in line for line in lines)
        words = "".join(lines).replace("[pause 1]", "").replace("strong", "")
        expected = text.replace("[pause 1]", "").replace("strong", "")
        assert [each for each in words if each.isalnum()] == [each for each in expected if each.isalnum()]


def test_a_pause_on_a_separate_line_is_kept() -> None:
    assert split_text("First line here.\n[pause 2]\nSecond line here.") == [
        "First line here. [pause 2]",
        "Second line here.",
    ]
