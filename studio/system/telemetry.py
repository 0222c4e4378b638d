"""Environment variables that disable telemetry and update checks of third-party libraries.

``studio/__init__.py`` calls ``switch_off``, so every process of the program sets them before it loads a library,
and child processes inherit them. Add the switch of each new dependency that has telemetry.

No switch is needed for torch (its remote caches are off unless ``TORCHINDUCTOR_*_REMOTE_CACHE`` is set), PySide6,
tokenizers, onnx, wetext, TensorRT and the audio libraries: none of them opens connections by itself.
"""

from __future__ import annotations

from collections.abc import MutableMapping

SWITCHES = {
    # ONNX Runtime reads this when it is loaded. Otherwise it uploads to mobile.events.data.microsoft.com and stores a
    # device identifier in ~/.cache/Microsoft (Privacy.md of its package). See also ``model/onnx_runtime.py``.
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub and hf_xet. Also prevents fetching a list of coding tools.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # vLLM: usage statistics to stats.vllm.ai.
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    # An unreachable address, so that vLLM does not download FlashInfer kernels.
    "FLASHINFER_CUBINS_REPOSITORY": "http://127.0.0.1:9/",
    # Ray, which vLLM uses if it is installed.
    "RAY_USAGE_STATS_ENABLED": "0",
    # The convention of https://donottrack.sh, read by huggingface_hub, hf_xet and vLLM.
    "DO_NOT_TRACK": "1",
}


def switch_off(environment: MutableMapping[str, str]) -> None:
    """Set every switch in ``environment``, overriding existing values."""
    environment.update(SWITCHES)
