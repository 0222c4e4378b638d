"""What the manager knows, as a picture to look at: for the terminal, the window and bug reports. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from studio.engines.manifest import Timing, Verification
from studio.engines.stage import Device, Stage
from studio.engines.task import Step
from studio.wording import Message


class Status(Enum):
    """How far a candidate has come."""

    PROVEN = "proven"
    UNTRIED = "untried"
    TRYING = "trying"
    UNUSABLE = "unusable"  # on this machine
    REFUSED = "refused"  # it was tried and is wrong
    FAILED = "failed"  # once; it is tried again at the next start
    BACKED_OFF = "resting"  # failed too often; tried again when asked
    INSUFFICIENT_RESOURCES = "no-room"  # for want of memory or disk, as long as that lasts
    BUSY = "elsewhere"  # another process is trying it

    @property
    def can_be_tried(self) -> bool:
        return self in (Status.UNTRIED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class CandidateView:
    """``reason``: a clause that says why it is not (yet) usable. ``made_at``: ISO 8601, empty where nothing is kept."""

    stage: Stage
    name: str
    engine: str
    precision: str
    key: str
    status: Status
    is_reference: bool = False
    needs_build: bool = False
    reason: Message | None = None
    verification: Verification | None = None
    timing: Timing | None = None
    num_bytes: int = 0
    made_at: str = ""

    @property
    def speedup(self) -> float:
        """Over plain float32, measured in turns with it; 0 where nobody knows."""
        return self.timing.speedup if self.status is Status.PROVEN and self.timing else 0.0


@dataclass(frozen=True, slots=True)
class StageView:
    """``chosen``: the name of the candidate that is to speak; ``in_use``: of the one that is loaded, empty where none is.

    They differ from when something faster was proven until the next line begins, and where what was loaded has not
    been tried. Candidates in the order of a list for people.
    """

    stage: Stage
    chosen: str
    candidates: tuple[CandidateView, ...]
    in_use: str = ""

    @property
    def choice(self) -> CandidateView:
        return next(candidate for candidate in self.candidates if candidate.name == self.chosen)

    @property
    def speaking(self) -> CandidateView:
        """What is loaded where anything is, else what is to speak."""
        return next((candidate for candidate in self.candidates if candidate.name == self.in_use), self.choice)

    @property
    def takes_over(self) -> bool:
        """Whether something faster than what is loaded was proven: it speaks from the next line on."""
        return bool(self.in_use) and self.in_use != self.chosen and self.choice.status is Status.PROVEN

    @property
    def reference(self) -> CandidateView:
        return self.candidates[0]


@dataclass(frozen=True, slots=True)
class CurrentTrial:
    """A trial at work: number ``index`` of ``total`` in this round, counted from 1. ``remaining_seconds`` of None: unknown."""

    stage: Stage
    name: str
    index: int
    total: int
    step: Step | None = None
    remaining_seconds: float | None = None

    @property
    def share(self) -> float:
        """Of this one trial, 0..1: its parts count alike, for nobody knows better before the first time."""
        return (self.step.index + self.step.share) / self.step.num_phases if self.step else 0.0


class EngineAction(Enum):
    """What a person may want of the engine manager."""

    IMPROVE = "improve"  # try what is not known, and the named ones again
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    REBUILD = "rebuild"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """``model_name`` at ``place``; ``kept_bytes`` of all built things on this machine, whichever model's, of ``limit_bytes``.

    What is in use gains by speaking ``max_concurrent_lines``.
    """

    model_name: str
    place: Device
    stages: tuple[StageView, ...]
    kept_bytes: int
    limit_bytes: int
    work: CurrentTrial | None = None
    is_paused: bool = False
    notes: tuple[Message, ...] = field(default=())
    max_concurrent_lines: int = 1

    @property
    def num_untried(self) -> int:
        return sum(view.status.can_be_tried for stage in self.stages for view in stage.candidates)
