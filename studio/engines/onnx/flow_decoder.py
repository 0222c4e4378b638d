"""``stages.FlowDecoder`` on graphs: exact streaming and whole utterances."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from studio.engines.onnx.flow_runner import FlowRunner, GraphVoice, RunCaches
from studio.model.flow.caches import (
    USUAL_LINE_TOKENS,
    Allocation,
    CacheBudget,
    default_budget_bytes,
    max_concurrent_streams,
)
from studio.model.flow.decoder import as_mel, check_chunk_boundary
from studio.model.flow.model import check_length
from studio.model.stages import FlowPrompt, FlowPromptState

# Bump when the meaning of a stored prompt state changes.
_STATE_VERSION = 1


@dataclass(frozen=True)
class GraphPromptState:
    """Read-only state of a voice, which each stream copies. ``caches``: None if streams recompute."""

    voice: GraphVoice
    caches: RunCaches | None = field(repr=False)

    @property
    def num_cached_tokens(self) -> int:
        return 0 if self.caches is None else self.caches.num_tokens

    @property
    def num_bytes(self) -> int:
        return 0 if self.caches is None else self.caches.num_bytes

    def tensors(self) -> Mapping[str, torch.Tensor]:
        if self.caches is None or self.caches.num_tokens == 0:
            return {}
        return {
            f"{part_name}.{name}": tensor
            for part_name, part in self.caches.parts().items()
            for name, tensor in part.tensors().items()
        }


class GraphFlowDecoder:
    """``FlowDecoder`` on a ``FlowRunner``. Streams may run concurrently on several threads.

    Decision: a stream copies the state of its voice and continues in its own memory. Reason: a graph needs each cache
    in one buffer, and copying takes a hundredth of the time of decoding a block. Alternative: graphs that take every
    cache in two parts.
    """

    def __init__(self, runner: FlowRunner, *, cache_budget_bytes: int | None = None) -> None:
        shapes = runner.shapes
        self.chunk_tokens = shapes.chunk_tokens
        self.lookahead_tokens = shapes.lookahead_tokens
        self.frames_per_token = shapes.frames_per_token
        self.engine = runner.engine
        self._runner = runner
        total = default_budget_bytes(runner.device) if cache_budget_bytes is None else cache_budget_bytes
        self.budget = CacheBudget(total)
        usual_line = runner.own_frames(USUAL_LINE_TOKENS)
        self.max_concurrent_lines = max_concurrent_streams(
            runner.device, self.budget, _bytes_wanted(runner.empty_caches(), usual_line)
        )

    @torch.inference_mode()
    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``, and ``ValueError`` if the mel does not match the tokens."""
        runner, voice = self._runner, self._runner.voice(prompt)
        num_tokens = self._cacheable_tokens(voice)
        caches: RunCaches | None = runner.empty_caches()
        assert caches is not None
        if _bytes_wanted(caches, runner.own_frames(num_tokens)) > self.budget.total_bytes:
            caches = None
        else:
            grid = self.chunk_tokens
            _make_room(caches, runner.own_frames(num_tokens))
            for start in range(0, num_tokens, grid):
                stop = start + grid
                lookahead = voice.tokens[stop : stop + self.lookahead_tokens]
                runner.decode_blocks(voice, caches, voice.tokens[start:stop], lookahead, fine=True)
                if progress is not None:
                    progress(stop / num_tokens)
        if progress is not None:
            progress(1.0)
        return GraphPromptState(voice, caches)

    @torch.inference_mode()
    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """See ``stages.FlowDecoder``."""
        voice = self._runner.voice(prompt)
        num_tokens = self._cacheable_tokens(voice)
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
            raise ValueError(f"the stored prompt state holds {next(iter(remaining))}, which this model does not know")
        caches.num_tokens = num_tokens
        return GraphPromptState(voice, caches)

    def prompt_key(self) -> str:
        """See ``stages.FlowDecoder``; differs from plain PyTorch's key, because the state layouts differ."""
        parts = (_STATE_VERSION, self._runner.shapes.key, self._runner.shapes.cache_type, self.engine)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @torch.inference_mode()
    def open_stream(self, state: FlowPromptState) -> GraphFlowStream:
        """See ``stages.FlowDecoder``; ``state`` must come from this decoder."""
        assert isinstance(state, GraphPromptState), "a prompt state belongs to the decoder that made it"
        return GraphFlowStream(self._runner, self.budget, state)

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``."""
        with torch.inference_mode():
            mel = self._runner.decode_sequence(self._runner.voice(prompt), tokens, (), is_streaming=False)
        return as_mel(mel)

    def _cacheable_tokens(self, voice: GraphVoice) -> int:
        """Return the number of tokens in whole blocks whose look-ahead is also part of the prompt."""
        grid = self.chunk_tokens
        return max(0, (len(voice.tokens) - self.lookahead_tokens) // grid * grid)


class GraphFlowStream:
    """Equal to one streaming run over all tokens, including the last call (SPECIFICATION.md, F8, J2 2 and 3).

    If the budget cannot hold the caches of another call, each later call recomputes the utterance from its start:
    slower, with the same mel.
    """

    def __init__(self, runner: FlowRunner, budget: CacheBudget, state: GraphPromptState) -> None:
        self._runner = runner
        self._budget = budget
        self._voice = state.voice
        self._reservations: list[Allocation] = []
        self._caches: RunCaches | None = None
        if state.caches is not None and self._reserve(state.caches.num_bytes):
            self._caches = state.caches.fork()
        self._uncached_prompt = state.voice.tokens[state.num_cached_tokens :] if self._caches is not None else ()
        self._spoken: list[int] = []
        self._is_open = True

    @property
    def is_recomputing(self) -> bool:
        return self._caches is None

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowStream``; also raises ``SequenceTooLong``. (mel_bins, frames) float32."""
        assert self._is_open, "the stream has ended"
        shapes = self._runner.shapes
        num_tokens = len(self._voice.tokens) + len(self._spoken) + len(tokens)
        check_chunk_boundary(num_tokens, lookahead, shapes.chunk_tokens, shapes.lookahead_tokens)
        check_length(shapes.frames_per_token * num_tokens)
        pending = (*self._uncached_prompt, *tokens)
        self._make_room(len(pending))
        self._spoken += tokens
        self._uncached_prompt = ()
        self._is_open = False  # until the call succeeds: an interrupted run cannot be continued
        with torch.inference_mode():
            if self._caches is None:
                mel = self._runner.decode_sequence(self._voice, self._spoken, lookahead, is_streaming=True)
            else:
                pieces = self._runner.decode_blocks(self._voice, self._caches, pending, lookahead, fine=False)
                mel = torch.cat([*pieces, self._voice.mel[:0]])
        self._is_open = bool(lookahead)
        return as_mel(mel[mel.shape[0] - shapes.frames_per_token * len(tokens) :])

    def close(self) -> None:
        self._is_open = False
        self._caches = None
        self._reservations.clear()
        self._spoken = []

    def _make_room(self, num_tokens: int) -> None:
        """Reserve memory for ``num_tokens``, and for another quarter of the state if possible: growing copies it."""
        if self._caches is None or _bytes_wanted(self._caches, self._runner.own_frames(num_tokens)) == 0:
            return
        for ahead in (num_tokens + max(num_tokens, self._caches.num_tokens // 4), num_tokens):
            own = self._runner.own_frames(ahead)
            if self._reserve(_bytes_wanted(self._caches, own)):
                _make_room(self._caches, own)
                return
        self._caches = None
        self._reservations.clear()

    def _reserve(self, num_bytes: int) -> bool:
        reservation = self._budget.reserve(num_bytes)
        if reservation is not None:
            self._reservations.append(reservation)
        return reservation is not None


def _bytes_wanted(caches: RunCaches, own: Mapping[str, int]) -> int:
    return sum(part.missing_bytes(own) for part in caches.parts().values())


def _make_room(caches: RunCaches, own: Mapping[str, int]) -> None:
    for part in caches.parts().values():
        part.make_room(own)
