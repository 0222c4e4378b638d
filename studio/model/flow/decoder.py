"""PyTorch implementation of ``stages.FlowDecoder``: prompt states, streams, and loading from ``flow.pt``."""

from __future__ import annotations

import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

import torch

from studio.errors import OffGridCut
from studio.model.config import FlowConfig, Precision
from studio.model.flow.caches import (
    USUAL_LINE_TOKENS,
    CacheBlock,
    CacheBudget,
    CacheKind,
    CacheLayout,
    FlowCaches,
    FlowLayouts,
    StageCache,
    default_budget_bytes,
    max_concurrent_streams,
)
from studio.model.flow.model import FlowModel, PromptTensors, check_length
from studio.model.flow.network import FlowNetwork, build_network
from studio.model.flow.packing import pack
from studio.model.flow.stored import StoredFlow, digest_samples, open_stored, releasing_pages
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState
from studio.model.weights import load_weights, meta_init, read_tensors

# Increase when the meaning of stored prompt states changes.
_STATE_VERSION = 2
# Types of the caches on a CPU, where they are narrower than float32. bfloat16 keys and values need no conversion before
# a product. In 8 bits, they are rounded like the rows of 8-bit products.
_CACHE_TYPES = {Precision.BFLOAT16: torch.bfloat16, Precision.INT8: torch.int8}


