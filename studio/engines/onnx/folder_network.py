"""Candidates that run the model folder's ONNX files of speech tokenizer and speaker encoder under ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.onnx.support import engine_title, unusable_on
from studio.engines.stage import Stage
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

_CODE_VERSION = 1
# Float32 weights, and the working memory of a clip of thirty seconds.
_WEIGHT_SHARE = 1.1
_WORKING_BYTES = {Stage.SPEECH_TOKENIZER: 500 << 20, Stage.SPEAKER_ENCODER: 200 << 20}


@dataclass(frozen=True, slots=True)
class FolderNetwork:
    """On the processor it is the reference, also where other stages run on a GPU."""

    stage: Stage
    kind: DeviceKind = DeviceKind.CPU
    precision: Precision = Precision.FLOAT32
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = ()
    build_timeout_seconds: float = 600.0

    @property
    def name(self) -> str:
        return f"onnxruntime-{self.kind.value}"

    @property
    def engine(self) -> str:
        return engine_title(self.kind)

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if self.kind is DeviceKind.CUDA and (reason := unusable_on(self.kind, target)) is not None:
            return reason
        size = weight_file(self.stage, target).stat().st_size
        return Available(int(size * _WEIGHT_SHARE) + _WORKING_BYTES[self.stage])

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - protocol
        from studio.model.onnx_networks import onnxruntime  # noqa: PLC0415 - not needed to list candidates

        return {"onnxruntime": onnxruntime.__version__}

    def build(self, job: BuildJob) -> None:
        """Nothing to build: the file runs unchanged."""

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built
        device, checkpoint = target.device, target.checkpoint
        cuda_index = device.index if self.kind is DeviceKind.CUDA else None
        if self.stage is Stage.SPEECH_TOKENIZER:
            return checkpoint.load_speech_tokenizer(device.num_threads, cuda_index=cuda_index)
        return checkpoint.load_speaker_encoder(device.num_threads, cuda_index=cuda_index)
