"""Stages under ONNX Runtime, on the processor and on graphics cards with CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.onnx.folder_network import FolderNetwork
from studio.engines.onnx.places import ENGINE_WORDS, unusable_at
from studio.engines.stage import DeviceKind, Stage
from studio.model.config import Precision

_CODE_VERSION = 1
_PHASE = "Writing the network down"
# Of the weight file: the session's weights and the layouts made of them; the network, its trace, the file and copies.
_RUN_SHARE, _BUILD_SHARE = 2, 5
_WORKING_BYTES = 800 << 20
# More blocks at once make larger products, which a processor likes; a graphics card is content with one.
_BLOCKS_AT_ONCE = {DeviceKind.CPU: 4, DeviceKind.CUDA: 1}


@dataclass(frozen=True, slots=True)
class OrtCandidate:
    """A stage written as graphs by us and run by ONNX Runtime at one kind of place."""

    stage: Stage
    kind: DeviceKind
    precision: Precision = Precision.FLOAT32
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = (_PHASE,)
    longest_silence_seconds: float = 1200.0

    @property
    def name(self) -> str:
        ending = "" if self.precision is Precision.FLOAT32 else f"-{self.precision.value}"
        return f"onnxruntime-{self.kind.value}{ending}"

    @property
    def engine(self) -> str:
        return ENGINE_WORDS[self.kind]

    def probe(self, subject: EngineTarget) -> Available | Unusable:
        if (reason := unusable_at(self.kind, subject)) is not None:
            return reason
        size = weight_file(self.stage, subject).stat().st_size
        return Available(
            memory_bytes=_RUN_SHARE * size + _WORKING_BYTES,
            build_memory_bytes=_BUILD_SHARE * size + _WORKING_BYTES,
            build_disk_bytes=size,
        )

    def key_facts(self, subject: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - the promise
        from studio.model.onnx_runtime import onnxruntime  # noqa: PLC0415 - not needed to list candidates

        return {"onnxruntime": onnxruntime.__version__}

    def build(self, job: BuildJob) -> None:
        from studio.engines.onnx.flow_files import write_flow  # noqa: PLC0415 - torch and onnx, in the child only
        from studio.engines.onnx.vocoder_files import write_vocoder  # noqa: PLC0415

        write = write_flow if self.stage is Stage.FLOW else write_vocoder

        def report(done: float, total: float) -> None:
            job.report(_PHASE, done, total)

        write(job.subject.checkpoint, job.workspace, self.precision, report)

    def open(self, files: Path | None, subject: EngineTarget) -> AnyStage:
        from studio.engines.onnx import opening  # noqa: PLC0415 - torch and onnxruntime

        assert files is not None
        if self.stage is Stage.FLOW:
            return opening.open_flow(files, subject.device, blocks_at_once=_BLOCKS_AT_ONCE[self.kind])
        return opening.open_vocoder(files, subject.checkpoint, subject.device)


# The networks of the front end on the processor are the references: see ``torch_candidates``.
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
