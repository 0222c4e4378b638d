"""Recognise GPU errors that make the device unusable for the rest of the process. No torch."""

from __future__ import annotations

# CUDA's error messages, which torch, TensorRT and ONNX Runtime pass on. Each of these errors invalidates the
# process's CUDA context.
_PHRASES = (
    "illegal memory access",
    "illegal address",
    "illegal instruction",
    "misaligned address",
    "invalid program counter",
    "device-side assert",
    "unspecified launch failure",
    "launch timed out",
    "hardware stack error",
    "uncorrectable ecc error",
    # For example, after the computer wakes from sleep.
    "cuda error: unknown error",
)


def is_device_lost(error: BaseException) -> bool:
    """Return whether ``error`` means that this process can no longer use the GPU; other processes still can."""
    return any(phrase in str(error).casefold() for phrase in _PHRASES)
