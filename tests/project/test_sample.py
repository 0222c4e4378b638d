"""The sample script shows characters, styles, chapters and a dub in every language of the interface."""

from __future__ import annotations

from itertools import pairwise

import pytest

from studio.project.lines import Heading
from studio.project.sample import read_sample
from studio.text.language import language_of_script
from studio.text.styles import load_styles


@pytest.mark.parametrize(("language", "code"), [("en_US", "en"), ("zh_CN", "zh"), ("fr_FR", "en")])
def test_the_sample_shows_what_a_script_can_contain(language: str, code: str) -> None:
    lines = read_sample(language)
    assert language_of_script(line.text for line in lines) == code
    assert len({line.character for line in lines if line.character}) == 3
    assert sum(line.heading is Heading.CHAPTER for line in lines) == 2
    families = {style.family for style in load_styles("cosyvoice3").presets}
    assert {line.style.preset for line in lines if line.style.preset} <= families
    slots = [line.slot for line in lines if line.slot is not None and line.is_spoken]
    assert any(before.end_seconds > after.start_seconds for before, after in pairwise(slots))
    assert any(line.slot is not None and not line.is_spoken for line in lines)
