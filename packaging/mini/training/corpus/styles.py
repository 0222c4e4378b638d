"""Definition of each style for all synthesizers.

Fast, slow, high and low are settings of the synthesizers. Whisper, loud and soft are created from a modal rendering
(``effects.py``), so that every timbre supports them. An accent is another set of eSpeak's pronunciation rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

DEFAULT_ACCENT = "en-us"
ACCENTS = {
    "scotland": "en-gb-scotland",
    "british": "en-gb-x-rp",
    "caribbean": "en-029",
    "new-york": "en-us-nyc",
    "lancashire": "en-gb-x-gbclan",
    "west-midlands": "en-gb-x-gbcwmd",
}


class Effort(Enum):
    MODAL = "modal"
    WHISPER = "whisper"
    SOFT = "soft"
    LOUD = "loud"


@dataclass(frozen=True, slots=True)
class Delivery:
    """A style. ``rate`` and ``f0`` are relative to the speaker; ``accent`` None keeps the speaker's accent."""

    rate: float = 1.0
    f0: float = 1.0
    effort: Effort = Effort.MODAL
    accent: str | None = None


DELIVERY_OF_STYLE: dict[str, Delivery] = {
    "normal": Delivery(),
    "fast": Delivery(rate=1.5),
    "slow": Delivery(rate=0.62),
    "high": Delivery(f0=1.38),
    "low": Delivery(f0=0.72),
    "whisper": Delivery(rate=0.95, effort=Effort.WHISPER),
    "loud": Delivery(f0=1.08, effort=Effort.LOUD),
    "soft": Delivery(f0=0.96, rate=0.96, effort=Effort.SOFT),
    **{f"accent:{name}": Delivery(accent=language) for name, language in ACCENTS.items()},
}

# Styles with a higher or lower pitch than the speaker's default.
HEIGHT_STYLES = ("high", "low")
