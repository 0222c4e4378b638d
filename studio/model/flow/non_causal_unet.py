"""Estimator of CosyVoice-300M: a U-Net that halves the frame rate, over whole utterances (specification F6, keys I3).

Its convolutions are centred and its norms average over all frames, so every frame depends on every other.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import UNetConfig
from studio.model.flow.layers import Conditions, Context, Convolution, Modulation
from studio.model.flow.unet import TIME_RATIO, Stage, UNet, stacked

_NORM_GROUPS = 8


class CentredConvolution(Convolution):
    """Convolution over the current frame and its two neighbours, with zeros beyond both ends."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, 3)

    def forward(self, x: torch.Tensor, _: Context | None = None) -> torch.Tensor:
        return self.valid(F.pad(x, (0, 0, 1, 1)))


class HalvingConvolution(nn.Module):
    """Convolution that keeps every second frame."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, stride=2, padding=1)

    def forward(self, x: torch.Tensor, _: Context) -> torch.Tensor:
        y: torch.Tensor = self.conv(x.transpose(1, 2))
        return y.transpose(1, 2)


class DoublingConvolution(nn.Module):
    """Transposed convolution that doubles the number of frames."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, channels, 4, stride=2, padding=1)

    def forward(self, x: torch.Tensor, _: Context) -> torch.Tensor:
        y: torch.Tensor = self.conv(x.transpose(1, 2))
        return y.transpose(1, 2)


class FrameNorm(nn.GroupNorm):
    """Group norm over all frames of (rows, frames, channels)."""

    def __init__(self, channels: int) -> None:
        super().__init__(_NORM_GROUPS, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class CentredBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.block = nn.Sequential(CentredConvolution(in_channels, out_channels), FrameNorm(out_channels), nn.Mish())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.block(x)
        return y


class CentredResnetBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, time_size: int) -> None:
        super().__init__()
        self.mlp: nn.ModuleDict | None = nn.ModuleDict({"1": nn.Linear(time_size, out_channels)})
        self.block1 = CentredBlock(in_channels, out_channels)
        self.block2 = CentredBlock(out_channels, out_channels)
        self.res_conv = Convolution(in_channels, out_channels, 1)

    def forward(self, x: torch.Tensor, modulation: tuple[torch.Tensor, ...], _: Context) -> torch.Tensor:
        (of_time,) = modulation
        y: torch.Tensor = self.block2(self.block1(x) + of_time)
        return y + self.res_conv.valid(x)


class NonCausalUNet(UNet):
    def __init__(self, config: UNetConfig, mel_bins: int) -> None:
        channels = config.channels

        def stage(in_channels: int, convolution: nn.Module | None = None) -> Stage:
            return Stage(CentredResnetBlock(in_channels, channels, TIME_RATIO * channels), config, convolution)

        def convolutions(between_levels: type[HalvingConvolution | DoublingConvolution]) -> list[nn.Module]:
            between = [between_levels(channels) for _ in range(config.num_levels - 1)]
            return [*between, CentredConvolution(channels, channels)]

        down = [
            stage(channels if level else 4 * mel_bins, convolution)
            for level, convolution in enumerate(convolutions(HalvingConvolution))
        ]
        middle = [stage(channels) for _ in range(config.num_mid_blocks)]
        up = [stage(2 * channels, convolution) for convolution in convolutions(DoublingConvolution)]
        super().__init__(config, mel_bins, (down, middle, up), CentredBlock(channels, channels))

    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        h = stacked(x, conditions)
        of_stages = iter(modulation)
        skips = []
        for down in self.stages(self.down_blocks):
            h = down.transform(h, next(of_stages), context)
            skips.append(h)
            h = down.convolve(h, context)
        for middle in self.stages(self.mid_blocks):
            h = middle.transform(h, next(of_stages), context)
        for up in self.stages(self.up_blocks):
            skip = skips.pop()
            # Doubling may give one frame more than the level above has.
            h = torch.cat([h[:, : skip.shape[1]], skip], dim=-1)
            h = up.convolve(up.transform(h, next(of_stages), context), context)
        return self.final_proj.valid(self.final_block(h))
