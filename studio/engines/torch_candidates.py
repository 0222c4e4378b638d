"""The PyTorch stages of ``studio/model`` as candidates. Nothing is built; float32 is the reference for all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.onnx.folder_network import FolderNetwork
from studio.engines.stage import Stage
from studio.errors import UnsupportedPrecision
from studio.messages import wording
from studio.model.config import Precision
from studio.model.speech_lm.linear import check_support, has_onednn

_CODE_VERSION = 1
# Share of the float32 weight file; the text embedding and the head keep a higher precision than the layers.
_WEIGHT_SHARE = {
    Precision.FLOAT32: 1.1,
    Precision.BFLOAT16: 0.7,
    Precision.FLOAT16: 0.7,
    Precision.INT8: 0.5,
    Precision.INT4: 0.4,
}
# Caches and intermediate results of one line.
_WORKING_BYTES = {
    Stage.SPEECH_LM: 64 << 20,
    Stage.FLOW: 600 << 20,
    Stage.VOCODER: 400 << 20,
}


@dataclass(frozen=True, slots=True)
class TorchCandidate:
    """A stage of ``Checkpoint.load_...`` in one precision, on any device."""

    stage: Stage
    precision: Precision
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = ()
    build_timeout_seconds: float = 600.0

    @property
    def name(self) -> str:
        return f"torch-{self.precision.value}"

    @property
    def engine(self) -> str:
        return "PyTorch"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        try:
            check_support(self.precision, torch.device(target.device.torch_name))
        except UnsupportedPrecision as error:
            return Unusable(error.problem)
        # The language model is limited by memory bandwidth: narrow weights are faster even if they
        # must be widened for the computation.
        is_multiplied_on_cpu = self.stage is not Stage.SPEECH_LM and not target.device.kind.is_gpu
        if is_multiplied_on_cpu and self.precision is not Precision.FLOAT32 and not self._is_multiplied_by_processor():
            return Unusable(
                wording("this processor has no fast {precision} arithmetic", precision=self.precision.value)
            )
        return Available(_memory_bytes(self, target))

    def _is_multiplied_by_processor(self) -> bool:
        return self.precision is Precision.BFLOAT16 and has_onednn(self.precision)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - protocol
        return {"torch": torch.__version__}

    def build(self, job: BuildJob) -> None:
        """Nothing to build: weights are packed on loading."""

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built
        checkpoint, device = target.checkpoint, target.device.torch_name
        match self.stage:
            case Stage.SPEECH_LM:
                return checkpoint.load_speech_lm(self.precision, device, variant=target.variant)
            case Stage.FLOW:
                return checkpoint.load_flow(self.precision, device)
            case _:
                assert self.stage is Stage.VOCODER
                return checkpoint.load_vocoder(self.precision, device)


def _memory_bytes(candidate: TorchCandidate, target: EngineTarget) -> int:
    path = weight_file(candidate.stage, target)
    return int(path.stat().st_size * _WEIGHT_SHARE[candidate.precision]) + _WORKING_BYTES[candidate.stage]


# The reference for each stage comes first.
CANDIDATES: tuple[EngineBackend, ...] = (
    FolderNetwork(Stage.SPEECH_TOKENIZER),
    FolderNetwork(Stage.SPEAKER_ENCODER),
    TorchCandidate(Stage.SPEECH_LM, Precision.FLOAT32),
    TorchCandidate(Stage.SPEECH_LM, Precision.INT8),
    TorchCandidate(Stage.SPEECH_LM, Precision.INT4),
    TorchCandidate(Stage.SPEECH_LM, Precision.FLOAT16),
    TorchCandidate(Stage.SPEECH_LM, Precision.BFLOAT16),
    TorchCandidate(Stage.FLOW, Precision.FLOAT32),
    TorchCandidate(Stage.FLOW, Precision.BFLOAT16),
    TorchCandidate(Stage.FLOW, Precision.FLOAT16),
    TorchCandidate(Stage.VOCODER, Precision.FLOAT32),
    TorchCandidate(Stage.VOCODER, Precision.BFLOAT16),
    TorchCandidate(Stage.VOCODER, Precision.FLOAT16),
)
