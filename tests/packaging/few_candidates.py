"""The references of all stages, and candidates that cannot run on a CPU."""

from __future__ import annotations

from studio.engines.cuda_graph.candidates import CudaGraphCandidate
from studio.engines.stage import Stage
from studio.engines.torch_candidates import CANDIDATES as PLAIN
from studio.engines.trial_run import references_of
from studio.model.config import Precision

CANDIDATES = (
    *references_of(PLAIN).values(),
    CudaGraphCandidate(Precision.BFLOAT16),
    CudaGraphCandidate(Precision.BFLOAT16, Stage.FLOW),
)
