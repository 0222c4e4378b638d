"""How torch computes in a process, the same where networks speak, are tried and are measured."""

from __future__ import annotations

import torch


def configure_torch(num_threads: int) -> None:
    """On ``num_threads`` of the processor, without denormal numbers, and float32 is float32 on a card too."""
    torch.set_num_threads(num_threads)
    torch.set_flush_denormal(True)
    # Of TF32's 10 bits the vocoder's phases are heard, and plain float32 is what every engine is compared with.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
