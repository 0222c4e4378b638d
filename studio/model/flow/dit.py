"""Estimator of CosyVoice3: a diffusion transformer (specification F7, keys I4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import DiTConfig
from studio.model.flow.layers import (
    CausalConvolution,
    Change,
    Conditions,
    Context,
    GeluLinear,
    MixedPrecision,
    Modulation,
    ProjectedAttention,
    VelocityEstimator,
    timestep_embedding,
)

_LAYER_NORM_EPS = 1e-6
_TIME_SINUSOIDS = 256
_POSITION_KERNEL = 31
_POSITION_GROUPS = 16


class BlockModulation(NamedTuple):
    """Modulation of one block, each (rows, 1, size). Scales are one plus the network output."""

    attention_shift: torch.Tensor
    attention_scale: torch.Tensor
    attention_gate: torch.Tensor
    feed_forward_shift: torch.Tensor
    feed_forward_scale: torch.Tensor
    feed_forward_gate: torch.Tensor


class EndModulation(NamedTuple):
    shift: torch.Tensor
    scale: torch.Tensor


_ROTARY_OVERRIDE: ContextVar[torch.Tensor | None] = ContextVar("rotary_override", default=None)


@contextmanager
def override_rotary(rotations: torch.Tensor) -> Iterator[None]:
    """Use the given rotations in this context and thread, regardless of frame positions.

    They are complex (frames, head_size / 2), or cosines and sines (2, frames, head_size / 2) for traced graphs, which
    have no complex numbers. A traced or captured graph must not treat the rotations of its example frames as constants.
    """
    token = _ROTARY_OVERRIDE.set(rotations)
    try:
        yield
    finally:
        _ROTARY_OVERRIDE.reset(token)


class RotaryPositions(nn.Module):
    """Rotates adjacent pairs of the first ``head_size`` channels by an angle proportional to the frame index."""

    inv_freq: torch.Tensor

    def __init__(self, head_size: int) -> None:
        super().__init__()
        # Not with torch.arange: on the meta device, where models are built, it imports torch's compiler.
        rates = [10000.0 ** (-channel / head_size) for channel in range(0, head_size, 2)]
        self.register_buffer("inv_freq", torch.tensor(rates, dtype=torch.float32))
        self._last_rotations: tuple[tuple[int, int, object], torch.Tensor] | None = None

    def rotate(self, channels: torch.Tensor, start: int) -> None:
        """Rotate ``channels`` (rows, frames, …, head_size) in place, 16-bit ones in float32."""
        rotations = _ROTARY_OVERRIDE.get()
        if rotations is None:
            rotations = self.rotations(start, channels.shape[1])
        wide = channels.to(torch.promote_types(channels.dtype, torch.float32))
        pairs = torch.view_as_complex(torch.unflatten(wide, -1, (-1, 2)))
        pairs.mul_(rotations.view(rotations.shape[0], *[1] * (channels.dim() - 3), rotations.shape[1]))
        if wide is not channels:
            channels.copy_(wide)

    def rotations(self, start: int, num_frames: int) -> torch.Tensor:
        """Return complex rotations (frames, head_size / 2). The last result is cached for the other layers of a call.

        It is not reused on another stream of a GPU, where it might not have been computed yet.
        """
        device = self.inv_freq.device
        stream: object = torch.get_device_module(device).current_stream(device)
        last, wanted = self._last_rotations, (start, num_frames, stream)
        if last is None or last[0] != wanted or last[1].device != device:
            with torch.inference_mode(mode=False), torch.no_grad():  # the cached result may be used in training later
                frames = torch.arange(start, start + num_frames, device=device)
                angles = frames[:, None].to(self.inv_freq.dtype) * self.inv_freq
                self._last_rotations = last = (wanted, torch.polar(torch.ones_like(angles), angles))
        return last[1]


class Attention(ProjectedAttention):
    """Attention with rotary positions."""

    def __init__(self, config: DiTConfig, rotary: RotaryPositions) -> None:
        super().__init__(config.size, config.num_heads, config.head_size, has_bias=True)
        # Shared by all layers and registered in the estimator; the tuple keeps it out of this module.
        self._rotary = (rotary,)

    def positioned(self, projected: torch.Tensor, start: int) -> torch.Tensor:
        """Rotate ``projected`` (rows, frames, channels) before the split into heads, so only the first head is rotated.

        This looks like an error in the official code, but the weights were trained with it (J1).
        """
        override = _ROTARY_OVERRIDE.get()
        if override is None or override.is_complex():
            self._rotary[0].rotate(projected[..., : self.head_size], start)
            return projected
        cos, sin = override.unbind(0)
        even, odd = projected[..., 0 : self.head_size : 2], projected[..., 1 : self.head_size : 2]
        turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)
        return torch.cat([turned, projected[..., self.head_size :]], dim=-1)

    def rotated(self, projected: torch.Tensor, start: int) -> torch.Tensor:
        self._rotary[0].rotate(projected[:, :, :2, 0], start)  # the first head of queries and keys
        return projected


class FeedForward(MixedPrecision):
    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        into, out_of = GeluLinear(size, hidden_size, approximate="tanh"), nn.Linear(hidden_size, size)
        self.ff = nn.ModuleDict({"0": nn.ModuleList([into]), "2": out_of})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        into, out_of = self.ff["0"][0], self.ff["2"]  # type: ignore[index]
        y: torch.Tensor = out_of(into(x))
        return y


class AdaptiveNorm(nn.Module):
    """Projection of the time embedding to shifts, scales and gates of a norm without parameters."""

    def __init__(self, size: int, num_parts: int) -> None:
        super().__init__()
        self.num_parts = num_parts
        self.linear = nn.Linear(size, num_parts * size)

    def forward(self, time_embedding: torch.Tensor) -> Sequence[torch.Tensor]:
        projected: torch.Tensor = self.linear(F.silu(time_embedding))
        return projected[:, None].chunk(self.num_parts, dim=-1)


@dataclass(frozen=True, slots=True)
class ModulatedNorm:
    """A ``Norm`` whose ``bias`` and ``weight``, (rows, 1, size), depend on the time.

    ``size``, the number of channels, is fixed in traced graphs.
    """

    size: int
    bias: torch.Tensor
    weight: torch.Tensor
    eps: float = _LAYER_NORM_EPS

    def __call__(self, x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        if self.weight.numel() == self.size and torch._C._get_tracing_state() is None:  # engines fuse the plain form
            normed = F.layer_norm(x, (self.size,), self.weight.view(-1), self.bias.view(-1), self.eps)
            return normed if dtype is None else normed.to(dtype)
        normed = F.layer_norm(x, (self.size,), eps=self.eps)
        if dtype is None:
            return torch.addcmul(self.bias, normed, self.weight)
        return torch.addcmul(self.bias, normed, self.weight, out=torch.empty_like(normed, dtype=dtype))


class Block(nn.Module):
    def __init__(self, config: DiTConfig, rotary: RotaryPositions) -> None:
        super().__init__()
        self.size = config.size
        self.attn_norm: AdaptiveNorm | None = AdaptiveNorm(config.size, 6)
        self.attn = Attention(config, rotary)
        self.ff = FeedForward(config.size, config.feed_forward_ratio * config.size)

    def modulation(self, time_embedding: torch.Tensor) -> BlockModulation:
        assert self.attn_norm is not None
        shift1, scale1, gate1, shift2, scale2, gate2 = self.attn_norm(time_embedding)
        return BlockModulation(shift1, 1 + scale1, gate1, shift2, 1 + scale2, gate2)

    def forward(
        self, x: torch.Tensor, change: Change | None, modulation: BlockModulation, context: Context
    ) -> tuple[torch.Tensor, Change]:
        """Return ``x`` with ``change`` and attention, and the change that the feed-forward layer makes to it."""
        m = modulation
        norm = ModulatedNorm(self.size, m.attention_shift, m.attention_scale)
        x, normed = context.add_and_norm(x, change, norm, self.attn.input_dtype)
        change = Change(self.attn(normed, context), m.attention_gate)
        norm = ModulatedNorm(self.size, m.feed_forward_shift, m.feed_forward_scale)
        x, normed = context.add_and_norm(x, change, norm, self.ff.input_dtype)
        return x, Change(self.ff(normed), m.feed_forward_gate)


class TimeEmbedding(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.time_mlp = nn.ModuleDict({"0": nn.Linear(_TIME_SINUSOIDS, size), "2": nn.Linear(size, size)})

    def forward(self, time: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.time_mlp["2"](
            F.silu(self.time_mlp["0"](timestep_embedding(time, _TIME_SINUSOIDS)))
        )
        return embedding


class PositionConvolution(nn.Module):
    """Two wide grouped convolutions that encode the relative positions of frames."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.conv1 = nn.ModuleList([CausalConvolution(size, size, _POSITION_KERNEL, groups=_POSITION_GROUPS)])
        self.conv2 = nn.ModuleList([CausalConvolution(size, size, _POSITION_KERNEL, groups=_POSITION_GROUPS)])

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        return F.mish(self.conv2[0](F.mish(self.conv1[0](x, context)), context))


