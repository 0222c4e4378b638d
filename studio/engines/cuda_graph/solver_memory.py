"""The recorded solver of one line, with its memory.

Keys and values of every solver step and layer are at fixed addresses. Attention reads a fixed number of frames and masks
those that the line does not have yet. A run is therefore the same computation for every block, and on a GPU one
recorded graph instead of ten thousand launches. A shorter block at the end of an utterance is padded, and the padding is
masked.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from math import prod

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph import norm_kernel
from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder, shared_pool
from studio.model.flow.caches import Allocation, CacheLayout
from studio.model.flow.dit import DiT, override_rotary
from studio.model.flow.layers import CausalConvolution, Change, Conditions, Context, Norm, SelfAttention
from studio.model.flow.model import FlowModel, PromptTensors, check_length, cond_uncond

# Added to masked scores: exp(-1e4) is zero in every type, and -1e4 fits in float16.
_MASKED = -1e4


def solver_bytes(layout: CacheLayout, capacity: int, dtype: torch.dtype) -> int:
    """Return the size in bytes of keys and values for ``capacity`` frames; other tensors are small."""
    return sum(prod(_state_shape(layout, attention, capacity)) * dtype.itemsize for attention in layout.attentions)


def _state_shape(layout: CacheLayout, attention: SelfAttention, capacity: int) -> tuple[int, ...]:
    """Return the shape of one layer's keys and values."""
    return layout.num_steps, 2, layout.num_rows, attention.num_heads, capacity, attention.head_size


