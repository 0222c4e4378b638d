"""Conditional flow matching: the velocity along straight paths from noise to mel.

The path is ``x = (1 - (1 - sigma) t) noise + t mel``, its velocity ``mel - (1 - sigma) noise`` (specification F2).
Times are drawn on the solver's cosine grid, so most are close to the noise, where the structure of speech is
determined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch

from studio.model.flow.layers import Conditions, FullContext, SelfAttention
from studio.model.flow.network import EncoderContext, FlowNetwork
from training.corpus.utterance import MEL_BINS
from training.trainers.flow_batches import FlowBatch

_MIN_SIGMA = 1e-6
# The harmonics of a voice are in the lower bands. They are a small part of a mel's variance, but the vocoder's pitch
# predictor depends on them: where they blur, every voice gets the average pitch.
_HARMONIC_BINS, _WEIGHT_OF_HARMONICS = 36, 3.0


def _bin_weights() -> torch.Tensor:
    weights = torch.ones(MEL_BINS)
    weights[:_HARMONIC_BINS] = _WEIGHT_OF_HARMONICS
    return weights / weights.mean()


class FlowDraw(NamedTuple):
    """The random part of a step: ``noise`` (rows, frames, 80), ``time`` (rows,) in 0..1, ``is_told`` (rows,)."""

    noise: torch.Tensor
    time: torch.Tensor
    is_told: torch.Tensor

    @classmethod
    def of(cls, batch: FlowBatch, untold_share: float, generator: torch.Generator) -> FlowDraw:
        """Draw on the CPU, so that the result does not depend on the device. Times are spread evenly over the rows."""
        rows = len(batch.tokens)
        places = (torch.randperm(rows, generator=generator) + torch.rand(rows, generator=generator)) / rows
        device = batch.mel.device
        return cls(
            noise=torch.randn(batch.mel.shape, generator=generator).to(device),
            time=(1.0 - torch.cos(0.5 * math.pi * places)).to(device),
            is_told=(torch.rand(rows, generator=generator) >= untold_share).to(device),
        )


@dataclass(frozen=True)
class MaskedContext(FullContext):
    """A ``FullContext`` that computes the attention of all frames at once, with a mask instead of chunks.

    A step of training takes 0.68 times the time of attention chunk by chunk, in bfloat16 with AMX.
    """

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        queries, keys, values = attention.projections(normed, 0)
        scores = queries / math.sqrt(attention.head_size) @ keys.transpose(2, 3)
        if self.chunk_frames is not None:
            ends = torch.arange(normed.shape[1], device=normed.device) // self.chunk_frames
            scores = scores.masked_fill(ends[:, None] < ends, -torch.inf)
        attended: torch.Tensor = scores.softmax(dim=-1) @ values
        return attended


def flow_loss(network: FlowNetwork, batch: FlowBatch, draw: FlowDraw, *, chunk_frames: int | None) -> torch.Tensor:
    """Weighted squared error of the velocity after the prompt. ``chunk_frames``: the streaming mask, or None.

    Unconditional rows get zeros for tokens, prompt and speaker, as the second row of the solver.
    """
    num_frames = batch.mel.shape[1]
    whole = MaskedContext(chunk_frames)
    mean = network.mean(network.embed(batch.tokens), batch.num_following, EncoderContext(whole, whole))
    is_prompt = torch.arange(num_frames, device=batch.mel.device) < batch.prompt_frames[:, None]
    told = draw.is_told.to(batch.mel.dtype)[:, None]
    conditions = Conditions(
        mean=mean * told[..., None],
        prompt_mel=batch.mel * (is_prompt * told)[..., None],
        speaker=network.speaker(batch.embedding) * told,
    )
    time = draw.time[:, None, None]
    path = (1.0 - (1.0 - _MIN_SIGMA) * time) * draw.noise + time * batch.mel
    velocity = batch.mel - (1.0 - _MIN_SIGMA) * draw.noise
    predicted = network.estimator(path, draw.time, conditions, whole)
    is_open = ~is_prompt | ~draw.is_told[:, None]
    errors = ((predicted.float() - velocity).square() * _bin_weights().to(velocity.device)).mean(dim=-1)
    loss: torch.Tensor = (errors * is_open).sum() / is_open.sum().clamp(min=1)
    return loss
