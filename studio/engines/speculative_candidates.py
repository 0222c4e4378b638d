"""PyTorch language models with speculative decoding, as candidates: trials measure whether it gains.

The gain depends on the weights: tokens of small models are easier to guess. So it is never assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, EngineBackend, EngineTarget, Unusable
from studio.engines.stage import Stage
from studio.engines.torch_candidates import TorchCandidate
from studio.messages import wording
from studio.model.config import Precision
from studio.model.speech_lm import CachedSpeechLM
from studio.model.speech_lm.successor_proposer import SuccessorProposer


@dataclass(frozen=True)
class SpeculativeCandidate(TorchCandidate):
    """The language model of ``TorchCandidate``, which verifies tokens that often followed each other before."""

    engine = "PyTorch, speculative"

    @property
    def name(self) -> str:
        return f"torch-speculative-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind.is_gpu:
            return Unusable(wording("on a GPU, recorded steps of one token are faster"))
        return super().probe(target)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        opened = super().open(files, target)
        assert isinstance(opened, CachedSpeechLM)
        opened.proposer = SuccessorProposer()
        opened.engine = f"{opened.engine}, speculative"
        return opened


# float16 weights are widened for several rows, which costs more than it saves.
_PRECISIONS = (Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8, Precision.INT4)
CANDIDATES: tuple[EngineBackend, ...] = tuple(
    SpeculativeCandidate(Stage.SPEECH_LM, precision) for precision in _PRECISIONS
)
