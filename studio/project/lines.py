"""A line of the script: what is said, by whom and how."""

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
    """A short random name for a line or a take; unique for all practical purposes."""
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How it is said: the id of a style preset, or free words; at most one of them."""

    preset: str | None = None
    instruct: str | None = None

    def __post_init__(self) -> None:
        if self.preset and self.instruct:
            raise UnusableSetting(
                "A line has either a style from the list or one in your own words.", remedy="Remove one of them."
            )

    @property
    def is_plain(self) -> bool:
        return not (self.preset or self.instruct)


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the script. Frozen: an edited line is a new value with the same ``id``.

    ``seed`` of None: another one for each take. ``sampling`` of None: as the model wants it. ``voice``
    is the name of a voice in the library. ``is_locked`` tells the window not to speak or edit the line
    by accident. ``file_name`` is what an export calls its file, without suffix.
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
                "A speed of {speed:g} is not possible.",
                remedy=_RANGE,
                speed=self.speed,
                lowest=SLOWEST_SPEED,
                highest=FASTEST_SPEED,
            )
        if not 0.0 <= self.pause_after_seconds <= LONGEST_PAUSE_SECONDS:
            raise UnusableSetting(
                "A pause of {seconds:g} s is not possible.",
                remedy=_RANGE,
                seconds=self.pause_after_seconds,
                lowest=0,
                highest=LONGEST_PAUSE_SECONDS,
            )
        if self.seed is not None and not 0 <= self.seed <= LARGEST_SEED:
            raise UnusableSetting(
                "A seed of {seed} is not possible.", remedy=_RANGE, seed=self.seed, lowest=0, highest=LARGEST_SEED
            )
        object.__setattr__(self, "text", sanitize(self.text))


class LineState(Enum):
    """What a row shows. The last four of a line that is at work are known to the window only."""

    DRAFT = "draft"  # no take is chosen
    OUTDATED = "stale"  # the chosen take was spoken from something else than the line now says
    CHECK = "check"  # the chosen take is too short or too long for its text, and the user has not kept it
    READY = "ready"
    QUEUED = "queued"
    SPEAKING = "speaking"
    FAILED = "failed"


def sanitize(text: str) -> str:
    """``text`` without half characters, which some clipboards bring and no file can hold."""
    return text.encode("utf-8", "ignore").decode("utf-8")
