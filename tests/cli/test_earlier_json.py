"""Results in JSON keep the keys and types of the version of 28 November 2026: other programs read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Terminal

SHAPES = json.loads((Path(__file__).parents[1] / "earlier_version" / "json_shapes.json").read_text("utf-8"))
COMMANDS = {
    "check": ("check", "a.wav", "--text", "Hello.", "--json"),
    "doctor": ("doctor", "--json"),
    "export": ("export", "script.txt", "--voice", "Ada", "--out", "out", "--json"),
    "levels": ("levels", "a.wav", "--json"),
    "models-list": ("models", "list", "--json"),
    "say": ("say", "Hello.", "--voice", "Ada", "-o", "b.wav", "--json"),
    "styles": ("styles", "--json"),
    "voices-list": ("voices", "list", "--json"),
    "voices-show": ("voices", "show", "Ada", "--json"),
}


def shape(value: object) -> Any:
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    if isinstance(value, bool):
        return "boolean"
    return "null" if value is None else "number" if isinstance(value, int | float) else "string"


def missing(before: Any, now: Any, place: str = "") -> list[str]:
    """Return the places of ``before`` that ``now`` lacks, or at which it has another type."""
    if isinstance(before, dict) and isinstance(now, dict):
        lost = [f"{place}.{key}" for key in before if key not in now]
        return lost + [
            gone for key in before if key in now for gone in missing(before[key], now[key], f"{place}.{key}")
        ]
    if isinstance(before, list) and isinstance(now, list):
        return missing(before[0], now[0], f"{place}[]") if before and now else []
    return [] if before == now or "null" in (before, now) else [f"{place}: {before}, now {now}"]


@pytest.mark.parametrize("command", SHAPES)
def test_results_keep_their_keys(timbre: Terminal, clip: Path, command: str) -> None:
    (timbre.folder / "script.txt").write_text("Anna: Hello.\n\nBen: It was late.\n")
    (timbre.folder / "a.wav").write_bytes(clip.read_bytes())
    timbre("voices", "add", "Ada", clip, "--transcript", "The words of the recording.")
    ran = timbre(*COMMANDS[command])
    assert missing(SHAPES[command], shape(json.loads(ran.out))) == []
