"""Language model and flow under CUDA graphs, in the precisions a card multiplies; the language model with 8-bit weights, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.keys import weight_file
from studio.engines.stage import DeviceKind, Stage
from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.speech_lm.linear import check_support
from studio.wording import wording

_CODE_VERSION = 1
# Graphs keep their intermediate results; caches of some lines beside the weights.
_WORKING_BYTES = {Stage.SPEECH_LM: 400 << 20, Stage.FLOW: 2 << 30}


@dataclass(frozen=True, slots=True)
class CudaGraphCandidate:
    """Nothing to build: a graph is recorded when a first line wants it."""

    precision: Precision
    stage: Stage = Stage.SPEECH_LM
    code_version: int = _CODE_VERSION
    phases: tuple[str, ...] = ()
    longest_silence_seconds: float = 600.0

    @property
    def name(self) -> str:
        return f"cuda-graph-{self.precision.value}"

    @property
    def engine(self) -> str:
        return "PyTorch with CUDA graphs"

    def probe(self, subject: EngineTarget) -> Available | Unusable:
        if subject.device.kind is not DeviceKind.CUDA:
            return Unusable(wording("there is no graphics card in use"))
        try:
            check_support(self.precision, torch.device(subject.device.device))
        except UnsupportedPrecision as error:
            return Unusable(error.problem)
        return Available(weight_file(self.stage, subject).stat().st_size + _WORKING_BYTES[self.stage])

    def key_facts(self, subject: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - the promise
        return {"torch": torch.__version__}

    def build(self, job: BuildJob) -> None:
        """Nothing to build."""

    def open(self, files: Path | None, subject: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built
        from studio.engines.cuda_graph.flow import load_graphed_flow  # noqa: PLC0415 - most of the flow
        from studio.engines.cuda_graph.speech_lm import GraphSpeechLM  # noqa: PLC0415

        checkpoint, device = subject.checkpoint, subject.device.device
        if self.stage is Stage.FLOW:
            return load_graphed_flow(checkpoint.folder / "flow.pt", checkpoint.flow, self.precision, device)
        return GraphSpeechLM(checkpoint.load_speech_lm(self.precision, device, variant=subject.variant))


_MULTIPLIED = (Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16)
CANDIDATES: tuple[EngineBackend, ...] = (
    *(CudaGraphCandidate(precision) for precision in (*_MULTIPLIED, Precision.INT8)),
    *(CudaGraphCandidate(precision, Stage.FLOW) for precision in _MULTIPLIED),
)
