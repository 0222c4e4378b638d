"""The reference explains every error code."""

from __future__ import annotations

from pathlib import Path

from studio.errors import type_of_code
from studio.health.error_reference import code_meanings

README = Path(__file__).parents[2] / "README.md"


def test_every_error_code_has_a_cause_and_a_remedy() -> None:
    meanings = code_meanings()
    assert sorted(meaning.code for meaning in meanings) == sorted(type_of_code), "add the new error to the reference"
    for meaning in meanings:
        for words in (str(meaning.cause), str(meaning.remedy)):
            assert words[0].isupper() or words[0] == "`"
            assert words.endswith(".")
            assert "{" not in words, "the reference has no facts to fill in"
        assert meaning.exit_status == type_of_code[meaning.code].exit_status


def test_codes_are_ordered_by_exit_status() -> None:
    statuses = [meaning.exit_status for meaning in code_meanings()]
    assert statuses == sorted(statuses)
