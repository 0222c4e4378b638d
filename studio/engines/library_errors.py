"""Recognise errors of third-party libraries that need a reaction: exhausted memory and a lost GPU. No torch."""

from __future__ import annotations

from studio.errors import OutOfMemory

# WORKAROUND: torch and ONNX Runtime on the CPU, and TensorRT, ONNX Runtime, cuBLAS and cuDNN on a GPU, raise a
# plain RuntimeError for exhausted memory, which only its text identifies.
_MEMORY_PHRASES = (
    "can't allocate memory",
    "not enough memory",
    "failed to allocate memory",
    "bad allocation",
    "out of memory",
    "outofmemory",
    "status_alloc_failed",
    # Torch's allocator, if memory runs out while another thread records a CUDA graph.
    "captures_underway.empty()",
)
# CUDA's error messages, which torch, TensorRT and ONNX Runtime pass on. Each of these errors invalidates the
# process's CUDA context.
_LOST_PHRASES = (
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


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | OutOfMemory) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error).casefold() for phrase in _MEMORY_PHRASES)


def is_device_lost(error: BaseException) -> bool:
    """Return whether ``error`` means that this process can no longer use the GPU; other processes still can."""
    return any(phrase in str(error).casefold() for phrase in _LOST_PHRASES)
