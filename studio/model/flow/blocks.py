"""Decoding of grid blocks with the caches of all three parts of the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from studio.model.flow.caches import CacheBudget, CacheKind, CacheLayout, StageCache
from studio.model.flow.model import FlowModel, PromptTensors
from studio.model.flow.network import EncoderContext

_ROWS = 2  # conditional and unconditional
# Larger matrix multiplications make better use of several cores; more blocks than this bring no gain.
_BLOCKS_AT_ONCE = 4


@dataclass(frozen=True)
class FlowLayouts:
    """Shapes of the caches of one model."""

    tokens: CacheLayout
    frames: CacheLayout
    estimator: CacheLayout

    @classmethod
    def of(cls, model: FlowModel) -> FlowLayouts:
        network, chunk_tokens, grid_frames = model.network, model.config.chunk_tokens, model.grid_frames
        return cls(
            tokens=CacheLayout.of(network.token_rate_modules(), num_steps=1, num_rows=1, block_frames=chunk_tokens),
            frames=CacheLayout.of(network.frame_rate_modules(), num_steps=1, num_rows=1, block_frames=grid_frames),
            estimator=CacheLayout.of(
                (network.estimator,),
                num_steps=len(model.steps),
                num_rows=_ROWS,
                block_frames=grid_frames,
            ),
        )

    def num_bytes(self, kind: CacheKind, num_tokens: int, num_frames: int, dtype: torch.dtype) -> int:
        return (
            self.tokens.block_bytes(CacheKind.KEYS_VALUES, num_tokens, dtype)
            + self.frames.block_bytes(CacheKind.KEYS_VALUES, num_frames, dtype)
            + self.estimator.block_bytes(kind, num_frames, dtype)
        )


@dataclass
class FlowCaches:
    """All caches of one run of the flow. The encoder's caches are small and always contain keys and values."""

    blocks_at_once: ClassVar[int] = _BLOCKS_AT_ONCE

    tokens: StageCache
    frames: StageCache
    estimator: StageCache

    @classmethod
    def empty(cls, layouts: FlowLayouts, kind: CacheKind, like: torch.Tensor, cache_dtype: torch.dtype) -> FlowCaches:
        return cls(
            tokens=StageCache.empty(layouts.tokens, CacheKind.KEYS_VALUES, like, cache_dtype),
            frames=StageCache.empty(layouts.frames, CacheKind.KEYS_VALUES, like, cache_dtype),
            estimator=StageCache.empty(layouts.estimator, kind, like, cache_dtype),
        )

    @property
    def num_tokens(self) -> int:
        return self.tokens.num_frames

    @property
    def num_bytes(self) -> int:
        return sum(part.num_bytes for part in self.parts().values())

    def parts(self) -> dict[str, StageCache]:
        return {"tokens": self.tokens, "frames": self.frames, "estimator": self.estimator}

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return all caches by name, as contiguous tensors."""
        named: dict[str, torch.Tensor] = {}
        for part_name, part in self.parts().items():
            for block in part.blocks:
                named |= {f"{part_name}.{name}": tensor for name, tensor in block.tensors.items()}
            named |= {f"{part_name}.tail.{index}": tail for index, tail in enumerate(part.tails)}
        return named

    def fork(self) -> FlowCaches:
        return FlowCaches(self.tokens.fork(), self.frames.fork(), self.estimator.fork())

    def make_room(self, num_tokens: int, model: FlowModel, budget: CacheBudget) -> bool:
        num_frames = model.config.frames_per_token * num_tokens
        return (
            self.tokens.make_room(num_tokens, budget, model.device)
            and self.frames.make_room(num_frames, budget, model.device)
            and self.estimator.make_room(num_frames, budget, model.device)
        )

    def make_prompt_room(self, num_tokens: int, model: FlowModel) -> bool:
        """Allocate exactly the size of a prompt, outside the budget, since the prompt cache limits the number of voices."""
        num_frames = model.config.frames_per_token * num_tokens
        return num_tokens == 0 or (
            self.tokens.add_block(num_tokens, None, model.device)
            and self.frames.add_block(num_frames, None, model.device)
            and self.estimator.add_block(num_frames, None, model.device)
        )

    def decode_at_once(
        self, model: FlowModel, voice: PromptTensors, tokens: Sequence[int], following: Sequence[int]
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of the next ``tokens``, which begin on the grid."""
        contexts = EncoderContext(self.tokens.context(0), self.frames.context(0))
        mean = model.mean(tokens, following, contexts)
        mel = model.solve(voice, mean, self.estimator.num_frames, self.estimator.context)
        self.tokens.advance(len(tokens))
        self.frames.advance(mel.shape[0])
        self.estimator.advance(mel.shape[0])
        return mel

    def decode_blocks(
        self,
        model: FlowModel,
        voice: PromptTensors,
        tokens: Sequence[int],
        lookahead: Sequence[int],
        progress: Callable[[float], None] | None = None,
    ) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of the next ``tokens``, for which space must have been allocated.

        Blocks are decoded one at a time if ``progress`` is reported.
        """
        stride = model.config.chunk_tokens * (self.blocks_at_once if progress is None else 1)
        everything = [*tokens, *lookahead]
        mels = [torch.zeros(0, model.config.mel_bins, dtype=model.dtype, device=model.device)]
        for start in range(0, len(tokens), stride):
            stop = min(start + stride, len(tokens))
            following = everything[stop : stop + model.config.lookahead_tokens]
            mels.append(self.decode_at_once(model, voice, everything[start:stop], following))
            if progress is not None:
                progress(stop / len(tokens))
        return torch.cat(mels)
