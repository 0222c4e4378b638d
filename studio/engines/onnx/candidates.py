"""Candidates under ONNX Runtime, on the CPU and on GPUs with CUDA; listing them does not import it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.stage import Stage
from studio.messages import message
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.onnx_networks import onnxruntime

# Larger matrix multiplications are faster on a CPU; on a GPU, decoding one block at a time is as fast.
_BLOCKS_AT_ONCE = 4


@dataclass(frozen=True)
class OrtBackend(EngineBackend):
    """A stage that ONNX Runtime runs on one kind of device."""

    kind: DeviceKind = DeviceKind.CPU

    @property
    def name(self) -> str:
        ending = "" if self.precision is Precision.FLOAT32 else f"-{self.precision.value}"
        return f"onnxruntime-{self.kind.value}{ending}"

    @property
    def engine(self) -> str:
        return f"ONNX Runtime ({self.kind.value.upper()})"

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:  # noqa: ARG002 - interface

        return {"onnxruntime": onnxruntime.__version__}

    def obstacle(self, target: EngineTarget) -> Unusable | None:
        """Return why ONNX Runtime cannot run on ``kind`` here, or None if it can."""
        if target.device.kind is not self.kind:
            if self.kind is DeviceKind.CPU:
                return Unusable(message("it runs on the CPU, and a GPU is in use"))
            return Unusable(message("no NVIDIA GPU is in use"))
        if importlib.util.find_spec("onnxruntime") is None:
            return Unusable(message("{library} is not installed", library="onnxruntime"))
        if self.kind is DeviceKind.CUDA and not _has_cuda_provider():
            return Unusable(
                message(
                    "onnxruntime-gpu is not installed (pip uninstall -y onnxruntime,"
                    " then pip install 'onnxruntime-gpu[cuda,cudnn]')"
                )
            )
        return None


def _has_cuda_provider() -> bool:
    """Return whether the build includes CUDA; only a session shows whether its libraries load (``open_session``)."""
    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()


@dataclass(frozen=True)
class FolderNetwork(OrtBackend):
    """The speech tokenizer or speaker encoder of the model folder, which are ONNX files.

    On the CPU it is the reference, also where other stages run on a GPU.
    """

    # Float32 weights, and the working memory for a clip of thirty seconds.
    weight_share = 1.1
    working_bytes = {Stage.SPEECH_TOKENIZER: 500 << 20, Stage.SPEAKER_ENCODER: 200 << 20}  # noqa: RUF012 - constant

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if self.kind is DeviceKind.CUDA and (reason := self.obstacle(target)) is not None:
            return reason
        return Available(int(target.weight_bytes(self.stage) * self.weight_share) + self.working_bytes[self.stage])

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:  # noqa: ARG002 - nothing was built
        device, checkpoint = target.device, target.checkpoint
        cuda_index = device.index if self.kind is DeviceKind.CUDA else None
        if self.stage is Stage.SPEECH_TOKENIZER:
            return checkpoint.load_speech_tokenizer(device.num_threads, cuda_index=cuda_index)
        return checkpoint.load_speaker_encoder(device.num_threads, cuda_index=cuda_index)


@dataclass(frozen=True)
class OrtCandidate(OrtBackend):
    """Flow or vocoder, exported as graphs."""

    phases = ("Exporting the network",)
    build_timeout_seconds = 1200.0
    # Memory while running, as a multiple of the size of the weight file: the weights and their packed copies.
    run_share = 2
    # The same for building: the network, its trace, the exported file and copies of it.
    build_share = 5
    working_bytes = 800 << 20

    def probe(self, target: EngineTarget) -> Available | Unusable:
        if (reason := self.obstacle(target)) is not None:
            return reason
        size = target.weight_bytes(self.stage)
        return Available(
            memory_bytes=self.run_share * size + self.working_bytes,
            build_memory_bytes=self.build_share * size + self.working_bytes,
            build_disk_bytes=size,
        )

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
            blocks_at_once = 1 if self.kind.is_gpu else _BLOCKS_AT_ONCE
            return open_any_flow(files, target.checkpoint, self.precision, open_graph, blocks_at_once=blocks_at_once)
        return open_vocoder(files, target.checkpoint, open_graph)


# The front-end networks on the CPU are references and listed in ``torch_candidates``.
CANDIDATES: tuple[EngineBackend, ...] = (
    FolderNetwork(Stage.SPEECH_TOKENIZER, kind=DeviceKind.CUDA),
    FolderNetwork(Stage.SPEAKER_ENCODER, kind=DeviceKind.CUDA),
    OrtCandidate(Stage.FLOW),
    OrtCandidate(Stage.FLOW, kind=DeviceKind.CUDA),
    OrtCandidate(Stage.FLOW, Precision.FLOAT16, DeviceKind.CUDA),
    OrtCandidate(Stage.FLOW, Precision.BFLOAT16, DeviceKind.CUDA),
    OrtCandidate(Stage.VOCODER),
    OrtCandidate(Stage.VOCODER, kind=DeviceKind.CUDA),
    OrtCandidate(Stage.VOCODER, Precision.FLOAT16, DeviceKind.CUDA),
)
