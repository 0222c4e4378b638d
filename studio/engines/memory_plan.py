"""What fits into the memory of a GPU: computed from a model's settings and file sizes, before anything is loaded.

No torch: diagnostics import this. The sizes of weights and caches are exact; the working memory is an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.engines.stage import Stage
from studio.model.config import FlowConfig, Precision
from studio.model.device_kind import DeviceKind

# Estimated, because it depends on driver and GPU: CUDA's context, kernels and workspaces of the libraries.
CONTEXT_BYTES = 600 << 20
# Precision of language model and flow, most exact first. The vocoder always takes float32.
_PRECISIONS = {Precision.FLOAT32: 4, Precision.BFLOAT16: 2}
# Their weights are on the GPU; the others run on the CPU until a faster engine is found.
GPU_STAGES = (Stage.SPEECH_LM, Stage.FLOW, Stage.VOCODER)
_ROWS = 2  # conditional and unconditional
# Lengths of the recorded flow in blocks of one second, prompt included. A line gets the shortest that fits, because
# attention reads the whole length.
LINE_BLOCKS = (12, 24, 36, 48, 72, 96, 144, 200, 300)
# Lengths of a typical line and of a typical prompt.
TYPICAL_LINE_SECONDS = 10
TYPICAL_PROMPT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """A model in one precision on one GPU.

    Attributes:
        weight_bytes: Size of the weights of all stages that run on the GPU.
        line_seconds: Longest speech whose caches fit beside a prompt of ``TYPICAL_PROMPT_SECONDS``, or zero; longer lines
            take more time for each chunk. Infinite for models without caches, and None if not even the weights fit.
    """

    precision: Precision
    weight_bytes: int
    line_seconds: float | None


def frame_bytes(flow: FlowConfig, precision: Precision) -> int:
    """Return the size of the caches of one mel frame: keys and values of each solver step, layer and guidance row.

    The encoder's caches and the convolutions' are left out: they are a fiftieth of it in released models.
    """
    if flow.length_regulator is not None:
        return 0
    if flow.dit is not None:
        num_layers, channels = flow.dit.depth, flow.dit.num_heads * flow.dit.head_size
    else:
        assert flow.unet is not None
        num_layers = flow.unet.num_transformer_blocks * (flow.unet.num_mid_blocks + 2)
        channels = flow.unet.num_heads * flow.unet.head_size
    return flow.solver.num_steps * num_layers * _ROWS * 2 * channels * _PRECISIONS[precision]


def plan_memory(
    flow: FlowConfig, frame_rate: float, file_bytes: Mapping[Stage, int], available_bytes: int
) -> tuple[MemoryPlan, ...]:
    """Return the plans, most exact first. ``file_bytes`` are the sizes of the float32 weight files.

    ``available_bytes`` is the memory for weights, lines and voices, without the reserve of ``DeviceTraits``.
    """

    def plan(precision: Precision) -> MemoryPlan:
        weight_bytes = file_bytes[Stage.VOCODER] + sum(
            file_bytes[stage] * _PRECISIONS[precision] // _PRECISIONS[Precision.FLOAT32]
            for stage in (Stage.SPEECH_LM, Stage.FLOW)
        )
        left = available_bytes - weight_bytes
        bytes_per_second = frame_bytes(flow, precision) * frame_rate
        if left <= 0:
            return MemoryPlan(precision, weight_bytes, None)
        if not bytes_per_second:
            return MemoryPlan(precision, weight_bytes, float("inf"))
        return MemoryPlan(precision, weight_bytes, _line_seconds(left / bytes_per_second))

    return tuple(map(plan, _PRECISIONS))


def _line_seconds(seconds: float) -> float:
    """Return the length of the longest line if all free memory corresponds to ``seconds`` of caches.

    The memory of a line has one of the sizes ``LINE_BLOCKS`` and contains a copy of the prompt.
    """
    available_seconds = DeviceKind.CUDA.traits.line_memory_share * seconds
    longest = max((size for size in LINE_BLOCKS if size <= available_seconds), default=0)
    return max(0.0, longest - TYPICAL_PROMPT_SECONDS)
