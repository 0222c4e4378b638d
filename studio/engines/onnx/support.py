"""Where ONNX Runtime can run, without importing it."""

from __future__ import annotations

import importlib.util

from studio.engines.candidate import EngineTarget, Unusable
from studio.messages import wording
from studio.model.device_kind import DeviceKind


def engine_title(kind: DeviceKind) -> str:
    return f"ONNX Runtime ({kind.value.upper()})"


def unusable_on(kind: DeviceKind, target: EngineTarget) -> Unusable | None:
    """Return why ONNX Runtime cannot run ``target`` on a device of ``kind``, or None if it can."""
    if kind is DeviceKind.CPU and target.device.kind is not kind:
        return Unusable(wording("it runs on the CPU, and a GPU is in use"))
    if target.device.kind is not kind:
        return Unusable(wording("no NVIDIA GPU is in use"))
    if importlib.util.find_spec("onnxruntime") is None:
        return Unusable(wording("{library} is not installed", library="onnxruntime"))
    if kind is DeviceKind.CUDA and not _has_cuda_provider():
        return Unusable(wording("{library} is not installed", library="onnxruntime-gpu"))
    return None


def _has_cuda_provider() -> bool:
    """Return whether the build includes CUDA; only a session shows whether its libraries load (``require_provider``)."""
    from studio.model.onnx_networks import onnxruntime  # noqa: PLC0415 - not needed to list candidates

    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()
