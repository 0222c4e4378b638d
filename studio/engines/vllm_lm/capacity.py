"""Size of vLLM's KV cache and number of concurrent lines, from the free memory."""

from __future__ import annotations

from dataclasses import dataclass

from studio.errors import OutOfMemory
from studio.model.config import Precision, QwenConfig
from studio.model.device_kind import DeviceKind

# The library, its activations and CUDA graphs; on a processor much less.
WORKING_BYTES = {DeviceKind.CPU: 1 << 30, DeviceKind.CUDA: 2 << 30}
# Positions (prompt, text and speech) of the longest line; plain PyTorch runs longer ones.
_LONGEST_LINE = 8192
_SHORTEST_LIMIT = 1024
_MOST_LINES = {DeviceKind.CPU: 4, DeviceKind.CUDA: 32}
# Positions of a typical line: ten seconds of prompt, half a minute of speech and its text.
_USUAL_LINE = 1536
# Memory is allocated in blocks, and vLLM reserves the first.
_SPARE_POSITIONS = 512
_ITEM_BYTES = {Precision.FLOAT32: 4, Precision.BFLOAT16: 2, Precision.FLOAT16: 2}


@dataclass(frozen=True, slots=True)
class Capacity:
    """``max_positions`` per line; ``kv_cache_bytes`` for the keys and values of all lines."""

    max_positions: int
    max_lines: int
    kv_cache_bytes: int


def wanted_capacity(config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """Return the capacity for the useful number of typical lines, or for one line of maximum length if that is more."""
    max_positions, max_lines = min(config.max_positions, _LONGEST_LINE), _MOST_LINES[kind]
    num_positions = max(max_lines * _USUAL_LINE, max_positions) + _SPARE_POSITIONS
    return Capacity(max_positions, max_lines, num_positions * position_bytes(config, precision))


def capacity_within(budget_bytes: int, config: QwenConfig, precision: Precision, kind: DeviceKind) -> Capacity:
    """Return ``wanted_capacity`` reduced to ``budget_bytes``. Raises ``OutOfMemory`` if not one line fits."""
    wanted = wanted_capacity(config, precision, kind)
    if wanted.kv_cache_bytes <= budget_bytes:
        return wanted
    num_positions = budget_bytes // position_bytes(config, precision) - _SPARE_POSITIONS
    max_positions = min(wanted.max_positions, num_positions)
    if max_positions < min(_SHORTEST_LIMIT, config.max_positions):
        raise OutOfMemory(
            "There is not enough memory for vLLM: {free:.1f} GB are available.",
            remedy="Close other programs, or choose another engine.",
            free=max(0, budget_bytes) / 2**30,
        )
    max_lines = max(1, min(wanted.max_lines, num_positions // _USUAL_LINE))
    return Capacity(max_positions, max_lines, budget_bytes)


def position_bytes(config: QwenConfig, precision: Precision) -> int:
    """Return the bytes of keys and values per position, over all layers."""
    return 2 * config.num_layers * config.num_kv_heads * config.head_size * _ITEM_BYTES[precision]
