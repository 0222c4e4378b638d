"""Language models with speculative decoding, as candidates: trials measure whether it gains.

The gain depends on the weights: tokens of small models are easier to guess. So it is never assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.engines.candidate import AnyStage, Available, EngineBackend, EngineTarget, Unusable
from studio.engines.cuda_graph.candidates import CudaGraphCandidate
from studio.engines.stage import Stage
from studio.engines.torch_candidates import TorchCandidate
from studio.messages import wording
from studio.model.checkpoint import sampled_digest
from studio.model.config import Precision, SpeechLMConfig
from studio.model.speculator_files import SETTINGS_FILE, WEIGHTS_FILE
from studio.model.speech_lm import CachedSpeechLM, TorchSpeechLM
from studio.model.speech_lm.dspark import DSparkSpeculator, load_dspark
from studio.model.speech_lm.speculation import Speculator
from studio.model.speech_lm.successor_speculator import SuccessorSpeculator
from studio.paths import SPECULATOR_FOLDER

if TYPE_CHECKING:
    from studio.engines.cuda_graph.verification_step import GraphSpeculator


@dataclass(frozen=True)
class SpeculativeCandidate(TorchCandidate):
    """The language model of ``TorchCandidate``, which verifies tokens that often followed each other before."""

    engine = "PyTorch, speculative"

    @property
    def name(self) -> str:
        return f"torch-speculative-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind.is_gpu:
            return Unusable(wording("on a GPU, CUDA graphs are faster"))
        return super().probe(target)

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        opened = super().open(files, target)
        assert isinstance(opened, CachedSpeechLM)
        opened.speculator = self.speculator(opened, target)
        opened.engine = f"{opened.engine}, speculative"
        return opened

    def speculator(self, lm: CachedSpeechLM[Any], target: EngineTarget) -> Speculator:  # noqa: ARG002 - for subclasses
        """Return a new speculator for ``lm``."""
        return SuccessorSpeculator()


@dataclass(frozen=True)
class TrainedCandidate(SpeculativeCandidate):
    """The same with a trained speculator in the folder of the model."""

    engine = "PyTorch, trained speculator"

    @property
    def name(self) -> str:
        return f"torch-dspark-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        return _with_speculator(super().probe(target), target)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        return {**super().key_facts(target), **_speculator_facts(target)}

    def speculator(self, lm: CachedSpeechLM[Any], target: EngineTarget) -> Speculator:
        """Raise the errors of ``load_dspark``."""
        assert isinstance(lm, TorchSpeechLM)
        return _load_speculator(lm, target, self.precision)


@dataclass(frozen=True)
class SpeculativeGraphCandidate(CudaGraphCandidate):
    """Recorded steps that propose and verify the tokens of a single line."""

    engine = "CUDA graphs, speculative"

    @property
    def name(self) -> str:
        return f"cuda-graph-speculative-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        found = super().probe(target)
        if isinstance(found, Available) and not isinstance(target.checkpoint.speech_lm, SpeechLMConfig):
            return Unusable(wording("CUDA graph steps of this model compute one token each"))
        return found

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built
        from studio.engines.cuda_graph.speculative_lm import SpeculativeGraphSpeechLM  # noqa: PLC0415

        checkpoint = target.checkpoint
        plain = checkpoint.load_speech_lm(self.precision, target.device.torch_name, variant=target.variant)
        assert isinstance(plain, TorchSpeechLM)
        return SpeculativeGraphSpeechLM(plain, *self.speculators(plain, target))

    def speculators(self, plain: TorchSpeechLM, target: EngineTarget) -> tuple[Callable[[int], GraphSpeculator], int]:  # noqa: ARG002
        """Return the arguments of ``SpeculativeGraphSpeechLM`` after the first."""
        from studio.engines.cuda_graph.speculators import SuccessorGraphSpeculator  # noqa: PLC0415

        speculator = SuccessorGraphSpeculator(plain, SuccessorSpeculator())
        return lambda _: speculator, speculator.num_proposed


@dataclass(frozen=True)
class TrainedGraphCandidate(SpeculativeGraphCandidate):
    """The same with a trained speculator in the folder of the model."""

    engine = "CUDA graphs, trained speculator"

    @property
    def name(self) -> str:
        return f"cuda-graph-dspark-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        return _with_speculator(super().probe(target), target)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        return {**super().key_facts(target), **_speculator_facts(target)}

    def speculators(self, plain: TorchSpeechLM, target: EngineTarget) -> tuple[Callable[[int], GraphSpeculator], int]:
        """Raise the errors of ``load_dspark``."""
        from studio.engines.cuda_graph.speculators import TrainedGraphSpeculator  # noqa: PLC0415

        speculator = _load_speculator(plain, target, self.precision)
        return partial(TrainedGraphSpeculator, speculator), speculator.num_proposed


def _with_speculator(found: Available | Unusable, target: EngineTarget) -> Available | Unusable:
    """Add the memory of the speculator to ``found``, or return that the model has none."""
    folder = target.checkpoint.folder / SPECULATOR_FOLDER
    if isinstance(found, Unusable):
        return found
    if not (folder / SETTINGS_FILE).is_file():
        return Unusable(wording("no speculator is installed for this model (Models page)"))
    weights = folder / WEIGHTS_FILE
    num_bytes = weights.stat().st_size if weights.is_file() else 0
    return replace(found, memory_bytes=found.memory_bytes + num_bytes)


def _speculator_facts(target: EngineTarget) -> dict[str, str]:
    weights = target.checkpoint.folder / SPECULATOR_FOLDER / WEIGHTS_FILE
    return {"speculator": sampled_digest(weights).hex() if weights.is_file() else ""}


def _load_speculator(lm: TorchSpeechLM, target: EngineTarget, precision: Precision) -> DSparkSpeculator:
    first_speech_id = target.checkpoint.load_text_tokenizer().num_tokens
    return load_dspark(
        lm, target.checkpoint.folder / SPECULATOR_FOLDER, first_speech_id=first_speech_id, precision=precision
    )


# Not float16: on a CPU, its weights are widened for several rows, which costs more than it saves; on a GPU, its steps
# have the most kernels. Not 8 or 4 bits on a CPU: their rounding depends on the number of rows, so a seed would not keep
# its take.
_PRECISIONS = (Precision.FLOAT32, Precision.BFLOAT16)
_GPU_PRECISIONS = (*_PRECISIONS, Precision.INT8)
CANDIDATES: tuple[EngineBackend, ...] = (
    *(SpeculativeCandidate(Stage.SPEECH_LM, precision) for precision in _PRECISIONS),
    *(TrainedCandidate(Stage.SPEECH_LM, precision) for precision in _PRECISIONS),
    *(SpeculativeGraphCandidate(Stage.SPEECH_LM, precision) for precision in _GPU_PRECISIONS),
    *(TrainedGraphCandidate(Stage.SPEECH_LM, precision) for precision in _GPU_PRECISIONS),
)