class InputEmbedding(nn.Module):
    def __init__(self, size: int, mel_bins: int) -> None:
        super().__init__()
        self.proj = nn.Linear(4 * mel_bins, size)
        self.conv_pos_embed = PositionConvolution(size)

    def forward(self, x: torch.Tensor, conditions: Conditions, context: Context) -> torch.Tensor:
        speaker = conditions.speaker[:, None].expand(-1, x.shape[1], -1)
        h: torch.Tensor = self.proj(torch.cat([x, conditions.prompt_mel, conditions.mean, speaker], dim=-1))
        y: torch.Tensor = h + self.conv_pos_embed(h, context)
        return y


class DiT(VelocityEstimator):
    def __init__(self, config: DiTConfig, mel_bins: int) -> None:
        super().__init__()
        self.size = config.size
        self.time_embed: TimeEmbedding | None = TimeEmbedding(config.size)
        self.input_embed = InputEmbedding(config.size, mel_bins)
        self.rotary_embed = RotaryPositions(config.head_size)
        self.transformer_blocks = nn.ModuleList(Block(config, self.rotary_embed) for _ in range(config.depth))
        self.norm_out: AdaptiveNorm | None = AdaptiveNorm(config.size, 2)
        self.proj_out = nn.Linear(config.size, mel_bins)

    def modulation(self, time: torch.Tensor) -> Modulation:
        assert self.time_embed is not None and self.norm_out is not None  # noqa: PT018
        embedding = self.time_embed(time)
        # Unlike in the blocks, the scale comes first (J1).
        scale, shift = self.norm_out(embedding)
        return (*(block.modulation(embedding) for block in self._blocks()), EndModulation(shift, 1 + scale))

    def drop_time_layers(self) -> None:
        self.time_embed = self.norm_out = None
        for block in self._blocks():
            block.attn_norm = None

    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        h = self.input_embed(x, conditions, context)
        *of_blocks, of_end = modulation
        change: Change | None = None
        for block, of_block in zip(self._blocks(), of_blocks, strict=True):
            h, change = block(h, change, BlockModulation(*of_block), context)
        norm = ModulatedNorm(self.size, *EndModulation(*of_end))
        v: torch.Tensor = self.proj_out(context.add_and_norm(h, change, norm, None)[1])
        return v

    def _blocks(self) -> list[Block]:
        return [block for block in self.transformer_blocks if isinstance(block, Block)]
