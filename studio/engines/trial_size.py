"""How much a candidate is tried with: enough to find it wrong, little enough for the machine at hand."""

from __future__ import annotations

from dataclasses import dataclass

from studio.engines.stage import Device, DeviceKind


@dataclass(frozen=True, slots=True)
class TrialSize:
    """``num_tokens`` of speech (25 a second) are compared; ``num_seeds`` further lines of that length must stay finite.

    Timing takes up to ``num_rounds`` turns, and begins no further one after ``timing_seconds``.
    """

    num_tokens: int
    num_seeds: int
    num_rounds: int
    timing_seconds: float


# A processor needs seconds for each second of speech.
_ON_PROCESSOR = TrialSize(num_tokens=60, num_seeds=1, num_rounds=3, timing_seconds=60.0)
# Overflow of 16 bits shows late in a line and not in every one: 30 s, 20 times.
_ON_CARD = TrialSize(num_tokens=750, num_seeds=20, num_rounds=5, timing_seconds=30.0)


def usual_extent(place: Device) -> TrialSize:
    return _ON_PROCESSOR if place.kind is DeviceKind.CPU else _ON_CARD
