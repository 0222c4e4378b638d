"""Candidates for flow and vocoder as TensorRT plans, built on the user's machine for its GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.quantized.candidates import CALIBRATING_SECONDS, calibration_facts
from studio.engines.stage import Stage
from studio.engines.tensorrt.library import Library, find_library
from studio.errors import UnsupportedPrecision
from studio.messages import Message, wording
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

if TYPE_CHECKING:
    from studio.engines.tensorrt.building import Profile

_CODE_VERSION = 1
_PHASES = ("Exporting the network", "Building the plan")
_CALIBRATED_PHASES = ("Calibrating on speech", "Building the plan")
# Steps take seconds; a large layer on a slow GPU may take minutes.
_BUILD_TIMEOUT_SECONDS = 900.0
_CONTEXTS_BYTES, _BUILD_BYTES = 1500 << 20, 2 << 30
_MOST_WORKSPACE_BYTES = 4 << 30
# Lines decoded concurrently.
_NUM_CONTEXTS = 2


@dataclass(frozen=True, slots=True)
class TensorRTCandidate:
    """A stage whose graphs TensorRT compiles to plans."""

    stage: Stage
    precision: Precision
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = _PHASES
    build_timeout_seconds: float = _BUILD_TIMEOUT_SECONDS

    @property
    def name(self) -> str:
        return f"tensorrt-{self.precision.value}"

    @property
    def engine(self) -> str:
        return "TensorRT"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind is not DeviceKind.CUDA:
            return Unusable(wording("no NVIDIA GPU is in use"))
        found = find_library(target.device.compute_capability)
        if isinstance(found, Message):
            return Unusable(found)
        size = weight_file(self.stage, target).stat().st_size
        return Available(
            memory_bytes=size + _CONTEXTS_BYTES, build_memory_bytes=size + _BUILD_BYTES, build_disk_bytes=size
        )

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        from studio.engines.tensorrt import profiles  # noqa: PLC0415

        library = _library(target)
        sizes = f"{profiles.MOST_STREAM_TOKENS} {profiles.MOST_WHOLE_TOKENS}"
        facts = {"library": library.name, "version": library.version, "sizes": sizes}
        return facts | (calibration_facts(target) if self.precision is Precision.INT8 else {})

    def build(self, job: BuildJob) -> None:
        from studio.engines.tensorrt import plan_files  # noqa: PLC0415 - torch, onnx and the library, in the child

        with TemporaryDirectory(prefix="timbre-graphs-") as graphs:
            if self.stage is Stage.FLOW:
                written = plan_files.write_flow_graphs(job, Path(graphs), self.precision, self.phases[0])
            else:
                written = plan_files.write_vocoder_graphs(job, Path(graphs), self.precision, self.phases[0])
            self._build_plans(job, written)

    def _build_plans(self, job: BuildJob, written: Sequence[tuple[Path, Path, Sequence[Profile]]]) -> None:
        from studio.engines.tensorrt.building import BuildCallbacks, build_plan  # noqa: PLC0415

        library, total = _library(job.target), len(written)
        for index, (graph, plan, profiles) in enumerate(written):
            callbacks = BuildCallbacks(_reporter(job, self.phases[1], index, total), job.should_continue)
            built = build_plan(
                library,
                graph,
                profiles,
                callbacks,
                workspace_bytes=min(job.memory_bytes // 2, _MOST_WORKSPACE_BYTES),
                timing_cache=job.timing_cache,
            )
            plan.write_bytes(built)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.tensorrt import plan_files  # noqa: PLC0415 - torch and the library

        assert files is not None
        library = _library(target)
        if self.stage is Stage.FLOW:
            return plan_files.open_flow(files, library, target, num_contexts=_NUM_CONTEXTS)
        return plan_files.open_vocoder(files, library, target, num_contexts=_NUM_CONTEXTS)


def _library(target: EngineTarget) -> Library:
    """Return the library. Raises ``UnsupportedPrecision`` if it was removed after the probe."""
    found = find_library(target.device.compute_capability)
    if isinstance(found, Message):
        raise UnsupportedPrecision(
            "TensorRT cannot be used: {reason}.",
            remedy="Install it again, or choose another engine.",
            reason=found,
        )
    return found


def _reporter(job: BuildJob, phase: str, index: int, total: int) -> Callable[[float], None]:
    def report(share: float) -> None:
        job.report(phase, index + share, total)

    return report


CANDIDATES: tuple[EngineBackend, ...] = (
    TensorRTCandidate(Stage.FLOW, Precision.FLOAT16),
    TensorRTCandidate(Stage.FLOW, Precision.BFLOAT16),
    TensorRTCandidate(Stage.FLOW, Precision.FLOAT32),
    TensorRTCandidate(Stage.VOCODER, Precision.FLOAT16),
    TensorRTCandidate(Stage.VOCODER, Precision.FLOAT32),
    *(
        TensorRTCandidate(stage, Precision.INT8, phases=_CALIBRATED_PHASES, build_timeout_seconds=CALIBRATING_SECONDS)
        for stage in (Stage.FLOW, Stage.VOCODER)
    ),
)
