"""Snapshots of the engine manager's state, for the CLI, the window and bug reports. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from studio.engines.stage import Device, Stage
from studio.engines.task import Step
from studio.messages import Message
from studio.model.measurements import Timing, Verification


class Status(Enum):
    """State of a candidate. The values are part of the CLI's JSON."""

    VERIFIED = "proven"
    UNTRIED = "untried"
    TRYING = "trying"
    UNUSABLE = "unusable"  # cannot be used on this machine
    REJECTED = "refused"  # tested, and its output is wrong
    FAILED = "failed"  # failed once; retried at the next start
    BACKED_OFF = "resting"  # failed too often; retried only on request
    INSUFFICIENT_RESOURCES = "no-room"  # too little memory or disk space now
    BUSY = "elsewhere"  # another process is trying it

    @property
    def can_be_tried(self) -> bool:
        return self in (Status.UNTRIED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class CandidateView:
    """A snapshot of one candidate.

    Attributes:
        reason: A clause that explains why the candidate cannot be used (yet).
        made_at: Time of the build in ISO 8601; empty if nothing is stored.
        was_disturbed: Whether the timing is unreliable, because other programs kept the machine busy.
    """

    stage: Stage
    name: str
    engine: str
    precision: str
    key: str
    status: Status
    is_reference: bool = False
    reason: Message | None = None
    verification: Verification | None = None
    timing: Timing | None = None
    num_bytes: int = 0
    made_at: str = ""
    was_disturbed: bool = False

    @property
    def speedup(self) -> float:
        """Speed relative to plain float32, measured alternately with it; 0 if unknown."""
        return self.timing.speedup if self.status is Status.VERIFIED and self.timing else 0.0


@dataclass(frozen=True, slots=True)
class StageView:
    """A snapshot of one stage, with its candidates in display order.

    ``chosen`` is the name of the candidate to use, ``in_use`` the name of the loaded one, empty if none is loaded. They
    differ after a faster candidate is verified, until the next line starts, and if the loaded engine is untested.
    """

    stage: Stage
    chosen: str
    candidates: tuple[CandidateView, ...]
    in_use: str = ""

    @property
    def choice(self) -> CandidateView:
        return next(candidate for candidate in self.candidates if candidate.name == self.chosen)

    @property
    def current(self) -> CandidateView:
        """The loaded candidate, or the chosen one if none is loaded."""
        return next((candidate for candidate in self.candidates if candidate.name == self.in_use), self.choice)

    def loaded(self, name: str, comparison: Verification | None) -> StageView:
        """Return the stage while the candidate ``name`` is loaded. It may have been compared when it was loaded."""
        candidates = tuple(
            replace(candidate, verification=candidate.verification or comparison)
            if candidate.name == name
            else candidate
            for candidate in self.candidates
        )
        return replace(self, in_use=name, candidates=candidates)

    @property
    def switches_at_next_line(self) -> bool:
        """Whether a verified candidate replaces the loaded one from the next line on."""
        return bool(self.in_use) and self.in_use != self.chosen and self.choice.status is Status.VERIFIED

    @property
    def reference(self) -> CandidateView:
        return self.candidates[0]


@dataclass(frozen=True, slots=True)
class CurrentTrial:
    """The running trial, number ``index`` of ``total`` counted from 1."""

    stage: Stage
    name: str
    index: int
    total: int
    step: Step | None = None
    remaining_seconds: float | None = None  # None if unknown

    @property
    def share(self) -> float:
        """Progress of this trial in 0..1; all phases have equal weight."""
        return (self.step.index + self.step.share) / self.step.num_phases if self.step else 0.0


class Suspension(Enum):
    """A reason to suspend trials. They continue when no reason is left."""

    PAUSED = "the user has paused them"
    REQUEST = "they would slow down a request, which would distort their timings"
    USER_ACTIVE = "the user types, plays or downloads"


class EngineAction(Enum):
    """A command from the user to the engine manager."""

    IMPROVE = "improve"  # try untested candidates, and repeat the named ones
    PAUSE = "pause"
    RESUME = "resume"
    SUSPEND_FOR_USER = "suspend-for-user"  # while the user types, plays or downloads
    RESUME_AFTER_USER = "resume-after-user"
    CANCEL = "cancel"
    REBUILD = "rebuild"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """State of all stages of ``model_name`` on ``device``.

    Attributes:
        kept_bytes: Size of the built engines of all models on this machine.
        limit_bytes: Limit of ``kept_bytes``.
        max_concurrent_lines: Number of lines that the engines in use can usefully run at once.
    """

    model_name: str
    device: Device
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
