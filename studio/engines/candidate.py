"""The protocol between engine candidates and the manager.

A candidate is a stateless object that every process creates from the ``CANDIDATES`` of its module (listed in
``registry.py``). Importing that module must not import the candidate's library: ``probe``, ``build`` and ``open`` do.
The manager does what is common to all candidates: cache keys and folders, child processes, verification against plain
float32, timing, choice, the size limit of the cache, pausing, cancelling and crashes.

    probe    in any process, quick       usable here, or the reason why not
    build    in the child process only   writes files into an empty folder, which the manager installs on success
    open     in child and worker         the stage, ready to run from those files
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from studio.engines.stage import Device, Stage
from studio.messages import Message
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, SpeakerEncoder, SpeechLM, SpeechTokenizer, Vocoder


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """The weights to run, and the device to run them on. ``variant`` as in ``Checkpoint.speech_lm_path``."""

    checkpoint: Checkpoint
    device: Device
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Available:
    """The probe found no obstacle.

    ``memory_bytes``: the most memory that ``open`` takes on the device; ``build_memory_bytes`` and
    ``build_disk_bytes`` likewise for ``build``. ``opens_slowly``: another engine runs while ``open`` does.
    """

    memory_bytes: int
    build_memory_bytes: int = 0
    build_disk_bytes: int = 0
    opens_slowly: bool = False


@dataclass(frozen=True, slots=True)
class Unusable:
    """``reason``: a clause without a full stop, as in ``wording("{library} is not installed", library=...)``."""

    reason: Message


class BuildCancelled(Exception):
    """Raised by ``BuildJob.report`` to end the build; ``build`` must not catch it."""


class BuildJob(Protocol):
    """The input of a build, and its progress reports."""

    @property
    def target(self) -> EngineTarget: ...

    @property
    def workspace(self) -> Path:
        """An empty folder. Its content is kept when ``build`` returns, so temporary files do not belong here."""
        ...

    @property
    def timing_cache(self) -> Path:
        """A file kept between builds, which may be missing or damaged; the candidate replaces it atomically."""
        ...

    @property
    def memory_bytes(self) -> int:
        """The device memory that the build may take now."""
        ...

    def report(self, phase: str, done: float, total: float) -> None:
        """Report ``done`` of ``total`` counted steps of ``phase`` (one of ``EngineBackend.phases``).

        Blocks while the build is paused. Raises ``BuildCancelled``. A build without reports for longer than
        ``EngineBackend.build_timeout_seconds`` is killed as hung.
        """
        ...

    def should_continue(self) -> bool:
        """Block while paused; return False to end the build. For callbacks from C, which cannot raise."""
        ...


AnyStage = SpeechTokenizer | SpeakerEncoder | SpeechLM | FlowDecoder | Vocoder
"""What ``open`` returns: the protocol of its ``Stage``."""


class EngineBackend(Protocol):
    """One way to run one stage. Attributes are constant."""

    @property
    def stage(self) -> Stage: ...

    @property
    def name(self) -> str:
        """Unique name within the stage, for files and commands: ``[a-z0-9-]+``, "onnxruntime-cpu-int8"."""
        ...

    @property
    def engine(self) -> str:
        """Display name without the precision: "ONNX Runtime (CPU)"."""
        ...

    @property
    def precision(self) -> Precision:
        """Selects the tolerances of verification; for mixed precision, the coarsest one used."""
        ...

    @property
    def code_version(self) -> int:
        """Bump to invalidate files built by earlier versions."""
        ...

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the build's phases in order, shown to the user; empty if nothing is built."""
        ...

    @property
    def build_timeout_seconds(self) -> float:
        """How long ``build`` may run without a report before it is killed as hung."""
        ...

    def probe(self, target: EngineTarget) -> Available | Unusable:
        """Return whether the candidate can run here. Takes at most seconds, builds nothing and raises nothing."""
        ...

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        """Return the facts a build depends on: library versions, shapes, calibration data.

        The manager adds stage, name, precision, ``code_version``, the stage's weights and the device's identity.
        Called only where ``probe`` returned ``Available``.
        """
        ...

    def build(self, job: BuildJob) -> None:
        """Write the files. Raises ``StudioError`` (``OutOfMemory`` if memory runs out) and ``BuildCancelled``."""
        ...

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        """Return the stage, ready to run. ``files`` is the folder ``build`` filled, None if nothing is built.

        The manager has verified the files' checksums; a file that the library itself rejects (a plan for another
        version) raises ``StudioError``. Raises ``OutOfMemory``.
        """
        ...
