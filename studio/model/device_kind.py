"""Kinds of compute device, and the numbers that differ between them. This module does not import torch.

To support another kind (MPS, XPU), add a member and its traits here, and its discovery to ``studio/engines/machine.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from studio.model.config import Precision


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """Numbers that differ between kinds of device."""

    reserved_bytes: int  # memory that engines leave free, for the desktop and for what grows during synthesis
    voice_memory_share: float  # share of the free memory that prepared voices may fill
    # Of the language model, fastest first. ``studio/model/speech_lm/linear.py`` has the measurements.
    reduced_precisions: tuple[Precision, ...]
    line_memory_share: float = 0.5  # share of the free memory that the flow's caches of all lines may fill
    max_concurrent_lines: int = 1  # decoding more lines at once does not increase the throughput


class DeviceKind(Enum):
    """Kinds of computing devices. The values are torch's device types."""

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
        line_memory_share=0.6,
        max_concurrent_lines=8,
    ),
}
