"""PyTorch language models with speculative decoding, as candidates: trials measure whether it gains.

The gain depends on the weights: tokens of small models are easier to guess. So it is never assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.engines.candidate import AnyStage, Available, EngineBackend, EngineTarget, Unusable
from studio.engines.stage import Stage
from studio.engines.torch_candidates import TorchCandidate
from studio.messages import wording
from studio.model.checkpoint import sampled_digest
from studio.model.config import Precision
from studio.model.speech_lm import CachedSpeechLM, TorchSpeechLM
from studio.model.speech_lm.dspark import FOLDER, SETTINGS_FILE, WEIGHTS_FILE, load_dspark
from studio.model.speech_lm.speculation import Proposer
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
        opened.proposer = self.proposer(opened, target)
        opened.engine = f"{opened.engine}, speculative"
        return opened

    def proposer(self, lm: CachedSpeechLM[Any], target: EngineTarget) -> Proposer:  # noqa: ARG002 - for subclasses
        """Return a new proposer for ``lm``."""
        return SuccessorProposer()


@dataclass(frozen=True)
class TrainedCandidate(SpeculativeCandidate):
    """The same with a trained proposer in the folder of the model."""

    engine = "PyTorch, trained speculator"

    @property
    def name(self) -> str:
        return f"torch-dspark-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if not (target.checkpoint.folder / FOLDER / SETTINGS_FILE).is_file():
            return Unusable(wording("the folder of the model contains no speculator"))
        return super().probe(target)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        weights = target.checkpoint.folder / FOLDER / WEIGHTS_FILE
        digest = sampled_digest(weights).hex() if weights.is_file() else ""
        return {**super().key_facts(target), "speculator": digest}

    def proposer(self, lm: CachedSpeechLM[Any], target: EngineTarget) -> Proposer:
        """Raise the errors of ``load_dspark``."""
        assert isinstance(lm, TorchSpeechLM)
        first_speech_id = target.checkpoint.load_text_tokenizer().num_tokens
        return load_dspark(
            lm, target.checkpoint.folder / FOLDER, first_speech_id=first_speech_id, precision=self.precision
        )


# float16 weights are widened for several rows, which costs more than it saves. With 8 and 4 bits one graph computes a
# step, and its rounding depends on the number of rows, so a seed would not keep its take.
_PRECISIONS = (Precision.FLOAT32, Precision.BFLOAT16)
CANDIDATES: tuple[EngineBackend, ...] = tuple(
    kind(Stage.SPEECH_LM, precision) for kind in (SpeculativeCandidate, TrainedCandidate) for precision in _PRECISIONS
)
