"""The references of all stages, and candidates that cannot run on a CPU."""

from __future__ import annotations

from studio.engines.candidate import find_references
from studio.engines.cuda_graph.candidates import CudaGraphCandidate
from studio.engines.stage import Stage
from studio.engines.torch_candidates import CANDIDATES as PLAIN
from studio.model.config import Precision

CANDIDATES = (
    *find_references(PLAIN).values(),
    CudaGraphCandidate(Stage.SPEECH_LM, Precision.BFLOAT16),
    CudaGraphCandidate(Stage.FLOW, Precision.BFLOAT16),
)
