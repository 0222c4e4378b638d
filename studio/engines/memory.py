"""Was it want of memory? Libraries say so in many ways. No torch."""

from __future__ import annotations

from studio.errors import OutOfMemory

# WORKAROUND: on the processor, torch and ONNX Runtime say so only in words (a plain RuntimeError), and TensorRT,
# ONNX Runtime, cuBLAS and cuDNN on a card as well.
_WORDS = (
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
    return isinstance(error, RuntimeError) and any(words in str(error).casefold() for words in _WORDS)
