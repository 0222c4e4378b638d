"""Candidates for flow and vocoder in 8 bits under ONNX Runtime on the processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.onnx.support import engine_title, unusable_on
from studio.engines.stage import Stage
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

_CODE_VERSION = 1
_PHASE = "Calibrating on speech"
_WORKING_BYTES = 1200 << 20
_BLOCKS_AT_ONCE = 4
# After the last clip all ranges are computed without a progress report.
CALIBRATING_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class QuantizedCandidate:
    """Calibrated on the bundled voices; the build fails if the distortion is audible."""

    stage: Stage
    name: str = "onnxruntime-cpu-int8"
    engine: str = engine_title(DeviceKind.CPU)
    precision: Precision = Precision.INT8
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = (_PHASE,)
    build_timeout_seconds: float = CALIBRATING_SECONDS

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if (reason := unusable_on(DeviceKind.CPU, target)) is not None:
            return reason
        size = weight_file(self.stage, target).stat().st_size
        return Available(
            memory_bytes=size + _WORKING_BYTES, build_memory_bytes=5 * size + _WORKING_BYTES, build_disk_bytes=size
        )

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        return calibration_facts(target)

    def build(self, job: BuildJob) -> None:
        from studio.engines.quantized import building  # noqa: PLC0415 - torch and onnx, in the child only

        is_flow = self.stage is Stage.FLOW
        write = building.write_quantized_flow if is_flow else building.write_quantized_vocoder

        def report(done: float, total: float) -> None:
            job.report(_PHASE, done, total)

        write(job.target.checkpoint, job.workspace, job.target.device, report)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.onnx import opening  # noqa: PLC0415 - torch and onnxruntime

        assert files is not None
        if self.stage is Stage.FLOW:
            return opening.open_flow(files, target.device, blocks_at_once=_BLOCKS_AT_ONCE)
        return opening.open_vocoder(files, target.checkpoint, target.device)


def calibration_facts(target: EngineTarget) -> dict[str, str]:
    """Return what a calibration depends on besides the weights."""
    from studio.engines.quantized.building import Effort  # noqa: PLC0415
    from studio.model.onnx_networks import onnxruntime  # noqa: PLC0415 - not needed to list candidates

    return {
        "onnxruntime": onnxruntime.__version__,
        "calibration": repr(Effort()),
        "front end": target.checkpoint.front_end_key(),
    }


CANDIDATES: tuple[EngineBackend, ...] = (QuantizedCandidate(Stage.FLOW), QuantizedCandidate(Stage.VOCODER))
