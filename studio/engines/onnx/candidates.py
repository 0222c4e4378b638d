"""Candidates under ONNX Runtime, on the processor and on GPUs with CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.onnx.folder_network import FolderNetwork
from studio.engines.onnx.support import engine_title, unusable_on
from studio.engines.stage import Stage
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

_CODE_VERSION = 1
_PHASE = "Exporting the network"
# Memory, as multiples of the size of the weight file. Running: the weights and their packed copies. Building: the
# network, its trace, the exported file and copies of it.
_RUN_SHARE, _BUILD_SHARE = 2, 5
_WORKING_BYTES = 800 << 20
# Larger matrix multiplications are faster on a processor; on a GPU, decoding one block at a time is as fast.
_BLOCKS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class OrtCandidate:
    """A stage exported as graphs and run by ONNX Runtime on one kind of device."""

    stage: Stage
    kind: DeviceKind
    precision: Precision = Precision.FLOAT32
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = (_PHASE,)
    build_timeout_seconds: float = 1200.0

    @property
    def name(self) -> str:
        ending = "" if self.precision is Precision.FLOAT32 else f"-{self.precision.value}"
        return f"onnxruntime-{self.kind.value}{ending}"

    @property
    def engine(self) -> str:
        return engine_title(self.kind)

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if (reason := unusable_on(self.kind, target)) is not None:
            return reason
        size = weight_file(self.stage, target).stat().st_size
        return Available(
            memory_bytes=_RUN_SHARE * size + _WORKING_BYTES,
            build_memory_bytes=_BUILD_SHARE * size + _WORKING_BYTES,
            build_disk_bytes=size,
        )

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - protocol
        from studio.model.onnx_networks import onnxruntime  # noqa: PLC0415 - not needed to list candidates

        return {"onnxruntime": onnxruntime.__version__}

    def build(self, job: BuildJob) -> None:
        from studio.engines.onnx.flow_files import write_flow  # noqa: PLC0415 - torch and onnx, in the child only
        from studio.engines.onnx.vocoder_files import write_vocoder  # noqa: PLC0415

        write = write_flow if self.stage is Stage.FLOW else write_vocoder

        def report(done: float, total: float) -> None:
            job.report(_PHASE, done, total)

        write(job.target.checkpoint, job.workspace, self.precision, report)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.onnx import opening  # noqa: PLC0415 - torch and onnxruntime

        assert files is not None
        if self.stage is Stage.FLOW:
            return opening.open_flow(files, target.device, blocks_at_once=1 if self.kind.is_gpu else _BLOCKS_AT_ONCE)
        return opening.open_vocoder(files, target.checkpoint, target.device)


# The front-end networks on the processor are references and listed in ``torch_candidates``.
CANDIDATES: tuple[EngineBackend, ...] = (
    FolderNetwork(Stage.SPEECH_TOKENIZER, DeviceKind.CUDA),
    FolderNetwork(Stage.SPEAKER_ENCODER, DeviceKind.CUDA),
    OrtCandidate(Stage.FLOW, DeviceKind.CPU),
    OrtCandidate(Stage.FLOW, DeviceKind.CUDA),
    OrtCandidate(Stage.FLOW, DeviceKind.CUDA, Precision.FLOAT16),
    OrtCandidate(Stage.FLOW, DeviceKind.CUDA, Precision.BFLOAT16),
    OrtCandidate(Stage.VOCODER, DeviceKind.CPU),
    OrtCandidate(Stage.VOCODER, DeviceKind.CUDA),
    OrtCandidate(Stage.VOCODER, DeviceKind.CUDA, Precision.FLOAT16),
)
