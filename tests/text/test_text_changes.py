"""Changes between written and spoken text."""

from __future__ import annotations

import pytest

from studio.text.changes import find_changes
from studio.text.cleaning import clean
from studio.text.language import Language
from studio.text.normalize import normalize
from studio.text.respellings import fold_to_ascii


def test_changes_have_reasons_and_places() -> None:
    written = "Tom &amp; I paid $12.50 in 1998"
    cleaned = clean(written)
    spoken = normalize(cleaned.text, Language.ENGLISH)
    changes = list(find_changes(written, spoken.text, (*cleaned.steps, *spoken.steps)))
    assert [(change.before, change.after, change.subject) for change in changes] == [
        ("&amp;", "and", "entity"),
        ("$12.50", "twelve dollars fifty", "money"),
        ("1998", "nineteen ninety eight", "number"),
    ]
    assert [spoken.text[change.start : change.end] for change in changes] == [change.after for change in changes]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Dr. Smith is late.", [("Dr.", "doctor", "abbreviation")]),
        ("It cost $12.50 at noon, or 3.5 km.", [
            ("$12.50", "twelve dollars fifty", "money"), ("3.5 km", "three point five kilometers", "unit")
        ]),
        ("It was 5 km.", [("5 km", "five kilometers", "unit")]),
    ],
)  # fmt: skip
def test_points_within_numbers_are_not_taken_for_the_end_of_the_sentence(
    written: str, expected: list[tuple[str, str, str]]
) -> None:
    spoken = normalize(written, Language.ENGLISH)
    changes = find_changes(written, spoken.text, spoken.steps)
    assert [(change.before, change.after, change.subject) for change in changes] == expected


def test_an_added_full_stop_is_no_change() -> None:
    assert list(find_changes("Good morning", "Good morning.")) == []


def test_letters_that_a_small_vocabulary_lacks_are_folded() -> None:
    assert fold_to_ascii("“It is late,” he said") == '"It is late," he said'
    assert fold_to_ascii("He paused — then spoke…") == "He paused, then spoke."
    assert fold_to_ascii("“Well… are you sure…?”") == '"Well... are you sure?"'
    assert fold_to_ascii('"I do not know..."') == '"I do not know."'
    assert fold_to_ascii("café naïve Łódź œuvre 好") == "cafe naive Lodz oeuvre 好"
