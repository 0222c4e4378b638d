"""Splitting of text that arrives in pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from studio.text.segmentation import IncrementalText, Pause, Sentence, prepare_text
from studio.text.split import IncrementalSplitter
from studio.text.tokenizer import COSYVOICE3_TEXT
from studio.worker.normalization import ApproximateTokenizer


def _fed(*pieces: str) -> list[list[str]]:
    splitter = IncrementalSplitter(COSYVOICE3_TEXT.tags)
    return [*(splitter.feed(piece) for piece in pieces), splitter.finish()]


def test_sentence_is_returned_when_the_next_word_begins() -> None:
    assert _fed("This sentence is complete. ", "A", "nd so on.") == [
        [],
        ["This sentence is complete."],
        [],
        [" And so on."],
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("It costs about 3.", "14 dollars today. X"), [[], ["It costs about 3.14 dollars today."], [" X"]]),
        (("This was made by Dr. ", "Smith himself."), [[], [], ["This was made by Dr. Smith himself."]]),
        (("“他说的话真的很有道理，我都听他的。", "”他走"), [[], ["“他说的话真的很有道理，我都听他的。”"], ["他走"]]),
        (("What on earth is he saying?", "! Y"), [[], ["What on earth is he saying?!"], [" Y"]]),
        (("我……", "不知道"), [[], [], ["我……不知道"]]),
    ],
)
def test_following_text_may_change_the_end_of_a_sentence(pieces: tuple[str, ...], expected: list[list[str]]) -> None:
    assert _fed(*pieces) == expected


def test_line_break_ends_a_short_line() -> None:
    assert _fed("hello", "\n", "again\r", "\nmore") == [[], ["hello\n"], [], ["again\r\n"], ["more"]]


def test_wrapped_lines_are_joined_and_a_closed_long_line_is_returned_at_once() -> None:
    line = "It was the best of times, it was the worst of times, it was the age"
    assert _fed(line + "\n", "of wisdom. Then") == [[], [line + " of wisdom."], [" Then"]]
    assert _fed(line + "\n", "Of wisdom. Then") == [[], [line + "\n", "Of wisdom."], [" Then"]]
    assert _fed(line + ".\n") == [[line + ".\n"], []]


def test_short_sentences_of_one_piece_are_joined() -> None:
    assert _fed("Yes. No. Maybe. This is a somewhat longer sentence. It") == [
        ["Yes. No. Maybe. This is a somewhat longer sentence."],
        [" It"],
    ]


def test_tags_are_never_split() -> None:
    pieces = list("Well[laughter] he said <strong>now. Really</strong> and left[pause 0.5]. Z")
    assert [part for parts in _fed(*pieces) for part in parts] == [
        "Well[laughter] he said <strong>now. Really</strong> and left[pause 0.5].",
        " Z",
    ]


def test_endless_text_is_cut_at_a_comma() -> None:
    given = [part for parts in _fed(*(["and then, "] * 60)) for part in parts]
    assert len(given) > 2
    assert all((len(part) <= 241 and part.endswith(",")) or part is given[-1] for part in given)
    assert "".join(given) == "and then, " * 60


def test_finish_returns_nothing_if_no_text_remains() -> None:
    assert _fed("Done.\n") == [["Done.\n"], []]
    assert _fed() == [[]]


_BITS = [
    "It was late.", "Mr. Smith paid $12.50 for it.", "Nobody came! Why?", "the quiet harbour", "known[1] and proven[12].",
    '<a href="https://example.com/a.html?b=c" title="A. B. C">the link</a>', "Tom &amp; Jerry", "caf&eacute;", "&#8220;Yes.&#8221;",
    '<break time="500ms"/>', '<sub alias="World. Wide. Web">WWW</sub>', "<script>var a = 1. And b = 2!</script>", "<!-- A note. Two. -->",
    "[the docs. And more](https://example.com/x)", "**bold words. Really**", "<|im_start|>", "<b>bold. Text</b>", "the beauti-\nful garden",
    "at 5 p.m. on Monday.", "3.14 is pi.", "[laughter]", "a < b", "\n\n", "\n", "<br/>", "You owe me 5 < 6.",
]  # fmt: skip


def _spoken(items: list[Sentence | Pause]) -> str:
    joined = "".join(item.spoken if isinstance(item, Sentence) else f"[{item.seconds}]" for item in items)
    return "".join(character for character in joined if character.isalnum() or character in "[]")


@settings(max_examples=150, deadline=None)
@given(bits=st.lists(st.sampled_from(_BITS), min_size=1, max_size=7), cuts=st.lists(st.integers(1, 400), max_size=8))
@example(
    bits=[
        "Mr. Smith paid $12.50 for it.",
        '<a href="https://example.com/a.html?b=c" title="A. B. C">the link</a>',
        "Tom &amp; Jerry",
        "It was late.",
        "the quiet harbour",
        '<a href="https://example.com/a.html?b=c" title="A. B. C">the link</a>',
        "Mr. Smith paid $12.50 for it.",
    ],
    cuts=[],
)
def test_text_in_pieces_is_spoken_as_the_same_text_at_once(bits: list[str], cuts: list[int]) -> None:
    text = "Once upon a time. " + " ".join(bits)
    places = [0, *sorted({cut for cut in cuts if cut < len(text)}), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    tokenizer = ApproximateTokenizer()
    whole = prepare_text(text, form=COSYVOICE3_TEXT, tokenizer=tokenizer)
    arriving = IncrementalText()
    parts = [part for piece in pieces for part in arriving.feed(piece)] + arriving.finish()
    arrived = [
        item
        for index, part in enumerate(parts)
        for item in prepare_text(
            part.text, form=COSYVOICE3_TEXT, tokenizer=tokenizer, language=part.language, is_continued=index > 0
        )
    ]
    assert _spoken(arrived) == _spoken(whole)
