"""The fastest verified candidate of each stage, from the results. Does not import torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Entry = dict[str, Any]


def fastest_in_words(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the name of the fastest verified candidate of each stage."""
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
