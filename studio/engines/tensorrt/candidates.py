"""Candidates for flow and vocoder as plans of both editions of TensorRT, built on the user's machine for its GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.gpu_support import TURING
from studio.engines.quantized.candidates import CALIBRATING_SECONDS, calibration_facts, why_not_quantized
from studio.engines.stage import Stage
from studio.engines.tensorrt.library import Library, edition, find_library
from studio.errors import UnsupportedPrecision
from studio.messages import Message, message
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

# Steps take seconds; a large layer on a slow GPU may take minutes.
_BUILD_TIMEOUT_SECONDS = 900.0
_CONTEXTS_BYTES, _BUILD_BYTES = 1500 << 20, 2 << 30
_MAX_WORKSPACE_BYTES = 4 << 30


@dataclass(frozen=True)
class TensorRTCandidate(EngineBackend):
    """A stage whose graphs TensorRT, or TensorRT for RTX, compiles to plans."""

    is_rtx: bool = False

    @property
    def name(self) -> str:
        return f"{'tensorrt-rtx' if self.is_rtx else 'tensorrt'}-{self.precision.value}"

    @property
    def engine(self) -> str:
        return edition(is_rtx=self.is_rtx)

    @property
    def phases(self) -> tuple[str, ...]:
        is_calibrated = self.precision is Precision.INT8
        return "Calibrating on speech" if is_calibrated else "Exporting the network", "Building the plan"

    @property
    def build_timeout_seconds(self) -> float:
        return CALIBRATING_SECONDS if self.precision is Precision.INT8 else _BUILD_TIMEOUT_SECONDS

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind is not DeviceKind.CUDA:
            return Unusable(message("no NVIDIA GPU is in use"))
        found = find_library(target.device, is_rtx=self.is_rtx)
        if isinstance(found, Message):
            return Unusable(found)
        if self.is_rtx and self.stage is Stage.FLOW and target.device.compute_capability == TURING:
            # It has no float32 multiplications for these GPUs, which the ends of the flow need in all precisions.
            return Unusable(message("TensorRT for RTX does not support this stage on compute capability {c}", c="7.5"))
        if self.precision is Precision.INT8 and (reason := why_not_quantized(self.stage, target)) is not None:
            return reason
        size = target.weight_bytes(self.stage)
        return Available(
            memory_bytes=size + _CONTEXTS_BYTES, build_memory_bytes=size + _BUILD_BYTES, build_disk_bytes=size
        )

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        from studio.engines.tensorrt import plan_files  # noqa: PLC0415 - torch, onnx and the library

        library = self._library(target)
        sizes = f"{plan_files.MAX_STREAM_TOKENS} {plan_files.MAX_WHOLE_TOKENS}"
        facts = {"library": library.name, "version": library.version, "sizes": sizes}
        return facts | (calibration_facts(target) if self.precision is Precision.INT8 else {})

    def build(self, job: BuildJob) -> None:
        from studio.engines.tensorrt import plan_files  # noqa: PLC0415 - torch, onnx and the library, in the child
        from studio.engines.tensorrt.building import build_plan  # noqa: PLC0415

        library = self._library(job.target)
        with TemporaryDirectory(prefix="timbre-graphs-") as folder:
            profiles_of = plan_files.write_graphs(
                self.stage, self.precision, job, Path(folder), job.reporter(self.phases[0])
            )
            for index, (graph, profiles) in enumerate(profiles_of.items()):
                plan = build_plan(
                    library,
                    graph,
                    profiles,
                    report=partial(self._report_plan, job, index, len(profiles_of)),
                    should_continue=job.should_continue,
                    workspace_bytes=min(job.memory_bytes // 2, _MAX_WORKSPACE_BYTES),
                    timing_cache=job.timing_cache,
                    compute_capability=job.target.device.compute_capability,
                )
                plan_files.plan_path(job.workspace, graph).write_bytes(plan)

    def _report_plan(self, job: BuildJob, index: int, num_plans: int, share: float) -> None:
        """Report that ``share`` of plan number ``index`` is built."""
        job.report(self.phases[1], index + share, num_plans)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.tensorrt import plan_files  # noqa: PLC0415 - torch and the library

        assert files is not None
        return plan_files.open_stage(self.stage, self.precision, files, self._library(target), target)

    def _library(self, target: EngineTarget) -> Library:
        """Return the library. Raises ``UnsupportedPrecision`` if it was removed after the probe."""
        found = find_library(target.device, is_rtx=self.is_rtx)
        if isinstance(found, Message):
            raise UnsupportedPrecision(
                "TensorRT cannot be used: {reason}.",
                remedy="Install it again, or choose another engine.",
                reason=found,
            )
        return found


_FORMS = (
    (Stage.FLOW, Precision.FLOAT16),
    (Stage.FLOW, Precision.BFLOAT16),
    (Stage.FLOW, Precision.FLOAT32),
    (Stage.VOCODER, Precision.FLOAT16),
    (Stage.VOCODER, Precision.FLOAT32),
)
# TensorRT for RTX stores 8-bit weights, but has no 8-bit arithmetic (its support matrix), so it would gain nothing.
CANDIDATES: tuple[EngineBackend, ...] = (
    *(TensorRTCandidate(*form, is_rtx=True) for form in _FORMS),
    *(TensorRTCandidate(*form) for form in _FORMS),
    TensorRTCandidate(Stage.FLOW, Precision.INT8),
    TensorRTCandidate(Stage.VOCODER, Precision.INT8),
)
