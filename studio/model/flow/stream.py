"""Flow stream of one utterance, exact for any chunk schedule."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from studio.errors import OffGridCut
from studio.model.flow.blocks import FlowCaches
from studio.model.flow.budget import CacheBudget
from studio.model.flow.model import FlowModel, check_length
from studio.model.flow.prompt_state import PromptState


class StreamingFlow:
    """A ``FlowStream`` equal to one streaming run over all tokens (specification F8, J2 2 and 3).

    Each call computes only its own frames. If the caches would exceed the budget, each further call
    recomputes the utterance from its start, as the official program does: slower, with the same mel.
    """

    def __init__(
        self, model: FlowModel, budget: CacheBudget, state: PromptState, left_context_frames: int | None
    ) -> None:
        self._model = model
        self._budget = budget
        self._voice = state.voice
        self._caches: FlowCaches | None = None if state.caches is None else state.caches.fork(left_context_frames)
        # End of the prompt that cannot be cached because its look-ahead extends into the utterance.
        self._uncached_prompt = state.voice.tokens[state.num_cached_tokens :]
        self._spoken: list[int] = []
        self._is_open = True

    @property
    def is_recomputing(self) -> bool:
        return self._caches is None

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowStream``; also raises ``SequenceTooLong``. (mel_bins, frames) float32."""
        assert self._is_open, "the stream has ended"
        config = self._model.config
        num_tokens = len(self._voice.tokens) + len(self._spoken) + len(tokens)
        check_chunk_boundary(
            num_tokens, lookahead, chunk_tokens=config.chunk_tokens, lookahead_tokens=config.lookahead_tokens
        )
        check_length(config.frames_per_token * num_tokens)
        pending = (*self._uncached_prompt, *tokens)
        if self._caches is not None and not self._caches.make_room(len(pending), self._model, self._budget):
            self._caches = None
        self._spoken += tokens
        self._uncached_prompt = ()
        self._is_open = False  # until the call completes: an interrupted run cannot continue
        with torch.inference_mode():
            if self._caches is None:
                mel = self._model.decode_sequence(self._voice, self._spoken, lookahead, is_streaming=True)
            else:
                mel = self._caches.decode_blocks(self._model, self._voice, pending, lookahead)
        self._is_open = bool(lookahead)
        return as_mel(mel[mel.shape[0] - config.frames_per_token * len(tokens) :])

    def close(self) -> None:
        self._is_open = False
        self._caches = None
        self._spoken = []


def check_chunk_boundary(
    num_tokens: int, lookahead: Sequence[int], *, chunk_tokens: int, lookahead_tokens: int
) -> None:
    """Raise ``OffGridCut`` unless ``num_tokens`` of prompt and speech end on the grid or ``lookahead`` is empty.

    Raise ``ValueError`` for a wrong number of look-ahead tokens.
    """
    if not lookahead:
        return
    if len(lookahead) != lookahead_tokens:
        raise ValueError(f"lookahead must have {lookahead_tokens} tokens, not {len(lookahead)}")
    if beyond := num_tokens % chunk_tokens:
        raise OffGridCut(
            "A chunk would end {beyond} tokens beyond the flow's grid of {grid} tokens.",
            remedy="End chunks where the tokens of prompt and speech together are a multiple of it.",
            beyond=beyond,
            grid=chunk_tokens,
        )


def as_mel(frames: torch.Tensor) -> torch.Tensor:
    """Return ``frames`` (frames, mel_bins) as a new float32 tensor (mel_bins, frames)."""
    return frames.t().float().clone(memory_format=torch.contiguous_format)
