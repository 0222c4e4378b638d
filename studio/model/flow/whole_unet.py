"""Estimator of CosyVoice-300M: a U-Net that halves the frame rate, over whole utterances (specification F6, keys I3).

Its convolutions are centred and its norms average over all frames, so every frame depends on every other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import UNetConfig
from studio.model.flow.layers import Conditions, Context, Convolution, Modulation, VelocityEstimator
from studio.model.flow.unet import TIME_RATIO, TimeEmbedding, TransformerBlock, run_transformers, time_modulation

_NORM_GROUPS = 8


class CentredConvolution(Convolution):
    """Convolution over the current frame and its two neighbours, with zeros beyond both ends."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.valid(F.pad(x, (0, 0, 1, 1)))


class HalvingConvolution(nn.Module):
    """Convolution that keeps every second frame."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.conv(x.transpose(1, 2))
        return y.transpose(1, 2)


class DoublingConvolution(nn.Module):
    """Transposed convolution that doubles the number of frames."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, channels, 4, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
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

    def forward(self, x: torch.Tensor, modulation: tuple[torch.Tensor, ...]) -> torch.Tensor:
        (of_time,) = modulation
        y: torch.Tensor = self.block2(self.block1(x) + of_time)
        return y + self.res_conv.valid(x)


class WholeStage(nn.ModuleList):
    """A resnet block, its transformer blocks, and a convolution except in the middle stages."""

    def __init__(self, in_channels: int, config: UNetConfig, convolution: nn.Module | None = None) -> None:
        resnet = CentredResnetBlock(in_channels, config.channels, TIME_RATIO * config.channels)
        transformers = nn.ModuleList(TransformerBlock(config) for _ in range(config.num_transformer_blocks))
        tail = [] if convolution is None else [convolution]
        super().__init__([resnet, transformers, *tail])

    @property
    def resnet(self) -> CentredResnetBlock:
        resnet = self[0]
        assert isinstance(resnet, CentredResnetBlock)
        return resnet

    def transform(self, x: torch.Tensor, modulation: tuple[torch.Tensor, ...], context: Context) -> torch.Tensor:
        transformers: Iterable[nn.Module] = self[1]  # type: ignore[assignment]
        return run_transformers(transformers, self.resnet(x, modulation), context)

    def convolve(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self[2](x)
        return y


class WholeUNet(VelocityEstimator):
    def __init__(self, config: UNetConfig, mel_bins: int) -> None:
        super().__init__()
        in_channels, channels, last = 4 * mel_bins, config.channels, config.num_levels - 1
        self.time_mlp: TimeEmbedding | None = TimeEmbedding(in_channels, TIME_RATIO * channels)
        self.down_blocks = nn.ModuleList(
            WholeStage(
                channels if level else in_channels,
                config,
                HalvingConvolution(channels) if level < last else CentredConvolution(channels, channels),
            )
            for level in range(config.num_levels)
        )
        self.mid_blocks = nn.ModuleList(WholeStage(channels, config) for _ in range(config.num_mid_blocks))
        self.up_blocks = nn.ModuleList(
            WholeStage(
                2 * channels,
                config,
                DoublingConvolution(channels) if level < last else CentredConvolution(channels, channels),
            )
            for level in range(config.num_levels)
        )
        self.final_block = CentredBlock(channels, channels)
        self.final_proj = Convolution(channels, mel_bins, 1)

    def modulation(self, time: torch.Tensor) -> Modulation:
        assert self.time_mlp is not None
        embedding = self.time_mlp(time)
        return tuple(time_modulation(stage.resnet.mlp, embedding) for stage in self._stages())

    def drop_time_layers(self) -> None:
        self.time_mlp = None
        for stage in self._stages():
            stage.resnet.mlp = None

    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        speaker = conditions.speaker[:, None].expand(-1, x.shape[1], -1)
        h = torch.cat([x, conditions.mean, speaker, conditions.prompt_mel], dim=-1)
        of_stages = iter(modulation)
        skips = []
        for down in self._stages(self.down_blocks):
            h = down.transform(h, next(of_stages), context)
            skips.append(h)
            h = down.convolve(h)
        for middle in self._stages(self.mid_blocks):
            h = middle.transform(h, next(of_stages), context)
        for up in self._stages(self.up_blocks):
            skip = skips.pop()
            # Doubling may give one frame more than the level above has.
            h = torch.cat([h[:, : skip.shape[1]], skip], dim=-1)
            h = up.convolve(up.transform(h, next(of_stages), context))
        return self.final_proj.valid(self.final_block(h))

    def _stages(self, blocks: nn.ModuleList | None = None) -> Iterator[WholeStage]:
        for stage in blocks or (*self.down_blocks, *self.mid_blocks, *self.up_blocks):
            assert isinstance(stage, WholeStage)
            yield stage
