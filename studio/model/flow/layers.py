"""Layers that the networks of the flow share, and their contexts.

A layer accesses other frames through a ``Context``, which is the only difference between whole and streamed runs. In a
``FullContext``, the call contains all frames. A ``caches.CachedContext`` adds the frames of earlier calls. So the same
network serves training, whole utterances and exact streaming.

Tensors are ``(rows, frames, channels)``; in attention ``(rows, heads, frames, head_size)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import nn

KeysValues = tuple[torch.Tensor, torch.Tensor]


class MixedPrecision(nn.Module):
    """Module whose linear layers may return 16-bit results, which it adds to, or returns for adding to, float32.

    ``input_dtype`` is the type of its first weights if that is not the type of the other tensors. A caller that
    returns its own result in this type saves a conversion. ``packing`` sets it.
    """

    input_dtype: torch.dtype | None = None


class SelfAttention(nn.Module, ABC):
    """Projections of one attention layer. The context computes the attention itself."""

    # Index of this layer in its part of the network, set by ``number_layers``.
    layer: int = -1

    def __init__(self, input_size: int, num_heads: int, head_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.num_heads = num_heads
        self.head_size = head_size

    @abstractmethod
    def queries(self, normed: torch.Tensor, start: int) -> torch.Tensor:
        """Return queries (rows, heads, frames, head_size). ``start`` is the absolute index of the first frame."""

    @abstractmethod
    def keys_values(self, normed: torch.Tensor, start: int) -> KeysValues:
        """Return keys and values, both (rows, heads, frames, head_size)."""

    @abstractmethod
    def output(self, heads: torch.Tensor) -> torch.Tensor:
        """Project ``heads`` (rows, frames, num_heads x head_size) to (rows, frames, channels)."""

    def score_bias(self, queries: torch.Tensor, start: int, num_keys: int) -> torch.Tensor | None:
        """Return a bias for the scaled scores of queries from ``start`` on with keys 0..num_keys, or None."""
        del queries, start, num_keys
        return None

    def split_heads(self, projected: torch.Tensor) -> torch.Tensor:
        rows, frames, _ = projected.shape
        return projected.reshape(rows, frames, self.num_heads, self.head_size).transpose(1, 2)

    def projections(self, normed: torch.Tensor, start: int) -> tuple[torch.Tensor, ...]:
        """Return queries, keys and values, each (rows, heads, frames, head_size)."""
        return self.queries(normed, start), *self.keys_values(normed, start)

    def project(self, normed: torch.Tensor, start: int) -> torch.Tensor:
        """Return queries, keys and values in one tensor (3, rows, heads, frames, head_size)."""
        return torch.stack(self.projections(normed, start))

    def forward(self, normed: torch.Tensor, context: Context) -> torch.Tensor:
        return self.output(context.attend(self, normed).transpose(1, 2).flatten(2))


class GeluLinear(nn.Linear):
    """Linear layer followed by GELU, which ``packing`` may compute in one kernel. ``approximate`` is as in ``F.gelu``."""

    def __init__(self, size: int, hidden_size: int, approximate: str = "none") -> None:
        super().__init__(size, hidden_size)
        self.approximate = approximate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(super().forward(x), approximate=self.approximate)


class ProjectedAttention(MixedPrecision, SelfAttention):
    """Attention of both estimators, without positions."""

    # The three projections as one layer, if ``packing`` has merged them and deleted the separate layers.
    to_qkv: Callable[[torch.Tensor], torch.Tensor] | None = None

    def __init__(self, input_size: int, num_heads: int, head_size: int, *, has_bias: bool) -> None:
        super().__init__(input_size, num_heads, head_size)
        inner_size = num_heads * head_size
        self.to_q = nn.Linear(input_size, inner_size, bias=has_bias)
        self.to_k = nn.Linear(input_size, inner_size, bias=has_bias)
        self.to_v = nn.Linear(input_size, inner_size, bias=has_bias)
        self.to_out = nn.ModuleList([nn.Linear(inner_size, input_size)])

    def queries(self, normed: torch.Tensor, start: int) -> torch.Tensor:
        if self.to_qkv is not None:
            return self.project(normed, start)[0]
        return self.split_heads(self.positioned(self.to_q(normed), start))

    def keys_values(self, normed: torch.Tensor, start: int) -> KeysValues:
        if self.to_qkv is not None:
            _, keys, values = self.project(normed, start).unbind(0)
            return keys, values
        return self.split_heads(self.positioned(self.to_k(normed), start)), self.split_heads(self.to_v(normed))

    def projections(self, normed: torch.Tensor, start: int) -> tuple[torch.Tensor, ...]:
        if self.to_qkv is not None:
            return self.project(normed, start).unbind(0)
        queries = self.positioned(self.to_q(normed), start)
        keys = self.positioned(self.to_k(normed), start)
        return tuple(map(self.split_heads, (queries, keys, self.to_v(normed))))

    def project(self, normed: torch.Tensor, start: int) -> torch.Tensor:
        if self.to_qkv is None:
            return super().project(normed, start)
        projected = torch.unflatten(self.to_qkv(normed), -1, (3, self.num_heads, self.head_size))
        return self.rotated(projected, start).permute(2, 0, 3, 1, 4)

    def positioned(self, projected: torch.Tensor, start: int) -> torch.Tensor:  # noqa: ARG002 - no positions
        """Return queries or keys (rows, frames, channels) with positions, in place if possible."""
        return projected

    def rotated(self, projected: torch.Tensor, start: int) -> torch.Tensor:  # noqa: ARG002 - no positions
        """Return queries, keys and values (rows, frames, 3, heads, head_size) with positions, in place if possible."""
        return projected

    def output(self, heads: torch.Tensor) -> torch.Tensor:
        joined: torch.Tensor = self.to_out[0](heads)
        return joined


class Norm(Protocol):
    """Layer norm over the channels, multiplied by ``weight`` and added to ``bias``, both (…, channels)."""

    @property
    def eps(self) -> float: ...

    @property
    def weight(self) -> torch.Tensor: ...

    @property
    def bias(self) -> torch.Tensor: ...

    def __call__(self, x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return the norm of ``x`` in ``dtype``, or in the type of ``x``."""
        ...


