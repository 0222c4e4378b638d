"""The dialogue of the annotated passages is found and assigned to the right characters."""

from __future__ import annotations

import pytest
from annotated_passages import FILES, HALVES, read_passages, score

MIN_FOUND = 0.98
MIN_RIGHT = {"English": 0.85, "Chinese": 0.80}
MIN_SURE_RIGHT = 0.95
MIN_SURE = 0.5  # share of the quotations above the confidence limit


def test_the_corpus_has_passages_written_for_it_and_public_domain_ones() -> None:
    counts = {name: len(read_passages(name)) for names in FILES.values() for name in names}
    assert counts["english.txt"] >= 60
    assert counts["chinese.txt"] >= 60
    assert counts["classics_english.txt"] + counts["classics_chinese.txt"] >= 30
    for name in counts:
        for passage in read_passages(name):
            assert passage.quotations, passage.title
            assert {key for _, _, key in passage.quotations} <= {*passage.names, "?"}, passage.title


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("language", FILES)
def test_quotations_are_found_and_have_the_right_speakers(language: str, half: str) -> None:
    result = score(language, half)
    assert result.found >= MIN_FOUND, str(result)
    assert result.num_extra <= (1 - MIN_FOUND) * result.num_annotated, str(result)
    assert result.right >= MIN_RIGHT[language], str(result)
    assert result.sure_right >= MIN_SURE_RIGHT, str(result)
    assert result.num_sure >= MIN_SURE * result.num_named, str(result)
