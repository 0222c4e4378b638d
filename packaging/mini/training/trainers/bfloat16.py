"""The choice of bfloat16 for the products of trainings and of the teacher."""

from __future__ import annotations

from functools import cache

import torch

from studio.model.config import Precision
from studio.model.cpu_products import speedup

_MIN_SPEEDUP = 1.1
_ROWS, _SIZE = 1200, 512  # of the products of a batch


def prefers_bfloat16(device: torch.device | str) -> bool:
    """Return whether products are faster in bfloat16: always on a GPU, and on a CPU if a measurement shows it.

    A Xeon without AMX has instructions for bfloat16, but multiplies it at 0.6 times the speed of float32.
    """
    return torch.device(device).type == "cuda" or _is_faster_on_cpu()


@cache
def _is_faster_on_cpu() -> bool:
    return speedup(Precision.BFLOAT16, _ROWS, _SIZE) > _MIN_SPEEDUP
