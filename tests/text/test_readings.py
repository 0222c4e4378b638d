"""The table of readings: how people read a text, written by hand, and what is not read so yet."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from studio.text.cleaning import clean
from studio.text.language import Language
from studio.text.normalize import normalize

FOLDER = Path(__file__).with_name("readings")
MIN_ROWS = {"en": 250, "zh": 200} | dict.fromkeys(("ja", "ko", "de", "es", "fr", "it", "ru"), 25)
MIN_CATEGORIES = 40


@cache
def rows() -> tuple[tuple[str, str, str, frozenset[str]], ...]:
    """Return category, language, text and accepted readings."""
    found = []
    for path in sorted(FOLDER.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for category, language, text, readings in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                written = text.encode("ascii", "backslashreplace").decode("unicode_escape")
                found.append((category, language, written, frozenset(readings.split("|"))))
    return tuple(found)


def wrong_readings(language: str) -> list[tuple[str, str, str]]:
    """Return category, text and reading of the rows of ``language`` that are not accepted."""
    wrong = []
    for category, of_language, text, accepted in rows():
        if of_language == language:
            spoken = normalize(clean(text).text, Language(language)).text.strip()
            if spoken not in accepted:
                wrong.append((category, text, spoken))
    return wrong


def test_the_table_is_large_enough() -> None:
    languages = Counter(language for _, language, _, _ in rows())
    assert all(languages[language] >= number for language, number in MIN_ROWS.items()), languages
    assert len({category for category, _, _, _ in rows()}) >= MIN_CATEGORIES


@pytest.mark.parametrize("language", MIN_ROWS)
def test_readings_are_accepted(language: str) -> None:
    assert wrong_readings(language) == []


if __name__ == "__main__":  # python tests/text/test_readings.py prints what is not accepted
    for each in MIN_ROWS:
        for row in wrong_readings(each):
            sys.stdout.write("\t".join((each, *row)) + "\n")
