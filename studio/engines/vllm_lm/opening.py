"""Start vLLM for one model on one device: its memory limits and environment variables."""

from __future__ import annotations

import os
from pathlib import Path

from studio import paths
from studio.engines.candidate import EngineTarget
from studio.engines.machine import budget_bytes
from studio.engines.stage import Device, Stage
from studio.engines.vllm_lm.capacity import WORKING_BYTES, capacity_within
from studio.engines.vllm_lm.engine_process import EngineProcess, environment_with_studio
from studio.engines.vllm_lm.library import VllmLibrary
from studio.engines.vllm_lm.messages import Serve
from studio.engines.vllm_lm.model_files import num_file_bytes
from studio.engines.vllm_lm.speech_lm import VllmSpeechLM
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind
from studio.model.speech_lm.loading import open_network

_LEAST_SHARE = 0.01  # vLLM rejects zero
# The name of the entry point in pyproject.toml.
_PLUGIN = "timbre_speech_lm"


def open_speech_lm(files: Path, library: VllmLibrary, target: EngineTarget, precision: Precision) -> VllmSpeechLM:
    """Start vLLM and wait until it is ready, half a minute or more. Raises ``EngineDied``, ``OutOfMemory``."""
    config, device = target.checkpoint.speech_lm, target.device
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
            memory_share=min(max(share, _LEAST_SHARE), 1.0),
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
        open_plain=lambda: target.checkpoint.load_speech_lm(precision, device.torch_name, variant=target.variant),
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
        # In addition to ``studio.system.telemetry``: vLLM downloads nothing and listens on this computer only.
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
