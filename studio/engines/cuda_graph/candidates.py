"""Candidates for all stages as CUDA graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from studio.engines.candidate import AnyStage, Available, EngineBackend, EngineTarget, Unusable
from studio.engines.cuda_graph.flow import load_graphed_flow
from studio.engines.cuda_graph.speech_lm import GraphSpeechLM
from studio.engines.cuda_graph.window_vocoder import graphed
from studio.engines.stage import Stage
from studio.engines.torch_candidates import TorchCandidate
from studio.errors import UnsupportedPrecision
from studio.messages import message
from studio.model.config import Precision, VocoderKind
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm.linear import check_support

# Intermediate results, which graphs keep, and caches of several lines.
_WORKING_BYTES = {Stage.SPEECH_LM: 400 << 20, Stage.FLOW: 2 << 30, Stage.VOCODER: 600 << 20}


@dataclass(frozen=True)
class CudaGraphCandidate(TorchCandidate):
    """A graph is recorded when the first line needs it, so nothing is built."""

    engine = "PyTorch with CUDA graphs"
    working_bytes = _WORKING_BYTES

    @property
    def name(self) -> str:
        return f"cuda-graph-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind is not DeviceKind.CUDA:
            return Unusable(message("no NVIDIA GPU is in use"))
        checkpoint, is_flow = target.checkpoint, self.stage is Stage.FLOW
        is_whole_vocoder = self.stage is Stage.VOCODER and checkpoint.vocoder.kind is VocoderKind.SAMPLE_PHASE
        if (is_flow and checkpoint.flow.length_regulator is not None) or is_whole_vocoder:
            # A graph has fixed sizes, and this flow's norms average over all frames, so padding changes the result.
            # Its vocoder usually runs once for a sentence.
            return Unusable(
                message("the sentences of this model vary in length, but a recorded graph has a fixed length")
            )
        try:
            check_support(self.precision, torch.device(target.device.torch_name))
        except UnsupportedPrecision as error:
            return Unusable(error.problem)
        return Available(self._memory_bytes(target))

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built

        checkpoint, device = target.checkpoint, target.device.torch_name
        if self.stage is Stage.FLOW:
            return load_graphed_flow(checkpoint.flow_path, checkpoint.flow, self.precision, device)
        if self.stage is Stage.VOCODER:
            return graphed(checkpoint.load_vocoder(self.precision, device))
        return GraphSpeechLM(checkpoint.load_speech_lm(self.precision, device, variant=target.variant))


_MULTIPLIED = (Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16)
CANDIDATES: tuple[EngineBackend, ...] = (
    *(CudaGraphCandidate(Stage.SPEECH_LM, precision) for precision in (*_MULTIPLIED, Precision.INT8)),
    *(CudaGraphCandidate(Stage.FLOW, precision) for precision in _MULTIPLIED),
    *(CudaGraphCandidate(Stage.VOCODER, precision) for precision in _MULTIPLIED),
)
