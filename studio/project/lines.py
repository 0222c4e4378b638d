"""A line of the script: text, voice and style."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import Enum

from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED
from studio.errors import UnusableSetting
from studio.model.config import SamplingOptions

LONGEST_PAUSE_SECONDS = 60.0
DEFAULT_PAUSE_SECONDS = 0.3
LARGEST_SEED = 2**63 - 1
_RANGE = "Choose {lowest:g} to {highest:g}."


def new_id() -> str:
    """Return a random id for a line or a take."""
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The id of a style preset, or a free instruction, or neither."""

    preset: str | None = None
    instruct: str | None = None

    def __post_init__(self) -> None:
        if self.preset and self.instruct:
            raise UnusableSetting(
                "A line cannot have both a style preset and an instruction.", remedy="Remove one of them."
            )

    @property
    def is_plain(self) -> bool:
        return not (self.preset or self.instruct)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script. It is immutable: an edited line is a new value with the same ``id``.

    Attributes:
        voice: The name of a voice in the library.
        seed: The seed of its takes, or None to draw one for each take.
        sampling: The sampling options, or None for the defaults of the model.
        is_locked: Whether the line is protected from accidental editing and speaking.
        file_name: The name of the exported file, without suffix.
    """

    id: str
    text: str = ""
    voice: str | None = None
    style: LineStyle = LineStyle()
    speed: float = 1.0
    seed: int | None = None
    sampling: SamplingOptions | None = None
    pause_after_seconds: float = DEFAULT_PAUSE_SECONDS
    is_locked: bool = False
    chosen_take: str | None = None
    file_name: str | None = None

    def __post_init__(self) -> None:
        if not SLOWEST_SPEED <= self.speed <= FASTEST_SPEED:
            raise UnusableSetting(
                "The speed {speed:g} is out of range.",
                remedy=_RANGE,
                speed=self.speed,
                lowest=SLOWEST_SPEED,
                highest=FASTEST_SPEED,
            )
        if not 0.0 <= self.pause_after_seconds <= LONGEST_PAUSE_SECONDS:
            raise UnusableSetting(
                "The pause {seconds:g} s is out of range.",
                remedy=_RANGE,
                seconds=self.pause_after_seconds,
                lowest=0,
                highest=LONGEST_PAUSE_SECONDS,
            )
        if self.seed is not None and not 0 <= self.seed <= LARGEST_SEED:
            raise UnusableSetting(
                "The seed {seed} is out of range.", remedy=_RANGE, seed=self.seed, lowest=0, highest=LARGEST_SEED
            )
        object.__setattr__(self, "text", sanitize(self.text))


class LineState(Enum):
    """State of a line. Only the window assigns the last three."""

    DRAFT = "draft"  # no take is chosen
    OUTDATED = "stale"  # the line was changed after the chosen take was synthesised
    CHECK = "check"  # the chosen take is too short or too long for its text, and not marked as kept
    READY = "ready"
    QUEUED = "queued"
    SPEAKING = "speaking"
    FAILED = "failed"


def sanitize(text: str) -> str:
    """Return ``text`` without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "ignore").decode("utf-8")
