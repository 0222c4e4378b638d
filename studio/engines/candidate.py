"""The interface between engine candidates and the manager, the registry of candidates, and their cache keys.

A candidate is a stateless object that every process creates from the ``CANDIDATES`` of its module (listed in
``MODULES``). Importing that module must not import the candidate's library: ``probe``, ``build`` and ``open`` do.
The manager does what is common to all candidates: folders, child processes, verification against plain float32,
timing, choice, the size limit of the cache, pausing, cancelling and crashes.

    probe    in any process, quick       usable here, or the reason why not
    build    in the child process only   writes files into an empty folder, which the manager installs on success
    open     in child and worker         the stage, ready to run from those files
"""

from __future__ import annotations

import hashlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.stage import Device, Stage
from studio.messages import Message
from studio.model.checkpoint import Checkpoint, sampled_digest
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, SpeakerEncoder, SpeechLM, SpeechTokenizer, Vocoder

# The first candidate of a stage is its reference, plain float32. The others are in display order.
MODULES = (
    "studio.engines.torch_candidates",
    "studio.engines.onnx.candidates",
    "studio.engines.tensorrt.candidates",
    "studio.engines.cuda_graph.candidates",
    "studio.engines.vllm_lm.candidates",
    "studio.engines.quantized.candidates",
)
# Bump when verification or timing changes, so that all engines are tried again.
PROOF_VERSION = 2


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """The weights to run, and the device to run them on. See ``Checkpoint.speech_lm_path`` for ``variant``."""

    checkpoint: Checkpoint
    device: Device
    variant: str | None = None

    def weight_path(self, stage: Stage) -> Path:
        """Return the file of the model folder that contains the weights of ``stage``."""
        match stage:
            case Stage.SPEECH_TOKENIZER:
                return self.checkpoint.folder / self.checkpoint.generation.speech_tokenizer_file
            case Stage.SPEAKER_ENCODER:
                return self.checkpoint.folder / "campplus.onnx"
            case Stage.SPEECH_LM:
                return self.checkpoint.speech_lm_path(self.variant)
            case Stage.FLOW:
                return self.checkpoint.flow_path
            case Stage.VOCODER:
                return self.checkpoint.vocoder_path

    def weight_bytes(self, stage: Stage) -> int:
        """Return the size of the weight file of ``stage``."""
        return self.weight_path(stage).stat().st_size


@dataclass(frozen=True, slots=True)
class Available:
    """The result of a probe that found no obstacle."""

    memory_bytes: int  # maximum device memory that ``open`` takes
    build_memory_bytes: int = 0
    build_disk_bytes: int = 0
    opens_slowly: bool = False  # another engine runs until this one is open


@dataclass(frozen=True, slots=True)
class Unusable:
    """The result of a probe that found an obstacle. ``reason`` is a clause without a full stop."""

    reason: Message


class BuildCancelled(Exception):
    """Raised by ``BuildJob.report`` to end the build; ``build`` must not catch it."""


@dataclass
class BuildJob(ABC):
    """The input of a build, and the receiver of its progress reports.

    Attributes:
        workspace: An empty folder. All its content is kept when ``build`` returns, so temporary files belong elsewhere.
        timing_cache: A file kept between builds, which may be missing or damaged. Candidates replace it atomically.
        memory_bytes: The device memory that the build may take now.
    """

    target: EngineTarget
    workspace: Path
    timing_cache: Path
    memory_bytes: int

    @abstractmethod
    def report(self, phase: str, done: float, total: float) -> None:
        """Report ``done`` of ``total`` counted steps of ``phase`` (one of ``EngineBackend.phases``).

        Blocks while the build is paused. Raises ``BuildCancelled``. A build without reports for longer than
        ``EngineBackend.build_timeout_seconds`` is killed as hung.
        """

    @abstractmethod
    def should_continue(self) -> bool:
        """Block while paused; return False to end the build. For callbacks from C, which cannot raise."""

    def reporter(self, phase: str) -> Callable[[float, float], None]:
        """Return a function that reports the progress of ``phase``."""
        return lambda done, total: self.report(phase, done, total)


