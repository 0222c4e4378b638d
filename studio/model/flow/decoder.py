"""PyTorch implementation of ``stages.FlowDecoder``, and its loading from ``flow.pt``."""

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

# Increase when the meaning of stored prompt states changes.
_STATE_VERSION = 1
_SAMPLED_VALUES = 64
# Releasing pages takes a millisecond; eight layers are at most 64 MB.
_LAYERS_BETWEEN_RELEASES = 8


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """Options for loading a flow. All but the first make its output approximate.

    ``cache_budget_bytes``: how much the caches of all open streams together may grow, and the largest size at
    which a voice with 20 s of speech is cached in the fastest form; None: half of the memory free at loading.
    ``num_steps``: number of solver steps; the model's default is 10. ``left_context_frames``: how many
    generated frames a stream sees besides the prompt. ``cache_dtype``: a half-precision type halves the
    size of the caches and rounds them.
    """

    cache_budget_bytes: int | None = None
    num_steps: int | None = None
    left_context_frames: int | None = None
    cache_dtype: torch.dtype | None = None


class CachedFlowDecoder:
    """PyTorch ``FlowDecoder`` with exact incremental streaming.

    Takes ownership of ``network``. Streams may run in several threads at once.
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
        """See ``stages.FlowDecoder``. Raises ``SequenceTooLong``, and ``ValueError`` for a mel of the wrong length."""
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
        """See ``stages.FlowDecoder``. Tensors are used in place: those of a mapped file stay mapped."""
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
        """Allocate caches for a prompt in the fastest form that leaves budget for speech, or return None."""
        for kind in CacheKind:
            if self._bytes_of(kind, num_tokens) > self.budget.total_bytes:
                continue
            caches = FlowCaches.empty(self._layouts, kind, self._model.noise, self._cache_dtype)
            if caches.make_prompt_room(num_tokens, self._model):
                return caches
        return None

    def _bytes_of(self, kind: CacheKind, num_prompt_tokens: int = 0) -> int:
        """Return the size of caches for a prompt and a usual line."""
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
    """Load the flow in ``path`` (``flow.pt``) on ``device``.

    Weights are mapped, repacked one by one, and their pages released, so that memory never contains much
    more than one copy. Raise ``MissingModelFile``, ``DamagedModelFile``,
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
    """Return a digest of the names, shapes and a few values of the tensors, to distinguish releases."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        flat = tensor.detach().flatten()
        sampled = flat[:: max(1, flat.numel() // _SAMPLED_VALUES)][: 2 * _SAMPLED_VALUES]
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(sampled.cpu().double().numpy().tobytes())
    return digest.hexdigest()
