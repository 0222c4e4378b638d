"""The flow of one model folder: voices prepared, streams opened, whole utterances decoded."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, overload

import torch

from studio.model.config import FlowConfig, Precision
from studio.model.flow.blocks import FlowCaches, FlowLayouts
from studio.model.flow.budget import (
    USUAL_LINE_TOKENS,
    CacheBudget,
    default_budget_bytes,
    max_concurrent_streams,
)
from studio.model.flow.caches import CacheKind
from studio.model.flow.model import FlowModel
from studio.model.flow.network import FlowNetwork, build_network
from studio.model.flow.packing import pack
from studio.model.flow.prompt_state import PromptState, cacheable_tokens, caches_from_tensors
from studio.model.flow.stream import StreamingFlow, as_mel
from studio.model.stages import FlowPrompt, FlowPromptState
from studio.model.weights import load_weights, meta_init, read_tensors, release_pages

# Raised whenever a stored prompt state means something else than before.
_STATE_VERSION = 1
_SAMPLED_VALUES = 64
# Looking the mapping up takes a millisecond; eight layers are at most 64 MB.
_LAYERS_BETWEEN_RELEASES = 8


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """Choices that last as long as the model. The first makes slower, the others are approximations.

    ``cache_budget_bytes``: what all open streams together may grow by, and the largest voice with 20 s of
    speech that is cached in the fastest form; None takes half of the memory that is free at loading.
    ``num_steps``: fewer solver steps than the model's (10) are coarser. ``left_context_frames``: streams
    see the prompt and this many frames of what they said. ``cache_dtype``: a half-precision type halves
    the caches and rounds them.
    """

    cache_budget_bytes: int | None = None
    num_steps: int | None = None
    left_context_frames: int | None = None
    cache_dtype: torch.dtype | None = None


class CachedFlowDecoder:
    """The plain PyTorch ``FlowDecoder``: exact incremental streaming, and whole utterances.

    Takes ``network`` over. Streams of several threads may run at once.
    """

    def __init__(
        self,
        network: FlowNetwork,
        config: FlowConfig,
        *,
        precision: Precision = Precision.FLOAT32,
        options: FlowOptions = FlowOptions(),
        after_layer: Callable[[], None] = lambda: None,
    ) -> None:
        self.chunk_tokens = config.chunk_tokens
        self.lookahead_tokens = config.lookahead_tokens
        self.frames_per_token = config.frames_per_token
        self.options = options
        self.precision = precision
        self._weights_digest = _sampled_digest(network.state_dict())
        self._model = FlowModel(network, config, options.num_steps or config.solver.num_steps)
        pack(network, precision, after_layer=after_layer)
        self._layouts = FlowLayouts.of(self._model)
        self._cache_dtype = options.cache_dtype or self._model.dtype
        budget_bytes = options.cache_budget_bytes
        self.budget = CacheBudget(default_budget_bytes(self._model.device) if budget_bytes is None else budget_bytes)
        self.max_concurrent_lines = max_concurrent_streams(
            self._model.device, self.budget, self._bytes_of(CacheKind.KEYS_VALUES)
        )

    @torch.inference_mode()
    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``, and ``ValueError`` for an unfitting mel."""
        voice = self._model.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self._model)
        caches = self._empty_caches(num_tokens)
        if caches is not None:
            stop = num_tokens + self.lookahead_tokens
            whole_blocks, lookahead = voice.tokens[:num_tokens], voice.tokens[num_tokens:stop]
            caches.decode_blocks(self._model, voice, whole_blocks, lookahead, progress)
        if progress is not None:
            progress(1.0)
        return PromptState(voice, caches)

    @torch.inference_mode()
    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Tensors are used where they lie, so a mapped file stays a mapped file."""
        voice = self._model.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self._model)
        if not tensors:
            return PromptState(voice, None if num_tokens else self._empty_caches(0))
        return PromptState(
            voice, caches_from_tensors(tensors, self._layouts, self._model, num_tokens, self._cache_dtype)
        )

    def prompt_key(self) -> str:
        """See ``stages.FlowDecoder``."""
        solver = self._model.config.solver
        parts = (
            _STATE_VERSION, self._weights_digest, [(step.time, step.size) for step in self._model.steps],
            solver.guidance_scale, self._model.config, "noise of seed 0", self.precision.value,
            str(self._model.dtype), str(self._cache_dtype),
        )  # fmt: skip
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @torch.inference_mode()
    def open_stream(self, state: FlowPromptState) -> StreamingFlow:
        """See ``stages.FlowDecoder``; ``state`` must come from this decoder."""
        assert isinstance(state, PromptState), "a prompt state belongs to the decoder that made it"
        return StreamingFlow(self._model, self.budget, state, self.options.left_context_frames)

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``."""
        with torch.inference_mode():
            mel = self._model.decode_sequence(self._model.voice(prompt), tokens, (), is_streaming=False)
        return as_mel(mel)

    def _empty_caches(self, num_tokens: int) -> FlowCaches | None:
        """Room for a prompt, in the fastest form that leaves the budget room for speech beside it; or none."""
        for kind in CacheKind:
            if self._bytes_of(kind, num_tokens) > self.budget.total_bytes:
                continue
            caches = FlowCaches.empty(self._layouts, kind, self._model.noise, self._cache_dtype)
            if caches.make_prompt_room(num_tokens, self._model):
                return caches
        return None

    def _bytes_of(self, kind: CacheKind, num_prompt_tokens: int = 0) -> int:
        """With speech as long as is to be expected."""
        num_tokens = num_prompt_tokens + USUAL_LINE_TOKENS
        return self._layouts.num_bytes(kind, num_tokens, self.frames_per_token * num_tokens, self._cache_dtype)


_Decoder = TypeVar("_Decoder", bound=CachedFlowDecoder)


@overload
def load_flow(
    path: Path, config: FlowConfig, precision: Precision, device: str, options: FlowOptions = FlowOptions()
) -> CachedFlowDecoder: ...


@overload
def load_flow(
    path: Path, config: FlowConfig, precision: Precision, device: str, options: FlowOptions, *, kind: type[_Decoder]
) -> _Decoder: ...


def load_flow(
    path: Path,
    config: FlowConfig,
    precision: Precision,
    device: str,
    options: FlowOptions = FlowOptions(),
    *,
    kind: type[CachedFlowDecoder] = CachedFlowDecoder,
) -> CachedFlowDecoder:
    """The flow in ``path`` (``flow.pt``), ready to speak on ``device``.

    Weights are mapped, not read; each is laid out for multiplication and then let go, so that at no time
    much more than one copy is in memory. Raises ``MissingModelFile``, ``DamagedModelFile``,
    ``WrongTensors``, ``UnsupportedPrecision``.
    """
    network = meta_init(lambda: build_network(config))
    load_weights(network, read_tensors(path), file_name=path.name)
    layers_done = itertools.count(1)

    def after_layer() -> None:
        if next(layers_done) % _LAYERS_BETWEEN_RELEASES == 0:
            release_pages(path)

    return kind(network.to(device), config, precision=precision, options=options, after_layer=after_layer)


def _sampled_digest(tensors: Mapping[str, torch.Tensor]) -> str:
    """Names, shapes and a few values of each tensor: tells releases apart without reading them."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        flat = tensor.detach().flatten()
        sampled = flat[:: max(1, flat.numel() // _SAMPLED_VALUES)][: 2 * _SAMPLED_VALUES]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(sampled.cpu().double().numpy().tobytes())
    return digest.hexdigest()
