"""The PyTorch stages of ``studio/model`` as candidates. Nothing is built; float32 is the reference for all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from studio.engines.candidate import AnyStage, Available, EngineBackend, EngineTarget, Unusable
from studio.engines.onnx.candidates import FolderNetwork
from studio.engines.stage import Stage
from studio.errors import UnsupportedPrecision
from studio.messages import message
from studio.model.config import Precision
from studio.model.cpu_products import multiplies_in
from studio.model.onnx_networks import onnxruntime
from studio.model.speech_lm.linear import check_support

# Memory as a share of the float32 weight file; text embedding and head keep a higher precision than the layers.
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


@dataclass(frozen=True)
class TorchCandidate(EngineBackend):
    """A stage of ``Checkpoint.load_...`` in one precision, on any device. Weights are packed on loading."""

    engine = "PyTorch"
    working_bytes: ClassVar[Mapping[Stage, int]] = _WORKING_BYTES

    @property
    def name(self) -> str:
        return f"torch-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        try:
            check_support(self.precision, torch.device(target.device.torch_name))
        except UnsupportedPrecision as error:
            return Unusable(error.problem)
        if self.stage is Stage.FLOW and self.precision is Precision.INT8 and target.device.kind.is_gpu:
            return Unusable(message("The flow cannot run in {precision}.", precision=self.precision.value))
        # Memory bandwidth limits the language model, so narrow weights are faster even if they must be widened for
        # the computation. The other stages are only faster on a processor with arithmetic in this precision.
        is_limited_by_arithmetic = self.stage is not Stage.SPEECH_LM and not target.device.kind.is_gpu
        if is_limited_by_arithmetic and not self._has_fast_arithmetic():
            return Unusable(
                message("this processor has no fast {precision} arithmetic", precision=self.precision.value)
            )
        return Available(self._memory_bytes(target))

    def _has_fast_arithmetic(self) -> bool:
        if self.precision is Precision.FLOAT32:
            return True
        return self.precision in (Precision.BFLOAT16, Precision.INT8) and multiplies_in(self.precision)

    def _memory_bytes(self, target: EngineTarget) -> int:
        return int(target.weight_bytes(self.stage) * _WEIGHT_SHARE[self.precision]) + self.working_bytes[self.stage]

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - interface
        facts = {"torch": torch.__version__}
        if self.stage is Stage.SPEECH_LM and self.precision in (Precision.INT8, Precision.INT4):
            facts["onnxruntime"] = onnxruntime.__version__
        return facts

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


# The reference for each stage comes first.
CANDIDATES: tuple[EngineBackend, ...] = (
    FolderNetwork(Stage.SPEECH_TOKENIZER),
    FolderNetwork(Stage.SPEAKER_ENCODER),
    TorchCandidate(Stage.SPEECH_LM),
    TorchCandidate(Stage.SPEECH_LM, Precision.INT8),
    TorchCandidate(Stage.SPEECH_LM, Precision.INT4),
    TorchCandidate(Stage.SPEECH_LM, Precision.FLOAT16),
    TorchCandidate(Stage.SPEECH_LM, Precision.BFLOAT16),
    TorchCandidate(Stage.FLOW),
    TorchCandidate(Stage.FLOW, Precision.BFLOAT16),
    TorchCandidate(Stage.FLOW, Precision.FLOAT16),
    TorchCandidate(Stage.FLOW, Precision.INT8),
    TorchCandidate(Stage.VOCODER),
    TorchCandidate(Stage.VOCODER, Precision.BFLOAT16),
    TorchCandidate(Stage.VOCODER, Precision.FLOAT16),
)