AnyStage = SpeechTokenizer | SpeakerEncoder | SpeechLM | FlowDecoder | Vocoder
"""The type that ``open`` returns: the protocol of the candidate's ``Stage``."""


@dataclass(frozen=True)
class EngineBackend(ABC):
    """One way to run one stage.

    Attributes:
        precision: Selects the tolerances of verification; for mixed precision, the coarsest one used.
    """

    stage: Stage
    precision: Precision = Precision.FLOAT32

    @property
    @abstractmethod
    def name(self) -> str:
        """Unique name within the stage, for files and commands: ``[a-z0-9-]+``, "onnxruntime-cpu-int8"."""

    @property
    @abstractmethod
    def engine(self) -> str:
        """Display name without the precision: "ONNX Runtime (CPU)"."""

    @property
    def code_version(self) -> int:
        """Version of the built files. Bump it to invalidate files built by earlier versions."""
        return 1

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the build's phases in order, shown to the user; empty if nothing is built."""
        return ()

    @property
    def build_timeout_seconds(self) -> float:
        """Time without a report after which ``build`` is killed as hung."""
        return 600.0

    @abstractmethod
    def probe(self, target: EngineTarget) -> Available | Unusable:
        """Return whether the candidate can run here, within a few seconds. It must not build anything or raise."""

    @abstractmethod
    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        """Return the facts a build depends on besides those of ``gather_facts``: library versions, shapes, calibration
        data.

        Called only where ``probe`` returned ``Available``.
        """

    def build(self, job: BuildJob) -> None:
        """Write the files. Raises ``StudioError`` (``OutOfMemory`` if memory runs out) and ``BuildCancelled``."""
        raise NotImplementedError(f"{self.name} has nothing to build")

    @abstractmethod
    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        """Return the stage, ready to run. ``files`` is the folder ``build`` filled, None if nothing is built.

        The manager has verified the files' checksums; a file that the library itself rejects (a plan for another
        version) raises ``StudioError``. Raises ``OutOfMemory``.
        """


def all_candidates(modules: tuple[str, ...] = MODULES) -> tuple[EngineBackend, ...]:
    """Import the modules and join their lists; ``module:NAME`` selects a list other than ``CANDIDATES``."""
    found: list[EngineBackend] = []
    for module in modules:
        name, _, attribute = module.partition(":")
        found += getattr(importlib.import_module(name), attribute or "CANDIDATES")
    names = [(candidate.stage, candidate.name) for candidate in found]
    assert len(set(names)) == len(names), "two candidates of a stage share a name"
    return tuple(found)


def find_references(candidates: Iterable[EngineBackend]) -> dict[Stage, EngineBackend]:
    """Return the reference of each stage, which is its first candidate."""
    references: dict[Stage, EngineBackend] = {}
    for candidate in candidates:
        references.setdefault(candidate.stage, candidate)
    return references


def gather_facts(candidate: EngineBackend, target: EngineTarget) -> dict[str, str]:
    """Return everything a build of ``candidate`` depends on. Raises ``MissingModelFile``."""
    checkpoint = target.checkpoint
    settings = {
        Stage.SPEECH_LM: checkpoint.speech_lm,
        Stage.FLOW: checkpoint.flow,
        Stage.VOCODER: checkpoint.vocoder,
    }.get(candidate.stage)
    own = {f"candidate: {name}": value for name, value in candidate.key_facts(target).items()}
    return {
        "stage": candidate.stage.value,
        "name": candidate.name,
        "precision": candidate.precision.value,
        "code": str(candidate.code_version),
        "proof": str(PROOF_VERSION),
        "generation": checkpoint.generation.name,
        "weights": sampled_digest(target.weight_path(candidate.stage)).hex(),
        "settings": hashlib.sha256(repr(settings).encode()).hexdigest(),
        **target.device.identity,
        **own,
    }
