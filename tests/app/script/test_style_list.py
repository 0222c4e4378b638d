"""Names of the style categories."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio.app.script.style_list import StyleList
from studio.paths import resources

SHIPPED = (*resources().glob("styles/*.json"), *resources().glob("models/*/styles.json"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name + "-" + file.stem)
def test_every_shipped_style_category_has_a_name(qapp: Any, file: Any) -> None:
    styles = StyleList()
    families = [preset["family"] for preset in json.loads(file.read_text("utf-8"))["presets"]]
    assert families
    assert [family for family in families if styles.category_name(family.partition(".")[0]) == "Other"] == []