class SolverMemory:
    """The solver of one line. A line that outgrows its memory moves to larger memory.

    ``capacity`` is the number of frames of prompt and speech, a multiple of the block. ``reservations`` are kept for the
    lifetime of the memory. ``states`` are the keys and values of each layer, zeros by default.
    """

    def __init__(
        self,
        model: FlowModel,
        layout: CacheLayout,
        capacity: int,
        dtype: torch.dtype,
        *,
        reservations: tuple[Allocation, ...] = (),
        states: Iterable[torch.Tensor] | None = None,
    ) -> None:
        device, block, bins = model.device, layout.block_frames, model.config.mel_bins
        self.capacity = capacity
        self.reservations = reservations
        self._model = model
        self._layout = layout

        def zeros(*shape: int, kind: torch.dtype = model.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=kind, device=device)

        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        self._states = list(
            states or (zeros(*_state_shape(layout, attention, capacity), kind=dtype) for attention in layout.attentions)
        )
        self._tails = [zeros(*shape) for shape in layout.tail_shapes()]
        self._x, self._mean, self._prompt_mel, self._mel = (zeros(block, bins) for _ in range(4))
        self._speaker = zeros(bins)
        self._positions = torch.zeros(block, dtype=torch.long, device=device)
        self._bias = zeros(1, 1, block, capacity, kind=dtype)  # masks the frames that the line does not have
        estimator = model.network.estimator
        self._rotary = estimator.rotary_embed if isinstance(estimator, DiT) else None
        num_turned = 0 if self._rotary is None else len(self._rotary.inv_freq)
        self._rotations = zeros(block, num_turned, kind=model.dtype.to_complex())
        # Values of the prompt whose state is in this memory. Lines write after it, so the next line can use it.
        self._prompt: weakref.ref[torch.Tensor] | None = None
        self._num_prompt_frames = 0
        self._is_finite = torch.ones((), dtype=torch.bool, device=device)
        self._order = StreamOrder(device)
        self._recorded = CapturedGraph(device, (*self._tails, self._is_finite), pool=shared_pool(device))

    @property
    def prompt(self) -> torch.Tensor | None:
        """Values, as in ``StageCache``, of the prompt whose state this memory contains, if it is still in use."""
        return None if self._prompt is None else self._prompt()

    @torch.inference_mode()
    def start_from(self, blocks: Mapping[str, torch.Tensor] | None, tails: list[torch.Tensor]) -> None:
        """Copy a prompt's state unless it is already here. ``blocks`` and ``tails`` are as in ``StageCache``."""
        with self._order.turn():
            self._clear_not_finite()
            if blocks is None:
                self._prompt = None  # the line writes from the first frame on
            elif self.prompt is not blocks["values"]:
                self._prompt = weakref.ref(blocks["values"])
                self._num_prompt_frames = blocks["values"].shape[-2]
                for layer, states in enumerate(self._states):
                    keys, values = states[..., : self._num_prompt_frames, :].unbind(1)
                    keys.copy_(blocks["keys"][:, layer])
                    values.copy_(blocks["values"][:, layer])
            self._copy_tails(tails)

    @torch.inference_mode()
    def continue_from(self, other: SolverMemory, num_frames: int) -> None:
        """Copy the state of a line from ``other``, which it has outgrown, except a prompt that is already here."""
        with other._order.turn(), self._order.turn():
            self._clear_not_finite()
            has_prompt = self.prompt is not None and self.prompt is other.prompt
            speech = slice(self._num_prompt_frames if has_prompt else 0, num_frames)
            for ours, theirs in zip(self._states, other._states, strict=True):
                ours[..., speech, :] = theirs[..., speech, :]
            self._prompt, self._num_prompt_frames = other._prompt, other._num_prompt_frames
            self._copy_tails(other._tails)

    @torch.inference_mode()
    def moved_to(self, capacity: int, num_frames: int, extra: Allocation) -> SolverMemory:
        """Return larger memory with the state of a line of ``num_frames``. Layers move one by one and are freed here.

        ``extra`` reserves the added bytes. This memory cannot be used afterwards, even if the move fails for lack of memory.
        """
        with self._order.turn():
            self._clear_not_finite()
            larger = SolverMemory(
                self._model,
                self._layout,
                capacity,
                self._states[0].dtype,
                reservations=(*self.reservations, extra),
                states=self._moved_states(capacity, num_frames),
            )
            larger._prompt, larger._num_prompt_frames = self._prompt, self._num_prompt_frames
            with larger._order.turn():
                larger._copy_tails(self._tails)
        return larger

    def _moved_states(self, capacity: int, num_frames: int) -> Iterator[torch.Tensor]:
        for index, attention in enumerate(self._layout.attentions):
            old = self._states[index]
            new = torch.zeros(_state_shape(self._layout, attention, capacity), dtype=old.dtype, device=old.device)
            new[..., :num_frames, :] = old[..., :num_frames, :]
            self._states[index] = old.new_empty(0)
            if old.device.type == "cuda":
                # It was allocated for another stream, whose later work must not overwrite it yet.
                old.record_stream(torch.cuda.current_stream(old.device))
            del old
            yield new

    @property
    def is_complete(self) -> bool:
        """Whether no layer was moved to other memory."""
        return all(len(tensor) for tensor in self._states)

    def finish(self) -> None:
        """Wait for all work on this memory, including that of cancelled lines."""
        self._order.finish()

    def _clear_not_finite(self) -> None:
        """Zero any non-finite values of an earlier line, because a mask does not hide them."""
        if not self._is_finite:
            for tensor in self._states:
                tensor.zero_()
            self._prompt = None
            self._is_finite.fill_(True)

    def _copy_tails(self, tails: list[torch.Tensor]) -> None:
        for ours, theirs in zip(self._tails, tails, strict=True):
            ours.copy_(theirs)

    @torch.inference_mode()
    def record(self) -> None:
        """Record the run. The memory must not be in use; the next line overwrites what the run has written."""
        with self._order.turn():
            self._prompt = None
            self._recorded.run(self._compute)

    @torch.inference_mode()
    def solve(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of at most one block from frame ``start``; earlier blocks must be solved
        here.
        """
        with self._order.turn():
            self._set_inputs(voice, mean, start)
            self._recorded.run(self._compute)
            return self._mel[: mean.shape[0]].clone()

    def _set_inputs(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> None:
        """Copy the inputs of a run; zeros beyond the end of ``mean``."""
        block = self._layout.block_frames
        stop = start + mean.shape[0]
        check_length(stop)
        assert start + block <= self.capacity
        for buffer, part in (
            (self._x, self._model.noise[start : start + block]),
            (self._mean, mean),
            (self._prompt_mel, voice.mel[start:stop]),
        ):
            buffer.zero_()[: len(part)] = part
        self._speaker.copy_(voice.speaker)
        torch.arange(start, start + block, out=self._positions)
        self._bias.fill_(_MASKED)
        self._bias[..., :stop] = 0.0
        if self._rotary is not None:
            self._rotations.copy_(self._rotary.rotations(start, block))

    def _compute(self) -> None:
        model = self._model
        given = (self._mean, self._prompt_mel, self._speaker)
        conditions, x = Conditions(*(cond_uncond(part) for part in given)), self._x
        with nullcontext() if self._rotary is None else override_rotary(self._rotations):
            for index, (step, modulation) in enumerate(zip(model.steps, model.modulations, strict=True)):
                rows, context = x.expand(2, -1, -1), _FixedContext(self, index)
                velocity = model.network.estimator.velocity(rows, conditions, modulation, context)
                x = step.advance(x, velocity, model.config.solver.guidance_scale)
            self._mel.copy_(x)
        self._is_finite.logical_and_(self._mel.isfinite().all())


@dataclass(frozen=True)
class _FixedContext(Context):
    """The context of a block at one solver step."""

    memory: SolverMemory
    step: int

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        tail = self.memory._tails[convolution.layer][self.step]
        extended = torch.cat([tail, x], dim=1)
        tail.copy_(extended[:, extended.shape[1] - convolution.past_frames :])
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        memory = self.memory
        states = memory._states[attention.layer][self.step]
        # Rotary positions come from ``override_rotary``.
        projected = attention.project(normed, 0)
        own = projected.to(states.dtype)
        states.index_copy_(3, memory._positions, own[1:])
        assert attention.score_bias(own[0], 0, states.shape[3]) is None, "estimators have no other kind of position"
        attended = F.scaled_dot_product_attention(own[0], states[0], states[1], attn_mask=memory._bias)
        return attended.to(projected.dtype)

    def add_and_norm(
        self, x: torch.Tensor, change: Change | None, norm: Norm, dtype: torch.dtype | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return norm_kernel.add_and_norm(x, change, norm, dtype) or super().add_and_norm(x, change, norm, dtype)

    def norm_and_mish(self, x: torch.Tensor, norm: Norm, addend: torch.Tensor) -> torch.Tensor:
        activated = norm_kernel.norm_and_mish(x, norm, addend)
        return super().norm_and_mish(x, norm, addend) if activated is None else activated
