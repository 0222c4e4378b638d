"""State of the flow after a voice prompt: the caches up to its last whole block, computed once per voice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from studio.model.flow.blocks import FlowCaches, FlowLayouts
from studio.model.flow.caches import CacheBlock, CacheKind, CacheLayout, StageCache
from studio.model.flow.model import FlowModel, PromptTensors


@dataclass(frozen=True)
class PromptState:
    """Read-only state shared by all streams of a voice. If ``caches`` is None, streams recompute the prompt."""

    voice: PromptTensors
    caches: FlowCaches | None = field(repr=False)

    @property
    def num_cached_tokens(self) -> int:
        return 0 if self.caches is None else self.caches.num_tokens

    @property
    def num_bytes(self) -> int:
        return 0 if self.caches is None else self.caches.num_bytes

    def tensors(self) -> Mapping[str, torch.Tensor]:
        """Return all caches by name, contiguous; empty if nothing is cached."""
        if self.num_cached_tokens == 0 or self.caches is None:
            return {}
        named: dict[str, torch.Tensor] = {}
        for part_name, part in self.caches.parts().items():
            for block in part.blocks:
                named |= {f"{part_name}.{name}": tensor for name, tensor in block.tensors.items()}
            named |= {f"{part_name}.tail.{index}": tail for index, tail in enumerate(part.tails)}
        return named


def cacheable_tokens(num_prompt_tokens: int, model: FlowModel) -> int:
    """Return the length of the prompt's whole blocks whose look-ahead is within the prompt (specification M3)."""
    chunk_tokens = model.config.chunk_tokens
    return max(0, (num_prompt_tokens - model.config.lookahead_tokens) // chunk_tokens * chunk_tokens)


def caches_from_tensors(
    tensors: Mapping[str, torch.Tensor], layouts: FlowLayouts, model: FlowModel, num_tokens: int, dtype: torch.dtype
) -> FlowCaches:
    """Return the caches made of ``tensors``, without copying those on the model's device.

    Raise ``ValueError`` for a tensor that is missing, unknown, or has the wrong shape or type.
    """
    num_frames = model.config.frames_per_token * num_tokens
    kind = CacheKind.INPUTS if "estimator.inputs" in tensors else CacheKind.KEYS_VALUES
    remaining = dict(tensors)

    def take(name: str, shape: tuple[int, ...], wanted: torch.dtype) -> torch.Tensor:
        tensor = remaining.pop(name, None)
        if tensor is None or tuple(tensor.shape) != shape or tensor.dtype is not wanted or not tensor.is_contiguous():
            found = "missing" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
            raise ValueError(f"{name} of the stored prompt state is {found}, not {wanted} {shape}")
        return tensor.to(model.device)

    def part(name: str, layout: CacheLayout, part_kind: CacheKind, frames: int) -> StageCache:
        shapes = layout.block_shapes(part_kind, frames)
        held = {key: take(f"{name}.{key}", shape, dtype) for key, shape in shapes.items()}
        tails = [take(f"{name}.tail.{i}", shape, model.dtype) for i, shape in enumerate(layout.tail_shapes())]
        blocks = [CacheBlock(part_kind, held, 0, frames)] if held else []
        return StageCache(layout, part_kind, cache_dtype=dtype, tails=tails, blocks=blocks, num_frames=frames)

    caches = FlowCaches(
        tokens=part("tokens", layouts.tokens, CacheKind.KEYS_VALUES, num_tokens),
        frames=part("frames", layouts.frames, CacheKind.KEYS_VALUES, num_frames),
        estimator=part("estimator", layouts.estimator, kind, num_frames),
    )
    if remaining:
        raise ValueError(f"the stored prompt state contains {next(iter(remaining))}, which this model does not have")
    return caches
