"""Candidates for the speech language model under vLLM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.engines.candidate import AnyStage, Available, BuildJob, EngineBackend, EngineTarget, Unusable
from studio.engines.stage import Device, Stage
from studio.engines.vllm_lm.library import VllmLibrary, find_vllm, missing_compiler
from studio.engines.vllm_lm.model_files import num_file_bytes, write_model_files
from studio.errors import EngineDied
from studio.messages import Message, message
from studio.model.config import Precision, SpeechLMConfig
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm.loading import open_network

# Supported by all of vLLM's attention backends; released models have 64.
_HEAD_SIZES = range(32, 257, 8)


@dataclass(frozen=True)
class VllmCandidate(EngineBackend):
    """Building writes weight files in seconds; starting vLLM takes half a minute or more."""

    engine = "vLLM"
    phases = ("Writing the weights for vLLM",)

    @property
    def name(self) -> str:
        return f"vllm-{self.precision.value}"

    def probe(self, target: EngineTarget) -> Available | Unusable:
        config, kind = target.checkpoint.speech_lm, target.device.kind
        if not isinstance(config, SpeechLMConfig):
            return Unusable(message("vLLM has no architecture with the relative positions of this language model"))
        found = library_for(target.device)
        if isinstance(found, Message):
            return Unusable(found)
        from studio.engines.vllm_lm.opening import WORKING_BYTES, wanted_capacity  # noqa: PLC0415

        head_size = config.backbone.head_size
        if head_size not in _HEAD_SIZES:
            return Unusable(message("vLLM has no attention for heads of {size} channels", size=head_size))
        num_bytes = num_file_bytes(config, self.precision)
        cache_bytes = wanted_capacity(config.backbone, self.precision, kind).kv_cache_bytes
        return Available(num_bytes + cache_bytes + WORKING_BYTES[kind], build_disk_bytes=num_bytes, opens_slowly=True)

    def key_facts(self, target: EngineTarget) -> Mapping[str, str]:
        found = library_for(target.device)
        assert not isinstance(found, Message)
        return {"library": found.name, "version": found.version}

    def build(self, job: BuildJob) -> None:
        target = job.target
        config = target.checkpoint.speech_lm
        assert isinstance(config, SpeechLMConfig)
        network = open_network(target.weight_path(self.stage), config)
        write_model_files(network, job.workspace, self.precision, job.reporter(self.phases[0]))

    def open(self, files: Path | None, target: EngineTarget) -> AnyStage:
        from studio.engines.vllm_lm.opening import open_speech_lm  # noqa: PLC0415 - torch

        assert files is not None
        found = library_for(target.device)
        if isinstance(found, Message):
            raise EngineDied("vLLM cannot be used: {reason}.", remedy="Choose another engine.", reason=found)
        return open_speech_lm(files, found, target, self.precision)


def library_for(device: Device) -> VllmLibrary | Message:
    """Return the installed vLLM if it supports ``device``, or why it does not."""
    found = find_vllm()
    no_gpu = message("no NVIDIA GPU is in use")
    if device.kind is not DeviceKind.CUDA:
        return no_gpu if isinstance(found, Message) or found.has_gpu_support else found
    if isinstance(found, Message):
        return found
    if not found.has_gpu_support:
        return message("the installed vLLM is built without GPU support")
    return missing_compiler(found) or found


CANDIDATES: tuple[EngineBackend, ...] = tuple(
    VllmCandidate(Stage.SPEECH_LM, precision)
    for precision in (Precision.BFLOAT16, Precision.FLOAT16, Precision.FLOAT32)
)
