"""The speaker encoder's network: time-delay layers, statistics over time, an embedding of 192 (an "x-vector").

Decision: a small network (0.4 M weights) for both the model and the evaluation, with different seeds and speakers.
Reason: after a few minutes of training on one core, it distinguishes unseen synthetic speakers. Alternative: CAM++,
which is seventy times as large and made for thousands of real speakers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

MEL_BINS = 80
EMBEDDING_SIZE = 192
VARIANCE_FLOOR = 1e-5


class DelayShape(NamedTuple):
    kernel_size: int
    dilation: int

    @property
    def padding(self) -> int:
        return self.dilation * (self.kernel_size - 1) // 2


# Together they cover 15 frames on each side. The last layer only mixes channels.
DELAY_SHAPES = (DelayShape(5, 1), DelayShape(3, 2), DelayShape(3, 3), DelayShape(3, 4), DelayShape(1, 1))


@dataclass(frozen=True, slots=True)
class FoldedLayer:
    """A convolution with its normalisation folded in: ``weight`` (out, in, kernel), ``bias`` (out,)."""

    weight: torch.Tensor
    bias: torch.Tensor
    shape: DelayShape


class TimeDelay(nn.Module):
    def __init__(self, num_inputs: int, num_outputs: int, shape: DelayShape) -> None:
        super().__init__()
        self.shape = shape
        self.convolution = nn.Conv1d(
            num_inputs, num_outputs, shape.kernel_size, dilation=shape.dilation, padding=shape.padding, bias=False
        )
        self.norm = nn.BatchNorm1d(num_outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm(self.convolution(x)))

    @torch.no_grad()
    def folded(self) -> FoldedLayer:
        mean, variance = self.norm.running_mean, self.norm.running_var
        assert mean is not None and variance is not None  # noqa: PT018 - as it was made
        gain = self.norm.weight / torch.sqrt(variance + self.norm.eps)
        return FoldedLayer(self.convolution.weight * gain[:, None, None], self.norm.bias - mean * gain, self.shape)


class SpeakerNetwork(nn.Module):
    """Converts mean-free Kaldi filter banks (rows, frames, 80) to speaker embeddings (rows, 192), not normalised."""

    def __init__(self, channels: int, pooled_channels: int) -> None:
        super().__init__()
        widths = (MEL_BINS, *([channels] * (len(DELAY_SHAPES) - 1)), pooled_channels)
        self.layers = nn.ModuleList(
            TimeDelay(narrow, wide, shape)
            for narrow, wide, shape in zip(widths[:-1], widths[1:], DELAY_SHAPES, strict=True)
        )
        self.embedding = nn.Linear(2 * pooled_channels, EMBEDDING_SIZE)

    def forward(self, filter_bank: torch.Tensor) -> torch.Tensor:
        x = filter_bank.transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        mean = x.mean(dim=2)
        spread = torch.sqrt((x * x).mean(dim=2) - mean * mean + VARIANCE_FLOOR)
        embedding: torch.Tensor = self.embedding(torch.cat([mean, spread], dim=1))
        return embedding


class SpeakerTasks(nn.Module):
    """Training objectives of the embedding: the speaker, with a margin to all others, and the speaker's pitch."""

    def __init__(self, num_speakers: int) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.randn(num_speakers, EMBEDDING_SIZE))
        self.pitch = nn.Linear(EMBEDDING_SIZE, 1)

    def logits(self, embedding: torch.Tensor, speakers: torch.Tensor, *, margin: float, scale: float) -> torch.Tensor:
        """Return scaled cosines (rows, num_speakers), reduced by ``margin`` for the correct speaker."""
        cosines = F.normalize(embedding, dim=1) @ F.normalize(self.directions, dim=1).t()
        return scale * (cosines - margin * F.one_hot(speakers, len(self.directions)))

    def log_pitch(self, embedding: torch.Tensor) -> torch.Tensor:
        """Return the pitch (rows,) predicted from the direction only, because the flow receives normalised embeddings."""
        predicted: torch.Tensor = self.pitch(F.normalize(embedding, dim=1))
        return predicted[:, 0]
