"""Weights in blocks with 8 or 4 bits, in the layout of ONNX Runtime's ``MatMulNBits``.

Decision: blocks of 128, or of 64 for sizes that are not multiples of 128. Reason: a step takes as long as reading its
weights, and ONNX Runtime keeps 8 bytes for each block: with 4 bits, a third of the bytes for blocks of 32, and a ninth
for blocks of 128, whose products also take fewer instructions. With blocks of 32, 64 and 128, the decoder of CosyVoice3
takes 16.0, 14.4 and 13.0 ms in 4 bits; in 8 bits, 20.6 and 18.5 ms with blocks of 64 and 128. The errors of its scores
with random weights are 3.7 % and 4.2 % in 8 bits (64, 128); those of studio-mini are 0.60 % in 8 bits (64), and 2.8 %
and 3.3 % in 4 (32, 64).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

BLOCKS = (128, 64)  # weights; the largest block that fits is used
LEVELS = ".levels"  # the end of the names of all levels in a graph
ROWS = "rows"  # the input of a graph
# Rows that are quantized at once, so that temporary tensors fit the CPU cache.
_ROWS_AT_ONCE = 64
_MIN_SCALE = 1e-30


@dataclass(frozen=True, slots=True)
class BlockWeights:
    """A matrix (out, in) as unsigned levels: (level - zero) x scale, with a scale for each block of a row.

    Attributes:
        levels: (out, blocks, bytes of a block) uint8; of two 4-bit levels in a byte, the first has the lower bits.
        scales: (out, blocks) float32.
        zeros: The zero of each block, packed like the levels: (out, half the blocks, rounded up) uint8. None with 8
            bits, where it is 128.
    """

    bits: int
    levels: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float32]
    zeros: npt.NDArray[np.uint8] | None


def block_size(*widths: int) -> int | None:
    """Return the number of weights in a block for matrices of these widths, or None if no block fits."""
    return next((block for block in BLOCKS if all(width % block == 0 for width in widths)), None)


def quantize_blocks(weight: torch.Tensor, bits: int, block: int) -> BlockWeights:
    """Return ``weight`` (out, in) float32, whose width is a multiple of ``block``, in 8 or 4 bits."""
    pieces = [_quantize(rows, bits, block) for rows in torch.split(weight.detach(), _ROWS_AT_ONCE)]
    levels, scales, zeros = (torch.cat(parts) for parts in zip(*pieces, strict=True))
    return BlockWeights(bits, levels.numpy(), scales.numpy(), zeros.numpy() if bits == 4 else None)


def _quantize(rows: torch.Tensor, bits: int, block: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    blocks = rows.reshape(len(rows), -1, block)
    if bits == 8:
        scales = (blocks.abs().amax(dim=2) / 127).clamp_(min=_MIN_SCALE)
        levels = (blocks / scales[..., None]).round_().add_(128).to(torch.uint8)
        return levels, scales, levels.new_empty(len(rows), 0)
    assert bits == 4
    # The range includes zero, so that the level of zero is one of the sixteen.
    lowest, highest = blocks.amin(dim=2).clamp_(max=0), blocks.amax(dim=2).clamp_(min=0)
    scales = ((highest - lowest) / 15).clamp_(min=_MIN_SCALE)
    zeros = (-lowest / scales).round_()
    levels = (blocks / scales[..., None]).add_(zeros[..., None]).round_().clamp_(0, 15)
    return _pairs(levels), scales, _pairs(zeros)


def _pairs(levels: torch.Tensor) -> torch.Tensor:
    """Return two 4-bit levels per byte along the last dimension."""
    even = F.pad(levels, (0, levels.shape[-1] % 2)).to(torch.uint8)
    return even[..., 0::2] | even[..., 1::2] << 4
