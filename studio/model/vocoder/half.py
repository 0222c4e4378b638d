"""Residual blocks with 16-bit convolutions, which are most of the vocoder's work and tolerate rounding.

Everything between the convolutions stays float32, especially Snakes, in which half precision overflows for a tiny
frequency. So do the layers at both ends, which process mel, spectrum and samples.
"""

from __future__ import annotations

from itertools import chain

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.vocoder.layers import ResidualBlock
from studio.model.vocoder.network import HiFT


class HalfConvolution(nn.Module):
    """A copy of ``plain`` in ``dtype``, with float32 input and output."""

    def __init__(self, plain: nn.Conv1d, dtype: torch.dtype) -> None:
        super().__init__()
        assert plain.bias is not None
        self.weight = nn.Parameter(plain.weight.to(dtype), requires_grad=False)
        self.bias = nn.Parameter(plain.bias.to(dtype), requires_grad=False)
        self._dilation = plain.dilation

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        half = columns.to(self.weight.dtype)
        return F.conv1d(half, self.weight, self.bias, dilation=self._dilation).to(columns.dtype)


def to_half(network: HiFT, dtype: torch.dtype) -> None:
    """Replace the convolutions in residual blocks, for inference, after moving ``network`` to its device."""
    for block in chain(network.resblocks, network.source_resblocks):
        assert isinstance(block, ResidualBlock)
        for convolutions in (block.convs1, block.convs2):
            for index, plain in enumerate(convolutions):
                assert isinstance(plain, nn.Conv1d)
                convolutions[index] = HalfConvolution(plain, dtype)
