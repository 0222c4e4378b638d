"""The recognisers in the settings are those that the program knows."""

from __future__ import annotations

import json

from studio.paths import resources
from studio.settings import RECOGNIZER
from studio.take_checks.recognizers.choice import AUTO, EMBEDDED, OFF


def test_every_known_recogniser_can_be_chosen() -> None:
    names = {json.loads(path.read_text("utf-8"))["name"] for path in (resources() / "catalog").glob("*.json")}
    chosen = {option.value for option in RECOGNIZER.options} - {AUTO, OFF, EMBEDDED.name}
    assert chosen == {"SenseVoiceSmall"} <= names
