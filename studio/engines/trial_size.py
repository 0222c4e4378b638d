"""How much speech a trial verifies and times: enough to find errors, little enough for the device."""

from __future__ import annotations

from dataclasses import dataclass

from studio.engines.stage import Device


@dataclass(frozen=True, slots=True)
class TrialSize:
    """``num_tokens`` of speech (25 a second) are compared; ``num_seeds`` further lines of that length must stay finite.

    Timing takes up to ``num_rounds`` rounds and starts no round after ``timing_seconds``.
    """

    num_tokens: int
    num_seeds: int
    num_rounds: int
    timing_seconds: float


# A CPU needs several seconds for each second of speech.
_ON_CPU = TrialSize(num_tokens=60, num_seeds=1, num_rounds=3, timing_seconds=60.0)
# 16-bit overflow occurs only in some lines and only after many tokens, hence 20 lines of 30 s.
_ON_GPU = TrialSize(num_tokens=750, num_seeds=20, num_rounds=5, timing_seconds=30.0)


def default_trial_size(device: Device) -> TrialSize:
    return _ON_GPU if device.kind.is_gpu else _ON_CPU
