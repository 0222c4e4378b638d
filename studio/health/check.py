"""Result of one check: a verdict, a finding, and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from studio.messages import Message

_NOTHING = Message("")


class Verdict(Enum):
    FINE = "fine"
    LIMITED = "limited"
    BROKEN = "broken"  # synthesis does not work


@dataclass(frozen=True, slots=True)
class Check:
    """``remedy`` is empty if the verdict is FINE."""

    subject: Message
    verdict: Verdict
    finding: Message
    remedy: Message = _NOTHING
