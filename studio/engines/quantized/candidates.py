"""Candidates for flow and vocoder in 8 bits under ONNX Runtime on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.engines.candidate import Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.onnx.candidates import OrtCandidate
from studio.engines.stage import Stage
from studio.messages import message
from studio.model.config import Precision
from studio.model.onnx_networks import onnxruntime

# After the last clip all ranges are computed without a progress report.
CALIBRATING_SECONDS = 1800.0


@dataclass(frozen=True)
class QuantizedCandidate(OrtCandidate):
    """Calibrated on the bundled voices; the build fails if the distortion is audible."""

    precision: Precision = Precision.INT8

    phases = ("Calibrating on speech",)
    build_timeout_seconds = CALIBRATING_SECONDS
    run_share = 1
    working_bytes = 1200 << 20

    def probe(self, target: EngineTarget) -> Available | Unusable:
        return why_not_quantized(self.stage, target) or super().probe(target)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        return calibration_facts(target)

    def build(self, job: BuildJob) -> None:
        from studio.engines.quantized import building  # noqa: PLC0415 - torch and onnx, in the child only

        is_flow = self.stage is Stage.FLOW
        write = building.write_quantized_flow if is_flow else building.write_quantized_vocoder
        write(job.target.checkpoint, job.workspace, job.target.device, job.reporter(self.phases[0]))


def why_not_quantized(stage: Stage, target: EngineTarget) -> Unusable | None:
    """Return why a stage of this model has no 8-bit version, or None if it has one."""
    if stage is Stage.FLOW and target.checkpoint.flow.length_regulator is not None:
        return Unusable(message("8-bit calibration needs streamed blocks; this model has none"))
    return None


def calibration_facts(target: EngineTarget) -> dict[str, str]:
    """Return the facts a calibration depends on besides the weights."""
    from studio.engines.quantized.building import Effort  # noqa: PLC0415

    return {
        "onnxruntime": onnxruntime.__version__,
        "calibration": repr(Effort()),
        "front end": target.checkpoint.front_end_key(),
    }


CANDIDATES: tuple[EngineBackend, ...] = (QuantizedCandidate(Stage.FLOW), QuantizedCandidate(Stage.VOCODER))
