"""All steps of the flow's solver in fixed memory; one run computes one block of the grid.

Keys and values of every step and layer are in buffers of fixed size; attention reads a whole buffer and masks the
unfilled part. A run is therefore the same computation for every block, and on a GPU one recorded graph instead of ten
thousand launches. A shorter block at the end of an utterance is padded, and the padding is masked.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from math import prod

import torch
import torch.nn.functional as F

from studio.engines.cuda_graph.captured_graph import CapturedGraph, StreamOrder
from studio.model.flow.caches import Allocation, CacheLayout
from studio.model.flow.dit import DiT, override_rotary
from studio.model.flow.layers import CausalConvolution, Conditions, SelfAttention
from studio.model.flow.model import FlowModel, PromptTensors, check_length, cond_uncond, solve

# Added to masked scores: exp(-1e4) is zero in every type, and -1e4 fits in float16.
_MASKED = -1e4


def solver_bytes(layout: CacheLayout, capacity: int, dtype: torch.dtype) -> int:
    """Return the bytes of keys and values for ``capacity`` frames; the rest is small."""
    return sum(2 * prod(_state_shape(layout, attention, capacity)) * dtype.itemsize for attention in layout.attentions)


class SolverMemory:
    """The solver of one line.

    ``capacity`` is the number of frames of prompt and speech, a multiple of the block. ``reservation`` is kept for the
    lifetime of the memory.
    """

    def __init__(
        self,
        model: FlowModel,
        layout: CacheLayout,
        capacity: int,
        dtype: torch.dtype,
        reservation: Allocation | None = None,
    ) -> None:
        device, block, bins = model.device, layout.block_frames, model.config.mel_bins
        self.capacity = capacity
        self.reservation = reservation
        self._model = model
        self._layout = layout

        def zeros(*shape: int, kind: torch.dtype = model.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=kind, device=device)

        # Zeros, because masked values are multiplied by zero, which keeps a NaN.
        self._keys = [zeros(*_state_shape(layout, attention, capacity), kind=dtype) for attention in layout.attentions]
        self._values = [torch.zeros_like(keys) for keys in self._keys]
        self._tails = [zeros(*shape) for shape in layout.tail_shapes()]
        self._x, self._mean, self._prompt_mel, self._mel = (zeros(block, bins) for _ in range(4))
        self._speaker = zeros(bins)
        self._positions = torch.zeros(block, dtype=torch.long, device=device)
        self._bias = zeros(1, 1, block, capacity, kind=dtype)
        estimator = model.network.estimator
        self._rotary = estimator.rotary_embed if isinstance(estimator, DiT) else None
        num_turned = 0 if self._rotary is None else len(self._rotary.inv_freq)
        self._cosine, self._sine = (zeros(block, num_turned) for _ in range(2))
        self._is_finite = torch.ones((), dtype=torch.bool, device=device)
        self._recorded = CapturedGraph(device, (*self._tails, self._is_finite))
        self._order = StreamOrder(device)

    @torch.inference_mode()
    def start_from(self, blocks: Mapping[str, torch.Tensor] | None, tails: list[torch.Tensor]) -> None:
        """Copy a prompt's state: ``blocks`` and ``tails`` as in ``StageCache``."""
        with self._order.turn():
            self._clear_not_finite()
            if blocks is not None:
                num_frames = blocks["values"].shape[-2]
                for layer in range(len(self._layout.attentions)):
                    self._keys[layer][..., :num_frames, :] = blocks["keys"][:, layer].transpose(-1, -2)
                    self._values[layer][..., :num_frames, :] = blocks["values"][:, layer]
            self._copy_tails(tails)

    @torch.inference_mode()
    def continue_from(self, other: SolverMemory, num_frames: int) -> None:
        """Copy the state of a line that no longer fits in ``other``."""
        with other._order.turn(), self._order.turn():
            self._clear_not_finite()
            for ours, theirs in zip((*self._keys, *self._values), (*other._keys, *other._values), strict=True):
                ours[..., :num_frames, :] = theirs[..., :num_frames, :]
            self._copy_tails(other._tails)

    def finish(self) -> None:
        """Wait for all work on this memory, including that of cancelled lines."""
        self._order.finish()

    def _clear_not_finite(self) -> None:
        """Zero any non-finite values of an earlier line, because a mask does not hide them."""
        if not self._is_finite:
            for tensor in (*self._keys, *self._values):
                tensor.zero_()
            self._is_finite.fill_(True)

    def _copy_tails(self, tails: list[torch.Tensor]) -> None:
        for ours, theirs in zip(self._tails, tails, strict=True):
            ours.copy_(theirs)

    @torch.inference_mode()
    def solve(self, voice: PromptTensors, mean: torch.Tensor, start: int) -> torch.Tensor:
        """Return the mel (frames, mel_bins) of at most one block from frame ``start``; earlier blocks must be solved here."""
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
            cosine, sine = self._rotary.cos_sin(start, block)
            self._cosine.copy_(cosine)
            self._sine.copy_(sine)

    def _compute(self) -> None:
        model = self._model
        given = (self._mean, self._prompt_mel, self._speaker)
        conditions = Conditions(*(cond_uncond(part) for part in given))

        def velocity(step: int, x: torch.Tensor) -> torch.Tensor:
            context = _FixedContext(self, step)
            return model.network.estimator.velocity(x, conditions, model.modulations[step], context)

        with nullcontext() if self._rotary is None else override_rotary(self._cosine, self._sine):
            self._mel.copy_(solve(self._x, model.steps, model.config.solver.guidance_scale, velocity))
        self._is_finite.logical_and_(self._mel.isfinite().all())


@dataclass(frozen=True)
class _FixedContext:
    """The context of a block at one solver step."""

    memory: SolverMemory
    step: int

    def left_context(self, convolution: CausalConvolution, x: torch.Tensor) -> torch.Tensor:
        tail = self.memory._tails[convolution.layer][self.step]
        extended = torch.cat([tail, x], dim=1)
        tail.copy_(extended[:, extended.shape[1] - convolution.past_frames :])
        return extended

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        memory, layer = self.memory, attention.layer
        keys, values = memory._keys[layer][self.step], memory._values[layer][self.step]
        # Rotary positions come from ``override_rotary``.
        own_keys, own_values = attention.keys_values(normed, 0)
        keys.index_copy_(2, memory._positions, own_keys.to(keys.dtype))
        values.index_copy_(2, memory._positions, own_values.to(values.dtype))
        queries = attention.queries(normed, 0)
        assert attention.score_bias(queries, 0, keys.shape[2]) is None, "estimators have no other kind of position"
        attended = F.scaled_dot_product_attention(queries.to(keys.dtype), keys, values, attn_mask=memory._bias)
        return attended.to(queries.dtype)


def _state_shape(layout: CacheLayout, attention: SelfAttention, capacity: int) -> tuple[int, ...]:
    """Return the shape of one layer's keys or values."""
    return layout.num_steps, layout.num_rows, attention.num_heads, capacity, attention.head_size
