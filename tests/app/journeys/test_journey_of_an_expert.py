"""An expert tries instructions, the blind comparison, engines, diagnostics and shortcuts."""

from __future__ import annotations

import pytest
from traveller import Traveller, require_effort
from virtual_screen import needs_screen

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1), pytest.mark.timeout(1800), needs_screen]


def test_the_tools_of_an_expert_work_by_keys_and_mouse(traveller: Traveller) -> None:
    from expert_tour import INSTRUCTION, NUM_TAKES

    report = traveller.take("expert_tour")
    require_effort(report, keys=14, clicks=14)
    found = report["found"]
    assert found["instruction"] == INSTRUCTION
    assert len(set(found["seeds"])) == NUM_TAKES
    assert found["instructions_of_takes"] == NUM_TAKES * [INSTRUCTION]
    assert set(found["engines"]) >= {"speech-lm", "flow", "vocoder"}
    assert "PyTorch" in found["engines"]["speech-lm"]
    assert len(found["checks"]) >= 5
    assert found["chosen_take"] == found["preferred"]
    assert found["is_kept"].count(True) == 1
