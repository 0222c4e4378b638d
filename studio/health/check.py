"""What a look at something found: a sentence, a verdict, and a remedy where one is needed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from studio.wording import Message

_NOTHING = Message("")


class Verdict(Enum):
    FINE = "fine"
    LIMITED = "limited"
    BROKEN = "broken"  # the program cannot speak


@dataclass(frozen=True, slots=True)
class Check:
    """``remedy`` is empty where all is fine."""

    subject: Message
    verdict: Verdict
    finding: Message
    remedy: Message = _NOTHING
