"""The recorded solver of one line, with its memory.

Keys and values of every solver step and layer are at fixed addresses. Attention reads a fixed number of frames and masks
those that the line does not have yet. A run is therefore the same computation for every block, and on a GPU one
recorded graph instead of ten thousand launches. A shorter block at the end of an utterance is padded, and the padding is
masked.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph import norm_kernel
from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder, shared_pool
from studio.model.flow.caches import CacheLayout
from studio.model.flow.dit import DiT, override_rotary
from studio.model.flow.layers import CausalConvolution, Change, Conditions, Context, Norm, SelfAttention
from studio.model.flow.model import FlowModel, PromptTensors, check_length, cond_uncond, solve

# Added to masked scores: exp(-1e4) is zero in every type, and -1e4 fits in float16.
_MASKED = -1e4


class SolverMemory(ABC):
    """The solver of one line.

    ``capacity`` is the number of frames of prompt and speech that a run reads, a multiple of the block. ``states`` are the
    keys and values of each layer, (steps, 2, rows, heads, frames, head_size); masked ones must be finite.
    """

    def __init__(
        self, model: FlowModel, layout: CacheLayout, capacity: int, dtype: torch.dtype, states: Iterable[torch.Tensor]
    ) -> None:
        device, block, bins = model.device, layout.block_frames, model.config.mel_bins
        self._model = model
        self._layout = layout
        self._dtype = dtype

        def zeros(*shape: int, kind: torch.dtype = model.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=kind, device=device)

        self._states = list(states)
        self._tails = [zeros(*shape) for shape in layout.tail_shapes()]
        self._x, self._mean, self._prompt_mel, self._mel = (zeros(block, bins) for _ in range(4))
        self._speaker = zeros(bins)
        self._positions = torch.zeros(block, dtype=torch.long, device=device)
        estimator = model.network.estimator
        self._rotary = estimator.rotary_embed if isinstance(estimator, DiT) else None
        num_turned = 0 if self._rotary is None else len(self._rotary.inv_freq)
        self._rotations = zeros(block, num_turned, kind=model.dtype.to_complex())
        # Values of the prompt whose state is in this memory. Lines write after it, so the next line can use it.
        self._prompt: weakref.ref[torch.Tensor] | None = None
        self._num_prompt_frames = 0
        self._is_finite = torch.ones((), dtype=torch.bool, device=device)
        self._order = StreamOrder(device)
        self._graph_pool = shared_pool(device)
        self._runs: dict[int, _Run] = {}
        self.set_capacity(capacity)

    def set_capacity(self, capacity: int) -> None:
        """Let runs read ``capacity`` frames. Each capacity has its own recording."""
        self.capacity = capacity
        if capacity not in self._runs:
            device, state = self._model.device, (*self._tails, self._is_finite)
            bias = torch.zeros(1, 1, self._layout.block_frames, capacity, dtype=self._dtype, device=device)
            self._runs[capacity] = _Run(bias, CapturedGraph(device, state, pool=self._graph_pool))

    @property
    @abstractmethod
    def num_frames(self) -> int:
        """The number of frames of prompt and speech for which there is memory."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether later lines can use this memory. False after its memory was moved or a mapping failed."""

    def has_prompt(self, blocks: Mapping[str, torch.Tensor] | None) -> bool:
        """Return whether this memory contains the state of a prompt, ``blocks`` as in ``StageCache``."""
        return blocks is not None and self._prompt is not None and self._prompt() is blocks["values"]

    @property
    def has_any_prompt(self) -> bool:
        """Whether this memory contains the state of a prompt that is still in use."""
        return self._prompt is not None and self._prompt() is not None

    @torch.inference_mode()
    def start_from(self, blocks: Mapping[str, torch.Tensor] | None, tails: list[torch.Tensor]) -> None:
        """Copy a prompt's state unless it is already here. ``blocks`` and ``tails`` are as in ``StageCache``."""
        with self._order.turn():
            self._clear_not_finite()
            if blocks is None:
                self._prompt = None  # the line writes from the first frame on
            elif not self.has_prompt(blocks):
                self._prompt = weakref.ref(blocks["values"])
                self._num_prompt_frames = blocks["values"].shape[-2]
                self._copy_prompt(blocks)
            self._copy_tails(tails)

    def _copy_prompt(self, blocks: Mapping[str, torch.Tensor]) -> None:
        for layer, states in enumerate(self._states):
            keys, values = states[..., : self._num_prompt_frames, :].unbind(1)
            keys.copy_(blocks["keys"][:, layer])
            values.copy_(blocks["values"][:, layer])

    def finish(self) -> None:
        """Wait for all work on this memory, including that of cancelled lines."""
        self._order.finish()

    def _clear_not_finite(self) -> None:
        """Zero any non-finite values of an earlier line, because a mask does not hide them."""
        if not self._is_finite:
            self._zero_states()
            self._prompt = None
            self._is_finite.fill_(True)

    @abstractmethod
    def _zero_states(self) -> None:
        """Zero what lines have written."""

    def _copy_tails(self, tails: list[torch.Tensor]) -> None:
        for ours, theirs in zip(self._tails, tails, strict=True):
            ours.copy_(theirs)

    @torch.inference_mode()
    def record(self) -> None:
        """Record the run. The memory must not be in use; the next line overwrites what the run has written."""
        with self._order.turn():
            self._prompt = None
            self._positions.zero_()
            self._runs[self.capacity].graph.run(self._compute)

    @torch.inference_mode()
    def solve(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of at most one block from frame ``start``; earlier blocks must be solved
        here.
        """
        with self._order.turn():
            self._set_inputs(voice, mean, start)
            self._runs[self.capacity].graph.run(self._compute)
            return self._mel[: mean.shape[0]].clone()

    def _set_inputs(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> None:
        """Copy the inputs of a run; zeros beyond the end of ``mean``."""
        block = self._layout.block_frames
        stop = start + mean.shape[0]
        check_length(stop)
        assert start + block <= min(self.num_frames, self.capacity)
        for buffer, part in (
            (self._x, self._model.noise[start : start + block]),
            (self._mean, mean),
            (self._prompt_mel, voice.mel[start:stop]),
        ):
            buffer.zero_()[: len(part)] = part
        self._speaker.copy_(voice.speaker)
        torch.arange(start, start + block, out=self._positions)
        bias = self._runs[self.capacity].bias
        bias.fill_(_MASKED)
        bias[..., :stop] = 0.0
        if self._rotary is not None:
            self._rotations.copy_(self._rotary.rotations(start, block))

    def _compute(self) -> None:
        model, run = self._model, self._runs[self.capacity]
        given = (self._mean, self._prompt_mel, self._speaker)
        conditions = Conditions(*(cond_uncond(part) for part in given))

        def velocity(step: int, x: torch.Tensor) -> torch.Tensor:
            context = _FixedContext(self, run.bias, step)
            return model.network.estimator.velocity(x, conditions, model.modulations[step], context)

        with nullcontext() if self._rotary is None else override_rotary(self._rotations):
            self._mel.copy_(solve(self._x, model.steps, model.config.solver.guidance_scale, velocity))
        self._is_finite.logical_and_(self._mel.isfinite().all())


@dataclass(frozen=True)
class _Run:
    """The computation for one capacity. ``bias`` masks the frames that a line does not have."""

    bias: torch.Tensor
    graph: CapturedGraph


@dataclass(frozen=True)
class _FixedContext(Context):
    """The context of a block at one solver step."""

    memory: SolverMemory
    bias: torch.Tensor
    step: int

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        tail = self.memory._tails[convolution.layer][self.step]
        extended = torch.cat([tail, x], dim=1)
        tail.copy_(extended[:, extended.shape[1] - convolution.past_frames :])
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        memory = self.memory
        states = memory._states[attention.layer][self.step][..., : memory.capacity, :]
        # Rotary positions come from ``override_rotary``.
        projected = attention.project(normed, 0)
        own = projected.to(states.dtype)
        states.index_copy_(3, memory._positions, own[1:])
        assert attention.score_bias(own[0], 0, states.shape[3]) is None, "estimators have no other kind of position"
        attended = F.scaled_dot_product_attention(own[0], states[0], states[1], attn_mask=self.bias)
        return attended.to(projected.dtype)

    def add_and_norm(
        self, x: torch.Tensor, change: Change | None, norm: Norm, dtype: torch.dtype | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return norm_kernel.add_and_norm(x, change, norm, dtype) or super().add_and_norm(x, change, norm, dtype)

    def norm_and_mish(self, x: torch.Tensor, norm: Norm, addend: torch.Tensor) -> torch.Tensor:
        activated = norm_kernel.norm_and_mish(x, norm, addend)
        return super().norm_and_mish(x, norm, addend) if activated is None else activated
