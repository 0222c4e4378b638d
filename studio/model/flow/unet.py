"""U-Nets of the flow, and the estimator of CosyVoice2: a causal one without down-sampling (specification F6, keys I3).

Since ``channels`` has one entry, the causal one is a streamable stack of convolutions and transformer blocks with one
skip connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import UNetConfig
from studio.model.flow.layers import (
    AffineNorm,
    CausalConvolution,
    Change,
    Conditions,
    Context,
    Convolution,
    GeluLinear,
    MixedPrecision,
    Modulation,
    ProjectedAttention,
    VelocityEstimator,
    timestep_embedding,
)

TIME_RATIO = 4
_FEED_FORWARD_RATIO = 4


class GeluInput(nn.Module):
    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.proj = GeluLinear(size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.proj(x)
        return y


class FeedForward(MixedPrecision):
    def __init__(self, size: int) -> None:
        super().__init__()
        hidden_size = _FEED_FORWARD_RATIO * size
        self.net = nn.ModuleDict({"0": GeluInput(size, hidden_size), "2": nn.Linear(hidden_size, size)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.net["2"](self.net["0"](x))
        return y


class TransformerBlock(nn.Module):
    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        self.norm1 = AffineNorm(config.channels, eps=1e-5)
        self.attn1 = ProjectedAttention(config.channels, config.num_heads, config.head_size, has_bias=False)
        self.norm3 = AffineNorm(config.channels, eps=1e-5)
        self.ff = FeedForward(config.channels)

    def forward(self, x: torch.Tensor, change: Change | None, context: Context) -> tuple[torch.Tensor, Change]:
        """Return ``x`` with ``change`` and attention, and the change that the feed-forward layer makes to it."""
        x, normed = context.add_and_norm(x, change, self.norm1, self.attn1.input_dtype)
        x, normed = context.add_and_norm(x, Change(self.attn1(normed, context)), self.norm3, self.ff.input_dtype)
        return x, Change(self.ff(normed))


def run_transformers(blocks: Iterable[nn.Module], x: torch.Tensor, context: Context) -> torch.Tensor:
    """Return ``x`` after all ``blocks``, which are ``TransformerBlock``. Each adds the change of the one before it."""
    change: Change | None = None
    for block in blocks:
        x, change = block(x, change, context)
    return x if change is None else change.added_to(x)


class CausalBlock(MixedPrecision):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        convolution, norm = CausalConvolution(in_channels, out_channels, 3), AffineNorm(out_channels, eps=1e-5)
        self.block = nn.ModuleDict({"0": convolution, "2": norm})

    def forward(self, x: torch.Tensor, context: Context, addend: torch.Tensor | None = None) -> torch.Tensor:
        """Return the activations of ``x``, plus ``addend``, which may be 16-bit."""
        y, norm = self.block["0"](x, context), self.block["2"]
        assert isinstance(norm, AffineNorm)
        return F.mish(norm(y)) if addend is None else context.norm_and_mish(y, norm, addend)


def time_modulation(layers: nn.ModuleDict | None, time_embedding: torch.Tensor) -> tuple[torch.Tensor]:
    """Return the tensor (rows, 1, channels) that a resnet block adds between its two blocks."""
    assert layers is not None, "the time layers have been dropped"
    projected: torch.Tensor = layers["1"](F.mish(time_embedding))
    return (projected[:, None],)


class ResnetBlock(MixedPrecision):
    def __init__(self, in_channels: int, out_channels: int, time_size: int) -> None:
        super().__init__()
        self.mlp: nn.ModuleDict | None = nn.ModuleDict({"1": nn.Linear(time_size, out_channels)})
        self.block1 = CausalBlock(in_channels, out_channels)
        self.block2 = CausalBlock(out_channels, out_channels)
        self.res_conv = Convolution(in_channels, out_channels, 1)

    def forward(self, x: torch.Tensor, modulation: tuple[torch.Tensor, ...], context: Context) -> torch.Tensor:
        (of_time,) = modulation
        y: torch.Tensor = self.block2(self.block1(x, context, of_time), context, self.res_conv.valid(x))
        return y


class Stage(nn.ModuleList):
    """A resnet block, its transformer blocks, and a convolution except in the middle stages."""

    def __init__(self, resnet: nn.Module, config: UNetConfig, convolution: nn.Module | None = None) -> None:
        transformers = nn.ModuleList(TransformerBlock(config) for _ in range(config.num_transformer_blocks))
        super().__init__([resnet, transformers, *([] if convolution is None else [convolution])])

    @property
    def time_layers(self) -> nn.ModuleDict | None:
        layers: nn.ModuleDict | None = self[0].mlp  # type: ignore[assignment]
        return layers

    def drop_time_layers(self) -> None:
        self[0].mlp = None  # type: ignore[assignment]

    def transform(self, x: torch.Tensor, modulation: tuple[torch.Tensor, ...], context: Context) -> torch.Tensor:
        transformers: Iterable[nn.Module] = self[1]  # type: ignore[assignment]
        return run_transformers(transformers, self[0](x, modulation, context), context)

    def convolve(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        y: torch.Tensor = self[2](x, context)
        return y


class TimeEmbedding(nn.Module):
    def __init__(self, in_size: int, size: int) -> None:
        super().__init__()
        self.in_size = in_size
        self.linear_1 = nn.Linear(in_size, size)
        self.linear_2 = nn.Linear(size, size)

    def forward(self, time: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.linear_2(F.silu(self.linear_1(timestep_embedding(time, self.in_size))))
        return embedding


class UNet(VelocityEstimator):
    """A U-Net of ``stages``: down, middle and up."""

    def __init__(
        self, config: UNetConfig, mel_bins: int, stages: tuple[Iterable[Stage], ...], final_block: nn.Module
    ) -> None:
        super().__init__()
        self.time_mlp: TimeEmbedding | None = TimeEmbedding(4 * mel_bins, TIME_RATIO * config.channels)
        self.down_blocks, self.mid_blocks, self.up_blocks = map(nn.ModuleList, stages)
        self.final_block = final_block
        self.final_proj = Convolution(config.channels, mel_bins, 1)

    def modulation(self, time: torch.Tensor) -> Modulation:
        assert self.time_mlp is not None
        embedding = self.time_mlp(time)
        return tuple(time_modulation(stage.time_layers, embedding) for stage in self.stages())

    def drop_time_layers(self) -> None:
        self.time_mlp = None
        for stage in self.stages():
            stage.drop_time_layers()

    def stages(self, blocks: nn.ModuleList | None = None) -> Iterator[Stage]:
        for stage in blocks or (*self.down_blocks, *self.mid_blocks, *self.up_blocks):
            assert isinstance(stage, Stage)
            yield stage


def stacked(x: torch.Tensor, conditions: Conditions) -> torch.Tensor:
    """Return the input of a U-Net (rows, frames, 4 x mel_bins). The order differs from the DiT's (J1)."""
    speaker = conditions.speaker[:, None].expand(-1, x.shape[1], -1)
    return torch.cat([x, conditions.mean, speaker, conditions.prompt_mel], dim=-1)


class CausalUNet(UNet):
    def __init__(self, config: UNetConfig, mel_bins: int) -> None:
        channels = config.channels

        def stage(in_channels: int, *, has_convolution: bool) -> Stage:
            resnet = ResnetBlock(in_channels, channels, TIME_RATIO * channels)
            return Stage(resnet, config, CausalConvolution(channels, channels, 3) if has_convolution else None)

        down, up = (stage(size, has_convolution=True) for size in (4 * mel_bins, 2 * channels))
        middle = [stage(channels, has_convolution=False) for _ in range(config.num_mid_blocks)]
        super().__init__(config, mel_bins, ([down], middle, [up]), CausalBlock(channels, channels))

    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        (down, *middle, up), (of_down, *of_middle, of_up) = self.stages(), modulation
        skip = down.transform(stacked(x, conditions), of_down, context)
        h = down.convolve(skip, context)
        for stage, of_stage in zip(middle, of_middle, strict=True):
            h = stage.transform(h, of_stage, context)
        h = up.convolve(up.transform(torch.cat([h, skip], dim=-1), of_up, context), context)
        return self.final_proj.valid(self.final_block(h, context))