class AffineNorm(nn.LayerNorm):
    """A ``Norm`` with learned weights. The input may be 16-bit."""

    def forward(self, x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        normed: torch.Tensor = super().forward(x.to(self.weight.dtype))
        return normed if dtype is None else normed.to(dtype)


class Change(NamedTuple):
    """What a layer adds to its input: ``result`` (rows, frames, channels), times ``gate`` (1, 1, channels) if given."""

    result: torch.Tensor
    gate: torch.Tensor | None = None

    def added_to(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.result if self.gate is None else torch.addcmul(x, self.gate, self.result)


class Context(Protocol):
    """Access of a layer to other frames, and sums with norms, which an engine may compute in one kernel."""

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        """Return ``x`` preceded by the convolution's ``past_frames`` earlier frames, zeros at the start."""
        ...

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        """Return the attention (rows, heads, frames, head_size) of ``normed`` over all visible frames."""
        ...

    def add_and_norm(
        self, x: torch.Tensor, change: Change | None, norm: Norm, dtype: torch.dtype | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return ``x`` with ``change``, and the norm of the sum in ``dtype``."""
        changed = x if change is None else change.added_to(x)
        return changed, norm(changed, dtype)

    def norm_and_mish(self, x: torch.Tensor, norm: Norm, addend: torch.Tensor) -> torch.Tensor:
        """Return the Mish of the norm of ``x``, plus ``addend``, (rows, frames, channels) or (1, 1, channels)."""
        return F.mish(norm(x)) + addend


class Convolution(nn.Conv1d):
    """Convolution over time without padding, on (rows, frames, channels). The output has k - 1 fewer frames."""

    # If ``packing`` has replaced the weight: multiplication of windows (rows, frames, kernel x in), or, with several
    # groups, the convolution itself. ``input_dtype`` is the type that it takes without a conversion; None takes any.
    product: Callable[[torch.Tensor], torch.Tensor] | None = None
    input_dtype: torch.dtype | None = None

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, groups: int = 1) -> None:
        super().__init__(in_channels, out_channels, kernel_size, groups=groups)

    @property
    def past_frames(self) -> int:
        return self.kernel_size[0] - 1

    def valid(self, x: torch.Tensor) -> torch.Tensor:
        if self.product is not None:
            if self.input_dtype is not None:
                x = x.to(self.input_dtype)  # before the windows, which repeat values
            if self.kernel_size[0] > 1 and self.groups == 1:
                # View the windows (rows, frames, channels, kernel), then order each like the matrix.
                x = x.unfold(1, self.kernel_size[0], 1).transpose(2, 3).flatten(2)
            return self.product(x)
        return F.conv1d(x.transpose(1, 2), self.weight, self.bias, groups=self.groups).transpose(1, 2)


class CausalConvolution(Convolution):
    """Convolution over the current and the ``past_frames`` previous frames."""

    layer: int = -1

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:  # type: ignore[override]
        return self.valid(context.left_context(self, x))


@dataclass(frozen=True)
class FullContext(Context):
    """Context of a call that contains the whole sequence: differentiable, and the reference for the caches.

    Attributes:
        chunk_frames: Chunk length of the streaming mask (specification F8), in which a frame sees all earlier frames
            and the rest of its own chunk. Without it, a frame sees all frames.
        is_valid: Mask (rows, frames) that excludes the padding of a batch.
    """

    chunk_frames: int | None = None
    is_valid: torch.Tensor | None = None

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        return F.pad(x, (0, 0, convolution.past_frames, 0))

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        frames = normed.shape[1]
        queries, keys, values = attention.projections(normed, 0)
        step = self.chunk_frames or max(frames, 1)
        # Chunk by chunk, so that no masked scores are computed.
        chunks = []
        for start in range(0, frames, step):
            stop = min(start + step, frames)
            chunk = queries[:, :, start:stop]
            mask = attention.score_bias(chunk, start, stop)
            if self.is_valid is not None:
                is_hidden = ~self.is_valid[:, None, None, :stop]
                blank = torch.zeros((), dtype=chunk.dtype, device=chunk.device) if mask is None else mask
                mask = blank.masked_fill(is_hidden, float("-inf"))
            chunks.append(F.scaled_dot_product_attention(chunk, keys[:, :, :stop], values[:, :, :stop], attn_mask=mask))
        return chunks[0] if len(chunks) == 1 else torch.cat(chunks, dim=2)


def number_layers(modules: Sequence[nn.Module]) -> tuple[list[SelfAttention], list[CausalConvolution]]:
    """Number the attention layers and causal convolutions in ``modules``, in order of definition."""
    attentions = [m for module in modules for m in module.modules() if isinstance(m, SelfAttention)]
    convolutions = [m for module in modules for m in module.modules() if isinstance(m, CausalConvolution)]
    for index, attention in enumerate(attentions):
        attention.layer = index
    for index, convolution in enumerate(convolutions):
        convolution.layer = index
    return attentions, convolutions


# Values that depend only on the time: a few small tensors for each layer that uses them.
Modulation = tuple[tuple[torch.Tensor, ...], ...]


class Conditions(NamedTuple):
    """Inputs of an estimator that are the same in all solver steps."""

    mean: torch.Tensor  # (rows, frames, mel_bins)
    prompt_mel: torch.Tensor  # (rows, frames, mel_bins)
    speaker: torch.Tensor  # (rows, mel_bins)


class VelocityEstimator(nn.Module, ABC):
    """Estimates the velocity of each mel frame at a point on the path from noise to speech.

    Decision: ``modulation`` computes everything that depends only on the time. Reason: the ten times of a
    solver never change, so their modulation is a small table. Its layers are 42 % of CosyVoice3's estimator
    and need not stay in memory (``drop_time_layers``).
    """

    @abstractmethod
    def modulation(self, time: torch.Tensor) -> Modulation:
        """Return the values that all layers derive from ``time`` (rows,), in 0..1."""

    @abstractmethod
    def drop_time_layers(self) -> None:
        """Free the layers that ``modulation`` needs. It cannot be called afterwards."""

    @abstractmethod
    def velocity(
        self, x: torch.Tensor, conditions: Conditions, modulation: Modulation, context: Context
    ) -> torch.Tensor:
        """Return the velocity (rows, frames, mel_bins) of ``x`` of the same shape."""

    def forward(self, x: torch.Tensor, time: torch.Tensor, conditions: Conditions, context: Context) -> torch.Tensor:
        return self.velocity(x, conditions, self.modulation(time), context)


def timestep_embedding(time: torch.Tensor, size: int) -> torch.Tensor:
    """Return ``size / 2`` sines, then as many cosines, of 1000 times ``time``: (rows, size)."""
    half = size // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float32, device=time.device) * -(math.log(10000.0) / (half - 1)))
    angles = 1000.0 * time[:, None] * rates.to(time.dtype)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
