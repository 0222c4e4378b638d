"""Residual blocks whose convolutions multiply in 16 bits: most of a vocoder's work, and the part that bears it.

Everything between the products stays float32, Snakes above all: half precision overflows where the frequency of one is
tiny. So do the layers at both ends, whose numbers are mel, spectrum and sound themselves.
"""

from __future__ import annotations

from itertools import chain

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.vocoder.layers import ResidualBlock
from studio.model.vocoder.network import HiFT


class HalfConvolution(nn.Module):
    """As ``plain``, in ``dtype``; float32 comes in and goes out."""

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
    """For inference; the weights are where they will stay."""
    for block in chain(network.resblocks, network.source_resblocks):
        assert isinstance(block, ResidualBlock)
        for convolutions in (block.convs1, block.convs2):
            for index, plain in enumerate(convolutions):
                assert isinstance(plain, nn.Conv1d)
                convolutions[index] = HalfConvolution(plain, dtype)
