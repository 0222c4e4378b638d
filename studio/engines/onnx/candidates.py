"""Candidates under ONNX Runtime on the CPU. Listing them does not import ``onnx``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.stage import Stage
from studio.messages import message
from studio.model.config import Precision
from studio.model.onnx_networks import onnxruntime

# Larger matrix multiplications are faster.
_BLOCKS_AT_ONCE = 4


@dataclass(frozen=True)
class OrtCandidate(EngineBackend):
    """Flow or vocoder, exported as graphs."""

    engine = "ONNX Runtime (CPU)"
    phases = ("Exporting the network",)
    build_timeout_seconds = 1200.0
    # Memory while running, as a multiple of the size of the weight file: the weights and their packed copies.
    run_share = 2
    # The same for building: the network, its trace, the exported file and copies of it.
    build_share = 5
    working_bytes = 800 << 20

    @property
    def name(self) -> str:
        ending = "" if self.precision is Precision.FLOAT32 else f"-{self.precision.value}"
        return f"onnxruntime-cpu{ending}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if target.device.kind.is_gpu:
            return Unusable(message("it runs on the CPU, and a GPU is in use"))
        size = target.weight_bytes(self.stage)
        return Available(
            memory_bytes=self.run_share * size + self.working_bytes,
            build_memory_bytes=self.build_share * size + self.working_bytes,
            build_disk_bytes=size,
        )

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - interface
        return {"onnxruntime": onnxruntime.__version__}

    def build(self, job: BuildJob) -> None:
        from studio.engines.onnx.files import write_flow, write_vocoder  # noqa: PLC0415 - torch and onnx, in the child

        write = write_flow if self.stage is Stage.FLOW else write_vocoder
        write(job.target.checkpoint, job.workspace, self.precision, job.reporter(self.phases[0]))

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.onnx.files import open_any_flow, open_vocoder  # noqa: PLC0415 - torch and onnx

        def open_graph(path: Path) -> OrtGraph:
            return OrtGraph(path, target.device)

        assert files is not None
        if self.stage is Stage.FLOW:
            return open_any_flow(files, target.checkpoint, self.precision, open_graph, blocks_at_once=_BLOCKS_AT_ONCE)
        return open_vocoder(files, target.checkpoint, open_graph)


CANDIDATES: tuple[EngineBackend, ...] = (OrtCandidate(Stage.FLOW), OrtCandidate(Stage.VOCODER))
