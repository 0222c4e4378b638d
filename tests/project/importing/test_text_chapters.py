"""Chapters of plain text, and Markdown whose lines look like lists, tables or tags."""

from __future__ import annotations

import pytest

from studio.project.importing.blocks import Block
from studio.project.importing.markdown import blocks_of_markdown
from studio.project.importing.text_chapters import blocks_of_text


def titles(text: str) -> list[str]:
    return [block.text for block in blocks_of_text(text) if block.level]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CHAPTER I\n\nRain.\n\nCHAPTER II\n\nSnow.\n", ["CHAPTER I", "CHAPTER II"]),
        ("Prologue\n\nWind.\n\nChapter One: Home\n\nRain.\n", ["Prologue", "Chapter One: Home"]),
        (
            "CHAPTER I.\nThe Storm\n\nRain.\n\nCHAPTER II.\nThe Calm\n\nSun.\n",
            ["CHAPTER I. The Storm", "CHAPTER II. The Calm"],
        ),
        ("第一章 归来\n下雨了。\n第二章 离去\n下雪了。\n", ["第一章 归来", "第二章 离去"]),
        ("1\n\nRain.\n\n2\n\nSnow.\n", ["1", "2"]),
        ("Prologue\n\nWind.\n\nI\n\nRain.\n\nII\n\nSnow.\n", ["Prologue", "I", "II"]),
        ("Глава первая\n\nA.\n\nГлава вторая\n\nB.\n", ["Глава первая", "Глава вторая"]),
        ("Erstes Kapitel\n\nA.\n\nZweites Kapitel\n\nB.\n", ["Erstes Kapitel", "Zweites Kapitel"]),
        ("Chapitre premier\n\nA.\n\nChapitre deux\n\nB.\n", ["Chapitre premier", "Chapitre deux"]),
        ("I. Home\n\nRain.\n\nII. Away\n\nSnow.\n", ["I. Home", "II. Away"]),
        ("Chapter 1\nChapter 2\n\nChapter 1\n\nRain.\n\nChapter 2\n\nSnow.\n", ["Chapter 1", "Chapter 2"]),
    ],
)
def test_headings_begin_chapters(text: str, found: list[str]) -> None:
    assert titles(text) == found
    assert [block.text.strip()[-1] for block in blocks_of_text(text) if not block.level][-1] in ".。"


@pytest.mark.parametrize(
    "text",
    [
        "He told it as in\nChapter 3 of the book.\n\nChapter 4 was better.\n\nChapter 5 was not.\n",
        "1. Buy milk.\n2. Go home.\n",
        "CHAPTER I\n\nOnly one.\n",
        "第一章讲了三件事。\n第二章讲了四件事。\n",
        "In 1984\n\n12\n\nRain.\n",
    ],
)
def test_other_text_has_no_chapters(text: str) -> None:
    assert blocks_of_text(text) == [Block(text)]


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("It was the summer of\n1986. Nothing was the same.", ["It was the summer of 1986. Nothing was the same."]),
        ("The `a|b` operator\nis | here.", ["The a|b operator is | here."]),
        ("One<br>two<br/>three.", ["One two three."]),
        ("<details><summary>More</summary>Text below.</details>", ["More", "Text below."]),
        ("<div hidden>no</div>\n\nYes.", ["Yes."]),
        ("A note[^1] here.\n\n[^1]: Long\n    and wrapped.\n\nAfter.", ["A note here.", "After."]),
        ("|Who:|Ada|\n|-|-|\n|Where|Home|\n", ["Who: Ada", "Where, Home"]),
        ("    An indented paragraph.\n", ["An indented paragraph."]),
        ("Setext *title*\n---\n\n1. one\n   - two\n", ["Setext title", "one", "two"]),
    ],
)
def test_markdown_keeps_its_words_and_spaces(markdown: str, words: list[str]) -> None:
    assert [block.text for block in blocks_of_markdown(markdown)] == words


def test_the_work_for_chapters_grows_with_their_number() -> None:
    """A quadratic reader would take minutes."""
    assert len(titles("".join(f"Chapter 1: No. A{number}\n" for number in range(50_000)))) == 50_000
