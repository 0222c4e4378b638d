"""``stages.FlowDecoder`` on graphs: exact streaming and whole utterances."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import torch

from studio.engines.onnx.flow_runner import FlowRunner, GraphVoice, RunCaches
from studio.model.flow.caches import (
    USUAL_LINE_TOKENS,
    Allocation,
    CacheBudget,
    default_budget_bytes,
    max_concurrent_streams,
)
from studio.model.flow.decoder import IncrementalFlowStream, PromptState, as_mel, cacheable_tokens
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState

# Bump when the meaning of a stored prompt state changes.
_STATE_VERSION = 1


GraphPromptState = PromptState[GraphVoice, RunCaches]


class GraphFlowDecoder:
    """``FlowDecoder`` on a ``FlowRunner``. Streams may run concurrently on several threads.

    Decision: a stream copies the state of its voice and continues in its own memory. Reason: a graph needs each cache
    in one buffer, and copying takes a hundredth of the time of decoding a block. Alternative: graphs that take every
    cache in two parts.
    """

    streams_exactly = True

    def __init__(self, runner: FlowRunner, *, cache_budget_bytes: int | None = None) -> None:
        shapes = runner.shapes
        self.chunk_tokens = shapes.chunk_tokens
        self.lookahead_tokens = shapes.lookahead_tokens
        self._frames_per_token = shapes.frames_per_token
        self.engine = runner.engine
        self._runner = runner
        total = default_budget_bytes(runner.device) if cache_budget_bytes is None else cache_budget_bytes
        self.budget = CacheBudget(total)
        usual_line = runner.own_frames(USUAL_LINE_TOKENS)
        self.max_concurrent_lines = max_concurrent_streams(
            runner.device, self.budget, runner.empty_caches().missing_bytes(usual_line)
        )

    def frames_of_tokens(self, num_tokens: int) -> int:
        return self._frames_per_token * num_tokens

    @torch.inference_mode()
    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``, and ``ValueError`` if the mel does not match the tokens."""
        runner, voice = self._runner, self._runner.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self)
        caches, own = runner.empty_caches(), runner.own_frames(num_tokens)
        has_room = caches.missing_bytes(own) <= self.budget.total_bytes
        if has_room:
            caches.make_room(own)
            for start in range(0, num_tokens, self.chunk_tokens):
                stop = start + self.chunk_tokens
                lookahead = voice.tokens[stop : stop + self.lookahead_tokens]
                runner.decode_blocks(voice, caches, voice.tokens[start:stop], lookahead, fine=True)
                if progress is not None:
                    progress(stop / num_tokens)
        if progress is not None:
            progress(1.0)
        return GraphPromptState(voice, caches if has_room else None)

    @torch.inference_mode()
    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """See ``stages.FlowDecoder``."""
        voice = self._runner.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self)
        if not tensors:
            return GraphPromptState(voice, None if num_tokens else self._runner.empty_caches())
        caches, remaining = self._runner.empty_caches(), dict(tensors)
        own = self._runner.own_frames(num_tokens)
        for part_name, part in caches.parts().items():
            of_part = {name: remaining.pop(f"{part_name}.{name}", None) for name in part.tensors()}
            part.restore({name: tensor for name, tensor in of_part.items() if tensor is not None})
            if any(part.num_frames[clock] != own[clock] for clock in part.num_frames):
                raise ValueError(f"{part_name} of the stored prompt state belongs to a prompt of another length")
        if remaining:
            raise ValueError(f"the stored prompt state contains {next(iter(remaining))}, unknown to this model")
        caches.num_tokens = num_tokens
        return GraphPromptState(voice, caches)

    def with_steps(self, num_steps: int) -> None:
        """See ``stages.FlowDecoder``. The graph contains the released solver only."""

    def prompt_key(self) -> str:
        """See ``stages.FlowDecoder``; differs from plain PyTorch's key, because the state layouts differ."""
        parts = (_STATE_VERSION, self._runner.shapes.key, self._runner.shapes.cache_type, self.engine)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @torch.inference_mode()
    def open_stream(self, state: FlowPromptState) -> GraphFlowStream:
        """See ``stages.FlowDecoder``; ``state`` must come from this decoder."""
        assert isinstance(state, PromptState), "a prompt state belongs to the decoder that made it"
        return GraphFlowStream(self, self._runner, self.budget, state)

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``."""
        with torch.inference_mode():
            mel = self._runner.decode_sequence(self._runner.voice(prompt), tokens, (), is_streaming=False)
        return as_mel(mel)


class GraphFlowStream(IncrementalFlowStream):
    """The stream of a ``GraphFlowDecoder``."""

    def __init__(self, flow: FlowDecoder, runner: FlowRunner, budget: CacheBudget, state: GraphPromptState) -> None:
        self._runner = runner
        self._budget = budget
        self._voice = state.voice
        self._reservations: list[Allocation] = []
        self._caches: RunCaches | None = None
        if state.caches is not None and self._reserve(state.caches.num_bytes):
            self._caches = state.caches.fork()
        super().__init__(flow, state.voice.tokens, state.num_cached_tokens)

    @property
    def is_recomputing(self) -> bool:
        return self._caches is None

    def _make_room(self, num_tokens: int) -> None:
        """Reserve memory for ``num_tokens``, and for another quarter of the state if possible: growing copies it."""
        if self._caches is None or self._caches.missing_bytes(self._runner.own_frames(num_tokens)) == 0:
            return
        for ahead in (num_tokens + max(num_tokens, self._caches.num_tokens // 4), num_tokens):
            own = self._runner.own_frames(ahead)
            if self._reserve(self._caches.missing_bytes(own)):
                self._caches.make_room(own)
                return
        self._release()

    def _reserve(self, num_bytes: int) -> bool:
        reservation = self._budget.reserve(num_bytes)
        if reservation is not None:
            self._reservations.append(reservation)
        return reservation is not None

    def _decode_next(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        assert self._caches is not None
        pieces = self._runner.decode_blocks(self._voice, self._caches, tokens, lookahead, fine=False)
        return torch.cat([*pieces, self._voice.mel[:0]])

    def _decode_all(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        return self._runner.decode_sequence(self._voice, tokens, lookahead, is_streaming=True)

    def _release(self) -> None:
        self._caches = None
        self._reservations.clear()
