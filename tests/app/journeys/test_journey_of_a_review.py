"""A narrator reviews takes with problems by keys only, in the real program."""

from __future__ import annotations

import pytest
from review_takes import LINES
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]


def test_two_spoilt_lines_of_ten_are_reviewed_with_keys_only(traveller: Traveller) -> None:
    report = traveller.take("review_takes")
    require_effort(report, keys=18, clicks=0)
    found = report["found"]
    assert found["texts"] == list(LINES)
    assert found["verdicts"] == ["good", "good", "bad", *7 * ["good"]]
    assert found["accepted"] == [False, False, True, *7 * [False]]
    assert len(list((traveller.folder / "Timbre").rglob("*.wav"))) == len(LINES)
