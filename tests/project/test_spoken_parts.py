"""Parts of a text and their shares of the speech."""

from __future__ import annotations

import pytest

from studio.project.spoken_parts import part_at_shares, part_of_text

TEXT = "[breath] Nobody had told the gulls, though, and they went on."


@pytest.mark.parametrize(("text", "selected", "spoken"), [
    (TEXT, "told the gulls", "told the gulls,"),
    (TEXT, "old the gul", "told the gulls,"),
    (TEXT, "gulls", "gulls,"),
    (TEXT, "they went on", "they went on."),
    ("那天早上，港口很安静。", "港口很安静", "港口很安静。"),
    ("Yes.", "Yes", "Yes."),
])  # fmt: skip
def test_a_part_consists_of_whole_words(text: str, selected: str, spoken: str) -> None:
    start = text.index(selected)
    part = part_of_text(text, start, start + len(selected))
    assert part is not None
    assert text[part.start : part.end] == spoken


def test_tags_and_punctuation_are_no_words() -> None:
    assert part_of_text(TEXT, 0, 8) is None
    assert part_of_text("…", 0, 1) is None
    assert part_of_text("", 0, 0) is None


def test_shares_count_letters_and_no_tags() -> None:
    part = part_of_text(TEXT, TEXT.index("and"), len(TEXT))
    assert part is not None
    assert part.start_share == pytest.approx(1 - len("andtheywenton") / len("Nobodyhadtoldthegullsthoughandtheywenton"))
    assert part.end_share == 1.0


def test_the_words_of_a_span_are_found_again() -> None:
    part = part_of_text(TEXT, TEXT.index("told"), TEXT.index("though"))
    assert part is not None
    assert part_at_shares(TEXT, part.start_share, part.end_share) == part
    assert part_at_shares(TEXT, 0.5, 0.501) is None
