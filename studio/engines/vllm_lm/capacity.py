"""How much of the memory that is free now vLLM is to take for the lines it speaks at once."""

from __future__ import annotations

from dataclasses import dataclass

from studio.errors import OutOfMemory
from studio.model.config import Precision, QwenConfig
from studio.model.device_kind import DeviceKind

# The library itself on a card, what it computes with, and its graphs; on a processor much less.
WORKING_BYTES = {DeviceKind.CPU: 1 << 30, DeviceKind.CUDA: 2 << 30}
# Prompt, text and speech of the longest line that is spoken there; longer ones are for plain PyTorch.
_LONGEST_LINE = 8192
_SHORTEST_LIMIT = 1024
_MOST_LINES = {DeviceKind.CPU: 4, DeviceKind.CUDA: 32}
# Of a usual line: ten seconds of prompt, and half a minute of speech with its text.
_USUAL_LINE = 1536
# Memory is given in blocks, of which the first is vLLM's own.
_SPARE_POSITIONS = 512
_ITEM_BYTES = {Precision.FLOAT32: 4, Precision.BFLOAT16: 2, Precision.FLOAT16: 2}


@dataclass(frozen=True, slots=True)
class Capacity:
    """``max_positions`` of one line; keys and values of all lines in ``kv_cache_bytes``."""

    max_positions: int
    max_lines: int
    kv_cache_bytes: int


def wanted_capacity(config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """For as many lines at once as are worth it, of usual length, or for one of the greatest."""
    max_positions, max_lines = min(config.max_positions, _LONGEST_LINE), _MOST_LINES[kind]
    num_positions = max(max_lines * _USUAL_LINE, max_positions) + _SPARE_POSITIONS
    return Capacity(max_positions, max_lines, num_positions * position_bytes(config, precision))


def capacity_within(budget_bytes: int, config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """What of ``wanted_capacity`` fits into ``budget_bytes``. Raises ``OutOfMemory`` where not one line would."""
    wanted = wanted_capacity(config, precision, kind)
    if wanted.kv_cache_bytes <= budget_bytes:
        return wanted
    num_positions = budget_bytes // position_bytes(config, precision) - _SPARE_POSITIONS
    max_positions = min(wanted.max_positions, num_positions)
    if max_positions < min(_SHORTEST_LIMIT, config.max_positions):
        raise OutOfMemory(
            "There is not enough memory for vLLM: {free:.1f} GB may be used now.",
            remedy="Close other programs, or choose another engine.",
            free=max(0, budget_bytes) / 2**30,
        )
    max_lines = max(1, min(wanted.max_lines, num_positions // _USUAL_LINE))
    return Capacity(max_positions, max_lines, budget_bytes)


def position_bytes(config: QwenConfig, precision: Precision) -> int:
    """Keys and values of one position, in all layers."""
    return 2 * config.num_layers * config.num_kv_heads * config.head_size * _ITEM_BYTES[precision]
