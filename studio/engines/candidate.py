"""What a way to run a stage promises to the manager, and what the manager promises to it.

A candidate is a small object without state, made in every process anew by the ``CANDIDATES`` of its module
(``registry.py`` lists the modules), so importing that module must not import the library it is about: that
happens in ``probe``, ``build`` and ``open``. The manager does everything that is alike for all: it makes keys
and folders, runs ``build`` in a child process of low priority, verifies what ``open`` returns against plain
float32, times it, chooses, keeps the words, limits the size on disk, and sees to pause, cancel and death.

    probe    in any process, quick       usable here, or why not, in words
    build    in the child process only   files into an empty folder; the manager renames it when all went well
    open     in child and worker         the stage's promise, from those files
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from studio.engines.stage import Device, Stage
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, SpeakerEncoder, SpeechLM, SpeechTokenizer, Vocoder
from studio.wording import Message


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """Whose weights are to run where. ``variant`` as in ``Checkpoint.speech_lm_path``."""

    checkpoint: Checkpoint
    device: Device
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Available:
    """It would work as far as can be told without trying.

    ``memory_bytes``: what ``open`` will take at the place, at most; ``build_memory_bytes`` and ``build_disk_bytes``
    likewise for ``build``. They are compared with what is free; estimates err on the large side.
    ``opens_slowly``: ``open`` takes so long that something else has to speak meanwhile.
    """

    memory_bytes: int
    build_memory_bytes: int = 0
    build_disk_bytes: int = 0
    opens_slowly: bool = False


@dataclass(frozen=True, slots=True)
class Unusable:
    """``reason``: a clause for a person, without a full stop: ``wording("{library} is not installed", library=...)``."""

    reason: Message


class BuildCancelled(Exception):
    """Raised by ``BuildJob.report`` when the build is to end; ``build`` lets it through."""


class BuildJob(Protocol):
    """What a build is given, and the way it tells how far it is."""

    @property
    def subject(self) -> EngineTarget: ...

    @property
    def workspace(self) -> Path:
        """An empty folder. What lies in it when ``build`` returns is kept; temporary files do not belong here."""
        ...

    @property
    def timing_cache(self) -> Path:
        """A file that outlives builds and may be missing or damaged; the candidate writes it whole, if at all."""
        ...

    @property
    def memory_bytes(self) -> int:
        """What the build may take at the place, from what is free now."""
        ...

    def report(self, phase: str, done: float, total: float) -> None:
        """``done`` of ``total`` steps of ``phase`` (one of ``EngineBackend.phases``), as counted, never as guessed.

        Blocks while the build is paused. Raises ``BuildCancelled``. Silence for longer than
        ``EngineBackend.longest_silence_seconds`` is taken for a hang.
        """
        ...

    def should_continue(self) -> bool:
        """The same question without an exception, for a callback out of C: blocks while paused, False ends the build."""
        ...


AnyStage = SpeechTokenizer | SpeakerEncoder | SpeechLM | FlowDecoder | Vocoder
"""What ``open`` returns: the promise of its ``Stage``."""


class EngineBackend(Protocol):
    """One way to run one stage. Attributes are constants of the object."""

    @property
    def stage(self) -> Stage: ...

    @property
    def name(self) -> str:
        """Tells it from other candidates of the stage, for files and commands: ``[a-z0-9-]+``, "onnxruntime-cpu-int8"."""
        ...

    @property
    def engine(self) -> str:
        """In words, without the precision: "ONNX Runtime (CPU)"."""
        ...

    @property
    def precision(self) -> Precision:
        """Decides the limits of verification; of mixed ones the coarsest that matters."""
        ...

    @property
    def code_version(self) -> int:
        """Raised whenever files built before must not be used any more."""
        ...

    @property
    def phases(self) -> tuple[str, ...]:
        """The parts of a build in their order, as a person would call them; empty where there is nothing to build."""
        ...

    @property
    def longest_silence_seconds(self) -> float:
        """How long ``build`` may go without a report before it is taken for hung."""
        ...

    def probe(self, subject: EngineTarget) -> Available | Unusable:
        """Whether it could run here. Reads small things only, builds nothing, raises nothing, takes at most seconds."""
        ...

    def key_facts(self, subject: EngineTarget) -> Mapping[str, str]:
        """What makes files stale beside what the manager knows: library versions, shape profile, calibration data.

        The manager adds stage, name, precision, ``code_version``, the stage's weights, the place's name, compute
        capability and driver branch. Asked only where ``probe`` said usable.
        """
        ...

    def build(self, job: BuildJob) -> None:
        """Makes the files. Raises ``StudioError`` (``OutOfMemory`` where memory was too small), ``BuildCancelled``."""
        ...

    def open(self, files: Path | None, subject: EngineTarget) -> AnyStage:
        """The stage, ready; ``files`` is the folder ``build`` filled, None where there was nothing to build.

        Files are those of this candidate and undamaged, the manager has looked; what the library itself refuses
        (a plan of another version) is raised as ``StudioError``. Raises ``OutOfMemory`` where it does not fit.
        """
        ...
