"""Process-wide torch settings, the same for synthesis, engine trials and benchmarks."""

from __future__ import annotations

import torch


def configure_torch(num_threads: int) -> None:
    """Use ``num_threads`` CPU threads, flush denormals to zero, and disable TF32."""
    torch.set_num_threads(num_threads)
    torch.set_flush_denormal(True)
    # TF32 keeps 10 bits, which is audible in the vocoder's phases. Engines are compared with plain float32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
