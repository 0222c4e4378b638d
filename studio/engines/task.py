"""What the process that tries candidates is told, and what it says. No torch: both ends read this first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.manifest import BuiltFile, FailureKind, Timing, Verification
from studio.engines.stage import Device, Stage
from studio.engines.trial_size import TrialSize
from studio.wording import Message

# The parts of a trial that are not the candidate's own, as a person would call them.
LISTENING = "Listening to plain float32"
VERIFYING = "Comparing with plain float32"
TIMING = "Measuring the speed"


@dataclass(frozen=True, slots=True)
class TrialTask:
    """Record if ``recording`` is missing, build, verify, time. ``is_built``: ``workspace`` holds the files already.
    ``gives_way`` to everything else on the machine: it is done beside other work.

    ``modules``: where candidates come from. ``reference_bytes`` and the candidate's own are compared with what is free.
    """

    model_folder: Path
    variant: str | None
    place: Device
    stage: Stage
    name: str
    modules: tuple[str, ...]
    workspace: Path
    recording: Path
    timing_cache: Path
    extent: TrialSize
    is_built: bool = False
    gives_way: bool = True


@dataclass(frozen=True, slots=True)
class Pause:
    pass


@dataclass(frozen=True, slots=True)
class Resume:
    pass


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


Order = Pause | Resume | Cancel


@dataclass(frozen=True, slots=True)
class Step:
    """``done`` of ``total`` of the part ``phase``, which is number ``index`` of ``num_phases``."""

    phase: str
    index: int
    num_phases: int
    done: float
    total: float

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Proven:
    """It went through; whether it may be used is in ``verification``. ``timing`` of None: refused before."""

    verification: Verification
    timing: Timing | None
    phase_seconds: Mapping[str, float]
    files: Mapping[str, BuiltFile]


@dataclass(frozen=True, slots=True)
class Failed:
    trouble: FailureKind
    reason: Message


@dataclass(frozen=True, slots=True)
class WasCancelled:
    pass


News = Step | Proven | Failed | WasCancelled
