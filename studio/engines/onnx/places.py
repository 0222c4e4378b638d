"""Where ONNX Runtime may run, for its candidates: what it is called there, and whether it could. Imports no library."""

from __future__ import annotations

import importlib.util

from studio.engines.candidate import EngineTarget, Unusable
from studio.engines.stage import DeviceKind
from studio.wording import wording

ENGINE_WORDS = {DeviceKind.CPU: "ONNX Runtime (CPU)", DeviceKind.CUDA: "ONNX Runtime (CUDA)"}


def unusable_at(kind: DeviceKind, subject: EngineTarget) -> Unusable | None:
    """Why ONNX Runtime could not run at a place of ``kind`` for ``subject``; None where it may."""
    if kind is DeviceKind.CPU and subject.device.kind is not kind:
        return Unusable(wording("it would run on the processor, not on the graphics card"))
    if subject.device.kind is not kind:
        return Unusable(wording("there is no graphics card in use"))
    if importlib.util.find_spec("onnxruntime") is None:
        return Unusable(wording("{library} is not installed", library="onnxruntime"))
    if kind is DeviceKind.CUDA and not _has_cuda_provider():
        return Unusable(wording("{library} is not installed", library="onnxruntime-gpu"))
    return None


def _has_cuda_provider() -> bool:
    """Whether the build could; whether its libraries are there, only a session tells (``require_provider``)."""
    from studio.model.onnx_runtime import onnxruntime  # noqa: PLC0415 - not needed to list candidates

    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()
