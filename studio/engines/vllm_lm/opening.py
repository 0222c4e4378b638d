"""Start vLLM for one model on one device: its KV cache, number of concurrent lines and environment variables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from studio import paths
from studio.engines.candidate import EngineTarget
from studio.engines.machine import budget_bytes
from studio.engines.stage import Device, Stage
from studio.engines.vllm_lm.engine_process import EngineProcess, environment_with_studio
from studio.engines.vllm_lm.library import VllmLibrary
from studio.engines.vllm_lm.messages import Serve
from studio.engines.vllm_lm.model_files import num_file_bytes
from studio.engines.vllm_lm.speech_lm import VllmSpeechLM
from studio.errors import OutOfMemory
from studio.model.config import Precision, QwenConfig, SpeechLMConfig
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm.loading import load_speech_lm, open_network

_MIN_SHARE = 0.01  # vLLM rejects zero
# The name of the entry point in pyproject.toml.
_PLUGIN = "timbre_speech_lm"
# Memory for vLLM itself, its activations and its CUDA graphs. The CPU needs less.
WORKING_BYTES = {DeviceKind.CPU: 1 << 30, DeviceKind.CUDA: 2 << 30}
# Positions (prompt, text and speech) of the longest line; plain PyTorch runs longer ones.
_MAX_LINE = 8192
_MIN_LIMIT = 1024
_MAX_LINES = {DeviceKind.CPU: 4, DeviceKind.CUDA: 32}
# Positions of a typical line: ten seconds of prompt, half a minute of speech and its text.
_USUAL_LINE = 1536
# Memory is allocated in blocks, and vLLM reserves the first.
_SPARE_POSITIONS = 512
_ITEM_BYTES = {Precision.FLOAT32: 4, Precision.BFLOAT16: 2, Precision.FLOAT16: 2}


def open_speech_lm(files: Path, library: VllmLibrary, target: EngineTarget, precision: Precision) -> VllmSpeechLM:
    """Start vLLM and wait until it is ready, half a minute or more. Raises ``EngineDied``, ``OutOfMemory``."""
    config, device = target.checkpoint.speech_lm, target.device
    assert isinstance(config, SpeechLMConfig)
    num_bytes = num_file_bytes(config, precision)
    free = budget_bytes(device) - num_bytes - WORKING_BYTES[device.kind]
    capacity = capacity_within(free, config.backbone, precision, device.kind)
    share = (num_bytes + capacity.kv_cache_bytes) / device.total_bytes
    inputs = open_network(target.weight_path(Stage.SPEECH_LM), config).inputs
    process = EngineProcess(
        [str(library.python), "-P", "-m", "studio.engines.vllm_lm"], environment_with_studio(environment(device))
    )
    ready = process.wait_until_ready(
        Serve(
            folder=str(files),
            precision=precision,
            is_on_gpu=device.kind is DeviceKind.CUDA,
            max_positions=capacity.max_positions,
            max_lines=capacity.max_lines,
            kv_cache_bytes=capacity.kv_cache_bytes,
            memory_share=min(max(share, _MIN_SHARE), 1.0),
            num_speech_tokens=config.layout.num_speech_tokens,
            num_rows=config.layout.num_rows,
        )
    )
    return VllmSpeechLM(
        config,
        inputs.to(inputs.speech.device),
        process,
        max_positions=capacity.max_positions,
        max_concurrent_lines=max(1, capacity.max_lines - 1),  # one row stays free for the line that plays next
        engine=f"vLLM {ready.version}, {precision.value}",
        open_plain=lambda: load_speech_lm(
            target.checkpoint.speech_lm_path(target.variant), config, precision, device.torch_name
        ),
    )


def environment(device: Device) -> dict[str, str]:
    """Return the environment variables that configure vLLM."""
    own = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        # Needs flashinfer, which is optional; sampling is done by our own processor.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_PLUGINS": _PLUGIN,
        "VLLM_CACHE_ROOT": str(paths.cache_folder() / "vllm"),
        # Besides the settings of ``studio.system.telemetry``, these keep vLLM from downloading anything, and make it
        # listen on this computer only.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(device.num_threads),
    }
    if device.kind is DeviceKind.CUDA:
        own["CUDA_VISIBLE_DEVICES"] = _visible_name(device.index)
    return own


def _visible_name(index: int) -> str:
    """Return the CUDA_VISIBLE_DEVICES entry of torch's GPU ``index``, which counts visible GPUs only."""
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return visible[index] if index < len(visible) else str(index)


@dataclass(frozen=True, slots=True)
class Capacity:
    """Limits of one vLLM process. ``max_positions`` is per line, ``kv_cache_bytes`` for all lines together."""

    max_positions: int
    max_lines: int
    kv_cache_bytes: int


def wanted_capacity(config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """Return the capacity for the useful number of typical lines, or for one line of maximum length if that is more."""
    max_positions, max_lines = min(config.max_positions, _MAX_LINE), _MAX_LINES[kind]
    num_positions = max(max_lines * _USUAL_LINE, max_positions) + _SPARE_POSITIONS
    return Capacity(max_positions, max_lines, num_positions * position_bytes(config, precision))


def capacity_within(budget_bytes: int, config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """Return ``wanted_capacity`` reduced to ``budget_bytes``. Raises ``OutOfMemory`` if not one line fits."""
    wanted = wanted_capacity(config, precision, kind)
    if wanted.kv_cache_bytes <= budget_bytes:
        return wanted
    num_positions = budget_bytes // position_bytes(config, precision) - _SPARE_POSITIONS
    max_positions = min(wanted.max_positions, num_positions)
    if max_positions < min(_MIN_LIMIT, config.max_positions):
        raise OutOfMemory(
            "There is not enough memory for vLLM: {free:.1f} GB are available.",
            remedy="Close other programs, or choose another engine.",
            free=max(0, budget_bytes) / 2**30,
        )
    max_lines = max(1, min(wanted.max_lines, num_positions // _USUAL_LINE))
    return Capacity(max_positions, max_lines, budget_bytes)


def position_bytes(config: QwenConfig, precision: Precision) -> int:
    """Return the bytes of keys and values per position, over all layers."""
    return 2 * config.num_layers * config.num_kv_heads * config.head_size * _ITEM_BYTES[precision]
