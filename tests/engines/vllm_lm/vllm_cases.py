"""Small random speech language models with a head size that vLLM supports, and requests for them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import noise_models
import torch

from measurements.random_models.tensor_shapes import speech_lm_shapes
from measurements.random_models.tensors import random_tensors
from studio.engines.candidate import EngineTarget
from studio.engines.stage import Device
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision, QwenConfig, SpeechLMConfig
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm import TorchSpeechLM
from studio.model.stages import SpeechTokenRequest

CPU = Device(DeviceKind.CPU, "a processor", num_threads=1, total_bytes=8 << 30)
GPU = Device(
    DeviceKind.CUDA, "a GPU", num_threads=1, total_bytes=8 << 30, compute_capability=(8, 9), driver="580.65.06"
)
REQUEST = SpeechTokenRequest((5, 9, 60, 3), (11, 40, 7), tuple(range(3, 40, 2)), max_tokens=60)
OTHER_REQUEST = SpeechTokenRequest((7, 1, 2), (11, 40), tuple(range(30)), max_tokens=40)
# Two query heads of 64 channels, as in the released models, share one key-value head.
_BACKBONE = QwenConfig(
    vocabulary_size=200, hidden_size=128, intermediate_size=96, num_layers=2, num_heads=2, num_kv_heads=1
)
_NUM_SPEECH_TOKENS = 350


@cache
def small_checkpoint(family: str) -> Checkpoint:
    """Return a checkpoint whose folder contains only ``llm.pt``."""
    noise = open_checkpoint({"cosyvoice2": noise_models.V2, "cosyvoice3": noise_models.V3}[family])
    config = SpeechLMConfig(_BACKBONE, noise.generation.speech_token_layout(_NUM_SPEECH_TOKENS))
    folder = Path(mkdtemp(prefix="small-lm-"))
    torch.save(random_tensors(speech_lm_shapes(config), seed=5), folder / "llm.pt")
    return replace(noise, folder=folder, speech_lm=config)


@cache
def plain_lm(family: str) -> TorchSpeechLM:
    return small_checkpoint(family).load_speech_lm(Precision.FLOAT32, "cpu")


def target_of(family: str, device: Device = CPU) -> EngineTarget:
    return EngineTarget(small_checkpoint(family), device)
