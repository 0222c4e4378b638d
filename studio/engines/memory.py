"""Recognise out-of-memory errors of all libraries. No torch."""

from __future__ import annotations

from studio.errors import OutOfMemory

# WORKAROUND: torch and ONNX Runtime on the processor, and TensorRT, ONNX Runtime, cuBLAS and cuDNN on a GPU, raise a
# plain RuntimeError that only its text identifies.
_PHRASES = (
    "can't allocate memory",
    "not enough memory",
    "failed to allocate memory",
    "bad allocation",
    "out of memory",
    "outofmemory",
    "status_alloc_failed",
)


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | OutOfMemory) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error).casefold() for phrase in _PHRASES)
