"""Messages between the manager and the process that tries a candidate.

Does not import torch, because both processes import it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from multiprocessing.connection import Connection
from pathlib import Path

from studio.engines.manifest import BuiltFile, FailureKind
from studio.engines.stage import Device, Stage
from studio.messages import Message
from studio.model.measurements import Timing, Verification

# Phases of a trial that every candidate shares, as shown to the user.
RECORDING = "Recording the float32 reference"
VERIFYING = "Comparing with plain float32"
TIMING = "Measuring the speed"


@dataclass(frozen=True, slots=True)
class TrialSize:
    """Amount of speech that a trial verifies and times: enough to find errors, but not too much for the device.

    Attributes:
        num_tokens: Length of the compared line in speech tokens (25 a second).
        num_seeds: Number of other lines of that length whose output must be finite.
        num_rounds: Largest number of timing rounds.
        timing_seconds: No round starts after this time.
    """

    num_tokens: int
    num_seeds: int
    num_rounds: int
    timing_seconds: float


# A CPU needs several seconds for each second of speech.
_ON_CPU = TrialSize(num_tokens=60, num_seeds=1, num_rounds=3, timing_seconds=60.0)
# 16-bit overflow occurs only in some lines and only after many tokens, so there are 20 lines of 30 s.
_ON_GPU = TrialSize(num_tokens=750, num_seeds=20, num_rounds=5, timing_seconds=30.0)
# Lines of 30 s do not fit into its memory, so each chunk would be computed slowly from the start of the line.
_ON_SMALL_GPU = replace(_ON_GPU, num_tokens=375, num_seeds=40)
_SMALL_GPU_BYTES = 7 << 30


def default_trial_size(device: Device) -> TrialSize:
    if not device.kind.is_gpu:
        return _ON_CPU
    return _ON_SMALL_GPU if device.total_bytes < _SMALL_GPU_BYTES else _ON_GPU


@dataclass(frozen=True, slots=True)
class TrialTask:
    """One trial: record the reference if ``reference_path`` is missing, then build, verify and time a candidate."""

    model_folder: Path
    variant: str | None
    device: Device
    stage: Stage
    name: str
    modules: tuple[str, ...]  # modules that list the candidates
    workspace: Path
    reference_path: Path
    timing_cache: Path
    trial_size: TrialSize
    is_built: bool = False  # ``workspace`` already contains the files
    has_low_priority: bool = True  # the trial runs alongside other work


class Command(Enum):
    """A command to the trial process."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Step:
    """Progress report: ``done`` of ``total`` steps of ``phase``, which is number ``index`` of ``num_phases``."""

    phase: str
    index: int
    num_phases: int
    done: float
    total: float

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Completed:
    """The trial ran to its end. ``timing`` is None if the candidate was rejected."""

    verification: Verification
    timing: Timing | None
    phase_seconds: Mapping[str, float]
    files: Mapping[str, BuiltFile]


@dataclass(frozen=True, slots=True)
class Failed:
    kind: FailureKind
    reason: Message


@dataclass(frozen=True, slots=True)
class WasCancelled:
    pass


Report = Step | Completed | Failed | WasCancelled


class TrialControl:
    """The trial process's end of the connection: receives commands on a thread, sends reports."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._may_run = threading.Event()
        self._may_run.set()
        self._is_cancelled = False
        threading.Thread(target=self._receive, name="commands", daemon=True).start()

    def send(self, report: Report) -> None:
        self._connection.send(report)

    def should_continue(self) -> bool:
        """Block while paused; return False once cancelled."""
        self._may_run.wait()
        return not self._is_cancelled

    def _receive(self) -> None:
        try:
            while True:
                match self._connection.recv():
                    case Command.PAUSE:
                        self._may_run.clear()
                    case Command.RESUME:
                        self._may_run.set()
                    case Command.CANCEL:
                        self._is_cancelled = True
                        self._may_run.set()
        except (EOFError, OSError):
            os._exit(1)  # the parent process has ended, which releases the lock on the workspace
