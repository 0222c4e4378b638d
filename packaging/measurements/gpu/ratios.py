"""Comparison with the official implementation: both sides measured alternately, and the ratio of the medians.

A ratio is the official time over ours. ``gate`` is the minimum, ``target`` the goal, and ``stretch`` exceeds
published results.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

Entry = dict[str, Any]


class Side(Protocol):
    def measured(self, measure: str, arguments: dict[str, int]) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Row:
    """``prompt`` and ``count`` are tokens, 25 per second; ``number`` is the number of concurrent lines."""

    name: str
    says: str
    measure: str
    arguments: dict[str, int]
    gate: float
    target: float
    stretch: float


# A prompt of 10 s has 250 tokens, or 240 if enrolment trims it for an early first chunk.
ROWS = (
    Row("R1", "time to first audio, 10-s prompt, warm voice", "first_audio", {"prompt": 250, "count": 250}, 8, 10, 15),
    Row("R1-240", "the same, prompt cut as enrolment does", "first_audio", {"prompt": 240, "count": 250}, 8, 10, 15),
    Row("R3", "language model, one token", "llm_decode", {"prompt": 75, "count": 150}, 5, 8, 15),
    Row("R4", "flow of the first chunk, 10-s prompt", "first_chunk_flow", {"prompt": 250}, 4, 6, 10),
    Row("R4-240", "the same, prompt cut as enrolment does", "first_chunk_flow", {"prompt": 240}, 4, 6, 10),
    Row("R5", "all flow of a stream of 10 s, 10-s prompt", "stream_flow", {"prompt": 250, "count": 250}, 6, 8, 12),
    Row("R8", "streaming real-time factor, 10-s prompt", "stream", {"prompt": 250, "count": 250}, 4, 6, 10),
    Row(
        "R12",
        "16 whole lines at once against one by one",
        "lines",
        {"number": 16, "prompt": 250, "count": 150},
        3,
        5,
        10,
    ),
)


def small(row: Row) -> Row:
    """A short version, to test this program; its figures are meaningless."""
    least = {"prompt": 30, "count": 32, "number": 2}
    return replace(row, arguments={name: least[name] for name in row.arguments})


def compare(row: Row, official: Side, ours: Side, *, rounds: int, most_seconds: float = math.inf) -> Entry:
    """Alternate the sides, so that heat and load affect both; start no round after ``most_seconds``."""
    seconds: dict[str, list[float]] = {"official": [], "ours": []}
    loads: list[float] = []
    begun = time.monotonic()
    while len(loads) < rounds and (not loads or time.monotonic() - begun < most_seconds):
        for name, side in (("official", official), ("ours", ours)):
            answer = side.measured(row.measure, row.arguments)
            if "error" in answer:
                return asdict(row) | {"error": f"{name}: {answer['error']}"}
            seconds[name].append(answer["seconds"])
        loads.append(_load())
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratio = medians["official"] / medians["ours"]
    entry = asdict(row) | {"ratio": ratio, "median_seconds": medians, "rounds": seconds, "highest_load": max(loads)}
    entry |= {"p95_seconds": {name: _p95(values) for name, values in seconds.items()}}
    print(f"{row.name}: {ratio:.2f} x ({row.says})", file=sys.stderr, flush=True)
    return entry | {"reached": [word for word in ("gate", "target", "stretch") if ratio >= getattr(row, word)]}


def _p95(values: Sequence[float]) -> float:
    """The 95th percentile; the maximum of few values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
