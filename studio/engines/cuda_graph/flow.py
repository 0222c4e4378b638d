"""``stages.FlowDecoder`` with streamed solver runs recorded as CUDA graphs; prompts and whole utterances run without
graphs. The solver of each line has its own memory (``solver_memory.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import torch

from studio.engines.cuda_graph.solver_pool import BorrowedMemory, SolverPool
from studio.engines.memory_plan import TYPICAL_LINE_SECONDS
from studio.model.config import FlowConfig, Precision
from studio.model.flow import FlowOptions
from studio.model.flow.caches import CacheBudget, CacheKind, FlowCaches
from studio.model.flow.decoder import CachedFlowDecoder, PromptState, StreamingFlow
from studio.model.flow.model import FlowModel, PromptTensors
from studio.model.flow.network import EncoderContext, FlowNetwork
from studio.model.flow.stored import StoredFlow
from studio.model.stages import FlowDecoder, FlowPromptState

# For prompts of two to fourteen seconds, and for longer ones.
_USUAL_CAPACITIES_BLOCKS = (24, 12, 36, 48)
# Typical length of a line: growing in the middle of a line may require another recording.
_EXPECTED_BLOCKS = TYPICAL_LINE_SECONDS
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


@dataclass
class PooledCaches(FlowCaches):
    """Caches of one line. Those of the estimator are in memory borrowed from ``pool``.

    ``estimator`` holds the prompt's state and the frame count.
    """

    blocks_at_once: ClassVar[int] = 1
    pool: SolverPool
    borrowed: BorrowedMemory | None = None
    has_begun: bool = False

    def fork(self) -> PooledCaches:
        plain = super().fork()
        return PooledCaches(plain.tokens, plain.frames, plain.estimator, self.pool)

    def make_room(self, num_tokens: int, model: FlowModel, budget: CacheBudget) -> bool:
        """See ``FlowCaches``. The memory of the estimator grows with the line."""
        num_frames, block = model.config.frames_per_token * num_tokens, model.grid_frames
        if not (
            self.tokens.make_room(num_tokens, budget, model.device)
            and self.frames.make_room(num_frames, budget, model.device)
        ):
            return False
        done = self.estimator.num_frames
        needed = done + -(-num_frames // block) * block
        if self.borrowed is not None:
            return self.pool.grow(self.borrowed, needed, done)
        blocks = self.estimator.blocks[0].tensors if self.estimator.blocks else None
        if not self.has_begun:
            prompt = None if blocks is None else blocks["values"]
            self.borrowed = self.pool.borrow(needed, prompt, expected_frames=done + _EXPECTED_BLOCKS * block)
        if self.borrowed is None:
            # A line that has not started can run on plain PyTorch, whose memory grows with the line.
            return super().make_room(num_tokens, model, budget)
        self.borrowed.memory.start_from(blocks, self.estimator.tails)
        return True

    def decode_at_once(
        self,
        model: FlowModel,
        voice: PromptTensors,
        tokens: Sequence[int],
        following: Sequence[int],
        before_step: Callable[[int], None] = lambda _step: None,
    ) -> torch.Tensor:
        """See ``FlowCaches``."""
        self.has_begun = True
        if self.borrowed is None:
            return super().decode_at_once(model, voice, tokens, following, before_step)
        mean = model.mean(tokens, following, EncoderContext(self.tokens.context(0), self.frames.context(0)))
        mel = self.borrowed.memory.solve(voice, mean, self.estimator.num_frames)
        self.tokens.advance(len(tokens))
        self.frames.advance(mel.shape[0])
        self.estimator.advance(mel.shape[0])
        return mel


class GraphedFlowDecoder(CachedFlowDecoder):
    """``FlowDecoder`` whose streams replay a recorded solver run per block."""

    def __init__(
        self,
        network: FlowNetwork,
        config: FlowConfig,
        *,
        precision: Precision,
        options: FlowOptions,
        after_layer: Callable[[], None],
        stored: StoredFlow | None = None,
    ) -> None:
        super().__init__(network, config, precision=precision, options=options, after_layer=after_layer, stored=stored)
        self._pool = self._new_pool()

    def _new_pool(self) -> SolverPool:
        return SolverPool(self._model, self._layouts.estimator, self._cache_dtype, self.budget)

    def recordings(self) -> Iterator[Callable[[], None]]:
        """See ``RecordingStage``."""
        return (partial(self._pool.record, num_blocks) for num_blocks in _USUAL_CAPACITIES_BLOCKS)

    def with_steps(self, num_steps: int) -> FlowDecoder | None:
        """See ``stages.FlowDecoder``. Each number of steps has its own recordings; the budget is shared."""
        decoder = super().with_steps(num_steps)
        if isinstance(decoder, GraphedFlowDecoder):
            decoder._pool = decoder._new_pool()
        return decoder

    @torch.inference_mode()
    def open_stream(self, state: FlowPromptState) -> StreamingFlow:
        """See ``stages.FlowDecoder``; ``state`` must come from this decoder."""
        assert isinstance(state, PromptState), "a prompt state belongs to the decoder that made it"
        caches = state.caches
        if caches is not None and caches.estimator.kind is CacheKind.KEYS_VALUES:
            pooled = PooledCaches(caches.tokens, caches.frames, caches.estimator, self._pool)
            state = replace(state, caches=pooled)
        return super().open_stream(state)


def load_graphed_flow(path: Path, config: FlowConfig, precision: Precision, device: str) -> GraphedFlowDecoder:
    """Load the flow. With 16-bit precision the caches are 16-bit as well."""
    options = FlowOptions(cache_dtype=_HALF_TYPES.get(precision))
    return GraphedFlowDecoder.load(path, config, precision, device, options)
