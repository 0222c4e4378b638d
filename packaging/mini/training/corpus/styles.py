"""Styles of the corpus, as changes of the teacher's reading and of its sound."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from training.teacher.network import Prosody


class Effort(Enum):
    MODAL = "modal"
    WHISPER = "whisper"
    SOFT = "soft"
    LOUD = "loud"


@dataclass(frozen=True, slots=True)
class Delivery:
    """``weight`` is the frequency of the style in the corpus."""

    weight: float
    prosody: Prosody = Prosody()
    effort: Effort = Effort.MODAL


DELIVERY_OF_STYLE: dict[str, Delivery] = {
    "normal": Delivery(66.0),
    "fast": Delivery(4.0, Prosody(rate=1.45)),
    "slow": Delivery(4.0, Prosody(rate=0.66)),
    "high": Delivery(4.0, Prosody(pitch=1.33)),
    "low": Delivery(4.0, Prosody(pitch=0.75)),
    "whisper": Delivery(4.0, Prosody(rate=0.94, range=0.8), Effort.WHISPER),
    "loud": Delivery(3.0, Prosody(pitch=1.08, range=1.15, energy=0.7), Effort.LOUD),
    "soft": Delivery(3.0, Prosody(rate=0.95, pitch=0.96, range=0.85, energy=-1.0), Effort.SOFT),
    "happy": Delivery(4.0, Prosody(rate=1.08, pitch=1.12, range=1.5, energy=0.3)),
    "sad": Delivery(4.0, Prosody(rate=0.84, pitch=0.92, range=0.55, energy=-0.7)),
}

# Styles with a higher or lower pitch than the usual one of the voice.
HEIGHT_STYLES = ("high", "low")
