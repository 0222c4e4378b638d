"""Only tags of the generation are found."""

from __future__ import annotations

from studio.text.tags import MarkKind, TagSet, TagSpan, find_marks, spans
from studio.text.tokenizer import COSYVOICE2_TEXT, COSYVOICE3_TEXT


def test_a_generation_without_tags_finds_none() -> None:
    assert find_marks("[breath] <strong>x</strong>", TagSet()) == ()


def test_adjacent_tags_are_found_separately() -> None:
    assert [mark.token for mark in find_marks("[breath][cough]", COSYVOICE2_TEXT.tags)] == ["[breath]", "[cough]"]


def test_only_exact_spellings_of_tags_are_found() -> None:
    assert find_marks("[BREATH] [ breath ] [unknown] < strong >", COSYVOICE3_TEXT.tags) == ()
    assert find_marks("<|endofsystem|><|endofprompt|>", COSYVOICE3_TEXT.tags) == ()


def test_tags_have_kind_and_position() -> None:
    assert find_marks("a<strong>[ā][pause 1]", COSYVOICE3_TEXT.tags) == (
        TagSpan(1, 9, MarkKind.OPENING, "<strong>"),
        TagSpan(9, 12, MarkKind.PHONE, "[ā]"),
        TagSpan(12, 21, MarkKind.PAUSE, seconds=1.0),
    )


def test_spans_end_with_their_closing_tag() -> None:
    def found(text: str) -> list[str]:
        return [text[start:end] for start, end in spans(find_marks(text, COSYVOICE3_TEXT.tags))]

    assert found("a <strong>b</strong> c <laughter>d</laughter>") == ["<strong>b</strong>", "<laughter>d</laughter>"]
    assert found("<strong>b</laughter> </strong>") == []
    assert found("<strong>b[pause 1]c</strong>") == []
    assert found(f"<strong>{'x' * 300}</strong>") == []
