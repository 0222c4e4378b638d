"""Kinds of compute device, and the numbers that differ between them. No torch.

To support another kind (MPS, XPU): add a member and its traits here, and its discovery to ``studio/engines/machine.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from studio.model.config import Precision


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """Per-kind constants.

    ``reserved_bytes``: memory that engines leave free, for the desktop and for what grows during synthesis.
    ``voice_memory_share``: share of the free memory that prepared voices may fill.
    ``reduced_precisions``: of the language model, fastest first (measurements: ``studio/model/speech_lm/linear.py``).
    ``has_streams``: work is queued on streams (``studio/model/stream_pool.py``).
    """

    reserved_bytes: int
    voice_memory_share: float
    reduced_precisions: tuple[Precision, ...]
    has_streams: bool = False


class DeviceKind(Enum):
    """The values are torch's device types."""

    CPU = "cpu"
    CUDA = "cuda"

    @property
    def traits(self) -> DeviceTraits:
        return _TRAITS[self]

    @property
    def is_gpu(self) -> bool:
        return self is not DeviceKind.CPU


_TRAITS = {
    DeviceKind.CPU: DeviceTraits(
        reserved_bytes=1 << 30, voice_memory_share=0.4, reduced_precisions=(Precision.INT8, Precision.FLOAT16)
    ),
    # GPU memory is scarcer and preparing a voice is quick, so requests get most of it.
    DeviceKind.CUDA: DeviceTraits(
        reserved_bytes=512 << 20,
        voice_memory_share=0.25,
        reduced_precisions=(Precision.BFLOAT16,),
        has_streams=True,
    ),
}
