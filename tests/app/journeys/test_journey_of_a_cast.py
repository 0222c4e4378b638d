"""A narrator gives the dialogue of a novel to its characters in the real program."""

from __future__ import annotations

import pytest
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]


def test_a_novel_becomes_a_full_cast_with_a_few_keys(traveller: Traveller) -> None:
    report = traveller.take("full_cast")
    require_effort(report, keys=4, clicks=2)
    found = report["found"]
    speakers = [name for name, text in found["lines"] if text.startswith("“")]
    assert speakers == ["Martha", "Martha", "Tom", "Tom", "the stranger", "Tom", "the stranger"]
    assert None in [name for name, _ in found["lines"]]
    assert len(set(found["voices"].values())) == len(found["voices"]) == 3
