"""Which candidate of each stage is to speak, by what was found. No torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Entry = dict[str, Any]


def fastest_in_words(entries: Iterable[Entry]) -> dict[str, str]:
    """Of each stage the name of the fastest that was verified."""
    best: dict[str, Entry] = {}
    for entry in entries:
        if "error" in entry or "verification" not in entry or entry["verification"]["complaint"] is not None:
            continue
        before = best.get(entry["stage"])
        if before is None or _seconds(entry) < _seconds(before):
            best[entry["stage"]] = entry
    return {stage: entry["name"] for stage, entry in best.items()}


def _seconds(entry: Entry) -> float:
    return float(entry["timing"]["seconds_per_audio_second"])
