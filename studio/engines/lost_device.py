"""Has the graphics card failed so that nothing this process asks of it works any more? No torch."""

from __future__ import annotations

# What CUDA says, and torch, TensorRT and ONNX Runtime after it. Each ends the process's context on the card.
_WORDS = (
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
    # For example after a computer has slept.
    "cuda error: unknown error",
)


def is_device_lost(error: BaseException) -> bool:
    """Another process finds it as good as ever."""
    return any(words in str(error).casefold() for words in _WORDS)