class PromptCaches(Protocol):
    """The caches of a decoder after a prompt."""

    @property
    def num_tokens(self) -> int: ...

    @property
    def num_bytes(self) -> int: ...

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return all caches by name, as contiguous tensors."""
        ...


VoiceT = TypeVar("VoiceT")
CachesT = TypeVar("CachesT", bound=PromptCaches)


@dataclass(frozen=True)
class PromptState(Generic[VoiceT, CachesT]):
    """State after a voice prompt: the caches up to its last whole block, computed once per voice.

    It is read-only and shared by all streams of the voice. If ``caches`` is None, streams recompute the prompt.
    """

    voice: VoiceT
    caches: CachesT | None = field(repr=False)

    @property
    def num_cached_tokens(self) -> int:
        return 0 if self.caches is None else self.caches.num_tokens

    @property
    def num_bytes(self) -> int:
        return 0 if self.caches is None else self.caches.num_bytes

    def tensors(self) -> Mapping[str, torch.Tensor]:
        return {} if self.caches is None or self.caches.num_tokens == 0 else self.caches.tensors()


TorchPromptState = PromptState[PromptTensors, FlowCaches]


def cacheable_tokens(num_prompt_tokens: int, flow: FlowDecoder) -> int:
    """Return the length of the prompt's whole blocks whose look-ahead is within the prompt (specification M3)."""
    return max(0, (num_prompt_tokens - flow.lookahead_tokens) // flow.chunk_tokens * flow.chunk_tokens)


def caches_from_tensors(
    tensors: Mapping[str, torch.Tensor], layouts: FlowLayouts, model: FlowModel, num_tokens: int, dtype: torch.dtype
) -> FlowCaches:
    """Return the caches that ``tensors`` contain, without copying tensors that are on the model's device.

    Raise ``ValueError`` for a tensor that is missing or unknown, or that has the wrong shape or type.
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
        forms = layout.block_tensors(part_kind, frames, dtype)
        held = {key: take(f"{name}.{key}", *form) for key, form in forms.items()}
        tails = [take(f"{name}.tail.{i}", shape, model.dtype) for i, shape in enumerate(layout.tail_shapes())]
        blocks = [CacheBlock(part_kind, held, 0, frames)] if held else []
        return StageCache(layout, part_kind, cache_dtype=dtype, tails=tails, blocks=blocks, num_frames=frames)

    caches = FlowCaches(
        tokens=part("tokens", layouts.tokens, CacheKind.KEYS_VALUES, num_tokens),
        frames=part("frames", layouts.frames, CacheKind.KEYS_VALUES, num_frames),
        estimator=part("estimator", layouts.estimator, kind, num_frames),
    )
    if remaining:
        raise ValueError(f"the stored prompt state contains {next(iter(remaining))}, unknown to this model")
    return caches


class IncrementalFlowStream(ABC):
    """A ``FlowStream`` whose mel equals that of one streaming run over all tokens, for any division into chunks.

    Each call computes only its own frames. If the caches would exceed the budget, each later call recomputes the
    utterance from its start, as the official program does. That is slower, and the mel is the same. (Specification F8,
    J2 2 and 3.)
    """

    def __init__(self, flow: FlowDecoder, prompt_tokens: Sequence[int], num_cached_tokens: int) -> None:
        self._flow = flow
        self._num_prompt_tokens = len(prompt_tokens)
        # End of the prompt that cannot be cached because its look-ahead extends into the utterance.
        self._uncached_prompt = tuple(prompt_tokens[num_cached_tokens:])
        self._spoken: list[int] = []
        self._is_open = True

    @property
    @abstractmethod
    def is_recomputing(self) -> bool: ...

    @abstractmethod
    def _make_room(self, num_tokens: int) -> None:
        """Grow the caches by ``num_tokens``, or discard them if the budget is too small."""

    @abstractmethod
    def _decode_next(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of ``tokens``, from the caches."""

    @abstractmethod
    def _decode_all(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of all ``tokens`` of the utterance, without caches."""

    @abstractmethod
    def _release(self) -> None:
        """Free the caches."""

    def decode(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowStream``. The mel (mel_bins, frames) is float32. Also raise ``SequenceTooLong``."""
        assert self._is_open, "the stream has ended"
        num_tokens = self._num_prompt_tokens + len(self._spoken) + len(tokens)
        self._check_chunk_boundary(num_tokens, lookahead)
        check_length(self._flow.frames_of_tokens(num_tokens))
        pending = (*self._uncached_prompt, *tokens)
        self._make_room(len(pending))
        self._spoken += tokens
        self._uncached_prompt = ()
        self._is_open = False  # until the call completes: an interrupted run cannot continue
        with torch.inference_mode():
            if self.is_recomputing:
                mel = self._decode_all(self._spoken, lookahead)
            else:
                mel = self._decode_next(pending, lookahead)
        self._is_open = bool(lookahead)
        return as_mel(mel[mel.shape[0] - self._flow.frames_of_tokens(len(tokens)) :])

    def close(self) -> None:
        self._is_open = False
        self._release()
        self._spoken = []

    def _check_chunk_boundary(self, num_tokens: int, lookahead: Sequence[int]) -> None:
        """Raise ``OffGridCut`` if ``lookahead`` is not empty and prompt and speech do not end on the grid.

        Raise ``ValueError`` for a wrong number of look-ahead tokens.
        """
        if not lookahead:
            return
        if len(lookahead) != self._flow.lookahead_tokens:
            raise ValueError(f"lookahead must have {self._flow.lookahead_tokens} tokens, not {len(lookahead)}")
        if beyond := num_tokens % self._flow.chunk_tokens:
            raise OffGridCut(
                "A chunk would end {beyond} tokens beyond the flow's grid of {grid} tokens.",
                remedy="End chunks where the number of prompt and speech tokens is a multiple of it.",
                beyond=beyond,
                grid=self._flow.chunk_tokens,
            )


class StreamingFlow(IncrementalFlowStream):
    """The stream of a ``CachedFlowDecoder``."""

    def __init__(self, flow: FlowDecoder, model: FlowModel, budget: CacheBudget, state: TorchPromptState) -> None:
        super().__init__(flow, state.voice.tokens, state.num_cached_tokens)
        self._model = model
        self._budget = budget
        self._voice = state.voice
        self._caches: FlowCaches | None = None if state.caches is None else state.caches.fork()

    @property
    def is_recomputing(self) -> bool:
        return self._caches is None

    def _make_room(self, num_tokens: int) -> None:
        if self._caches is not None and not self._caches.make_room(num_tokens, self._model, self._budget):
            self._caches = None

    def _decode_next(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        assert self._caches is not None
        return self._caches.decode_blocks(self._model, self._voice, tokens, lookahead)

    def _decode_all(self, tokens: Sequence[int], lookahead: Sequence[int]) -> torch.Tensor:
        return self._model.decode_sequence(self._voice, tokens, lookahead, is_streaming=True)

    def _release(self) -> None:
        self._caches = None


def as_mel(frames: torch.Tensor) -> torch.Tensor:
    """Return ``frames`` (frames, mel_bins) as a new float32 tensor (mel_bins, frames)."""
    return frames.t().float().clone(memory_format=torch.contiguous_format)


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """Options for loading a flow. All options except the first make its output approximate.

    Attributes:
        cache_budget_bytes: Size to which the caches of all open streams together may grow, and the largest size at
            which a voice with 20 s of speech is cached in the fastest form. The default is a share of the free memory.
        num_steps: Number of solver steps. The default of the models is 10.
        cache_dtype: Type of the caches. A narrower type makes them smaller and rounds them.
    """

    cache_budget_bytes: int | None = None
    num_steps: int | None = None
    cache_dtype: torch.dtype | None = None


class CachedFlowDecoder:
    """PyTorch ``FlowDecoder`` with exact incremental streaming. Streams may run in several threads at once.

    The decoder takes ownership of ``network``. ``after_layer`` is called after each layer that is repacked.
    ``network`` and ``stored`` may be what ``open_stored`` returns.
    """

    streams_exactly = True

    def __init__(
        self,
        network: FlowNetwork,
        config: FlowConfig,
        *,
        precision: Precision = Precision.FLOAT32,
        options: FlowOptions = FlowOptions(),
        after_layer: Callable[[], None] = lambda: None,
        stored: StoredFlow | None = None,
    ) -> None:
        self.chunk_tokens = config.chunk_tokens
        self.lookahead_tokens = config.lookahead_tokens
        self.options = options
        self.precision = precision
        self._weights_digest = digest_samples(network.state_dict()) if stored is None else stored.weights_digest
        self._model = FlowModel(network, config, options.num_steps, tables=None if stored is None else stored.tables)
        if stored is None or not stored.has_layers:
            pack(network, precision, after_layer=after_layer)
        is_on_cpu = self._model.device.type == "cpu"
        self._cache_dtype = (
            options.cache_dtype or (_CACHE_TYPES.get(precision) if is_on_cpu else None) or self._model.dtype
        )
        self._layouts = FlowLayouts.of(self._model)
        budget_bytes = options.cache_budget_bytes
        self.budget = CacheBudget(default_budget_bytes(self._model.device) if budget_bytes is None else budget_bytes)
        self.max_concurrent_lines = max_concurrent_streams(
            self._model.device, self.budget, self._planned_bytes(CacheKind.KEYS_VALUES)
        )

    @classmethod
    def load(
        cls, path: Path, config: FlowConfig, precision: Precision, device: str, options: FlowOptions = FlowOptions()
    ) -> Self:
        """Load the flow in ``path`` (``flow.pt``) on ``device``.

        Weights are mapped, repacked one by one, and their pages released, so that memory never contains much
        more than one copy. On a CPU, what takes long to compute is kept in the cache folder (``stored``).
        Raise ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``, ``UnsupportedPrecision``.
        """

        def build() -> FlowNetwork:
            return build_network(config)

        def load() -> FlowNetwork:
            network = meta_init(build)
            load_weights(network, read_tensors(path), file_name=path.name)
            return network

        after_layer = releasing_pages(path)
        if device != "cpu" or options.num_steps is not None:
            return cls(load().to(device), config, precision=precision, options=options, after_layer=after_layer)
        network, stored = open_stored(path, config, build, load, precision)
        return cls(network, config, precision=precision, options=options, after_layer=after_layer, stored=stored)

    def with_steps(self, num_steps: int) -> FlowDecoder | None:
        """See ``stages.FlowDecoder``. The budget for caches is shared."""
        model = self._model.with_steps(num_steps)
        if model is None:
            return None
        decoder = copy.copy(self)
        decoder._model, decoder._layouts = model, FlowLayouts.of(model)
        return decoder

    def frames_of_tokens(self, num_tokens: int) -> int:
        return self._model.config.frames_per_token * num_tokens

    @torch.inference_mode()
    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Raise ``SequenceTooLong``, and ``ValueError`` for a mel of the wrong length."""
        report = progress or (lambda _share: None)
        voice = self._model.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self)
        caches = self._empty_caches(num_tokens)
        if caches is not None:
            stop = num_tokens + self.lookahead_tokens
            whole_blocks, lookahead = voice.tokens[:num_tokens], voice.tokens[num_tokens:stop]
            caches.decode_blocks(self._model, voice, whole_blocks, lookahead, report)
        report(1.0)
        return PromptState(voice, caches)

    @torch.inference_mode()
    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        """See ``stages.FlowDecoder``. Tensors are used in place, so those of a mapped file stay mapped."""
        voice = self._model.voice(prompt)
        num_tokens = cacheable_tokens(len(voice.tokens), self)
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
        """See ``stages.FlowDecoder``. ``state`` must come from this decoder."""
        assert isinstance(state, PromptState), "a prompt state belongs to the decoder that made it"
        return StreamingFlow(self, self._model, self.budget, state)

    def decode_whole(self, prompt: FlowPrompt, tokens: Sequence[int]) -> torch.Tensor:
        """See ``stages.FlowDecoder``. Raise ``SequenceTooLong``."""
        with torch.inference_mode():
            mel = self._model.decode_sequence(self._model.voice(prompt), tokens, (), is_streaming=False)
        return as_mel(mel)

    def _empty_caches(self, num_tokens: int) -> FlowCaches | None:
        """Allocate caches for a prompt in the fastest form that leaves budget for speech, or return None."""
        for kind in CacheKind:
            if self._planned_bytes(kind, num_tokens) > self.budget.total_bytes:
                continue
            caches = FlowCaches.empty(self._layouts, kind, self._model.noise, self._cache_dtype)
            if caches.make_prompt_room(num_tokens, self._model):
                return caches
        return None

    def _planned_bytes(self, kind: CacheKind, num_prompt_tokens: int = 0) -> int:
        """Return the size of caches for a prompt and a usual line."""
        num_tokens = num_prompt_tokens + USUAL_LINE_TOKENS
        return self._layouts.num_bytes(kind, num_tokens, self.frames_of_tokens(num_tokens), self._cache_dtype)
