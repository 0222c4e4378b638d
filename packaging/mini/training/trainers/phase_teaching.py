"""Phase supervision of the vocoder, so that its output can be compared with the true waveform, not only its spectrum.

In voiced speech, the phase follows from the phase of the fundamental. It is measured in the true audio and passed to
the source instead of the cumulative sum of the pitch, which selects one of all equally good waveforms. At inference,
the network follows the phase of the source.

The first stages are also trained directly to output the sines of the harmonics between frame boundaries, through
heads that are discarded afterwards, because the source contains the phase only once per frame (``vocoder_start``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.vocoder.network import CausalHiFT
from training.corpus.utterance import SAMPLE_RATE
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME as SAMPLES_PER_FRAME
from training.trainers.crops import MARGIN_FRAMES, Crops

_FRAME_SECONDS = SAMPLES_PER_FRAME / SAMPLE_RATE
_WHERE_UNKNOWN_HZ = 120.0  # for frames without pitch; arbitrary, because their phase is not used
_MIN_HZ = 40.0
_TAU = 2.0 * math.pi


@dataclass(frozen=True, slots=True)
class PhaseTrack:
    """Phase in radians: ``start`` (batch, 1) at the beginning of the first frame, ``steps`` (batch, frames) the
    increase in each frame.
    """

    start: torch.Tensor
    steps: torch.Tensor

    @property
    def at_ends(self) -> torch.Tensor:
        """Return the phase at the end of each frame (batch, frames), as contained in the source."""
        return self.start + self.steps.cumsum(-1)

    def between(self, columns_per_frame: int) -> torch.Tensor:
        """Return the phase in the middle of each column (batch, frames x columns)."""
        parts = (torch.arange(columns_per_frame, device=self.steps.device) + 0.5) / columns_per_frame
        before = self.at_ends - self.steps
        return (before[..., None] + self.steps[..., None] * parts).flatten(1)


def predicted_track(f0_hz: torch.Tensor, start: torch.Tensor) -> PhaseTrack:
    """Return the phase track at inference: the cumulative sum of the predicted pitch."""
    return PhaseTrack(start, _TAU * _FRAME_SECONDS * f0_hz)


def measured_track(crops: Crops, predicted_hz: torch.Tensor) -> PhaseTrack:
    """Return the phase of the fundamental in the true audio, over ``frames + 1`` frames.

    It is measured at each frame boundary, as the angle between the audio and a sine of the local pitch in a window of
    40 ms.
    """
    f0 = torch.where(crops.f0_hz > _MIN_HZ, crops.f0_hz, predicted_hz)
    f0 = torch.where(f0 > _MIN_HZ, f0, torch.full_like(f0, _WHERE_UNKNOWN_HZ))
    f0_around = torch.cat((f0[:, :1], f0, f0[:, -1:]), dim=-1)  # pitch of the frames beside each boundary
    size = 2 * SAMPLES_PER_FRAME
    windows = crops.samples.unfold(-1, size, SAMPLES_PER_FRAME)  # (batch, frames + 2, size), each around a boundary
    assert windows.shape[1] == f0.shape[1] + MARGIN_FRAMES
    offsets = torch.arange(-SAMPLES_PER_FRAME, SAMPLES_PER_FRAME, device=f0.device) + 0.5
    turns = offsets / SAMPLE_RATE
    before, after = turns[:SAMPLES_PER_FRAME], turns[SAMPLES_PER_FRAME:]
    angles = _TAU * torch.cat((f0_around[:, :-1, None] * before, f0_around[:, 1:, None] * after), dim=-1)
    weighted = windows * torch.hann_window(size, device=f0.device)
    at_borders = torch.atan2(-(weighted * angles.sin()).sum(-1), (weighted * angles.cos()).sum(-1))
    expected = _TAU * _FRAME_SECONDS * f0
    steps = expected + _wrapped(at_borders.diff(dim=-1) - expected)
    return PhaseTrack(at_borders[:, :1], steps)


def harmonic_phases(track: PhaseTrack, num_harmonics: int) -> torch.Tensor:
    """Return phase sums (batch, harmonics, frames), one column for each frame."""
    harmonics = torch.arange(1, num_harmonics + 1, device=track.steps.device)
    return (track.at_ends[:, None] * harmonics[:, None]) % _TAU


class SineHeads(nn.Module):
    """Trains the first two stages to output sines and cosines of the harmonics.

    Stores the last output of the blocks.
    """

    def __init__(self, network: CausalHiFT, harmonics: tuple[int, ...] = (2, 6), first_channel: int = 0) -> None:
        """Channels before ``first_channel`` are not used."""
        super().__init__()
        self._first_channel = first_channel
        config = network.config
        self._num_parallel = len(config.resblock_kernel_sizes)
        self._columns_per_frame = [math.prod(config.upsample_rates[: stage + 1]) for stage in range(len(harmonics))]
        self._made: dict[int, torch.Tensor] = {}
        self.heads = nn.ModuleList(
            nn.Conv1d((config.base_channels >> (stage + 1)) - first_channel, 2 * count, 1)
            for stage, count in enumerate(harmonics)
        )
        for index, block in enumerate(network.resblocks[: len(harmonics) * self._num_parallel]):
            block.register_forward_hook(self._remember(index))

    def _remember(self, index: int) -> Callable[[nn.Module, object, torch.Tensor], None]:
        def hook(block: nn.Module, inputs: object, output: torch.Tensor) -> None:
            del block, inputs
            if output.requires_grad:
                self._made[index] = output

        return hook

    def distance(self, track: PhaseTrack, is_voiced: torch.Tensor) -> torch.Tensor:
        """Return the error of the sines relative to ``track`` where ``is_voiced`` (batch, frames): 0 is perfect, 1
        uninformed.
        """
        distances = []
        num_frames = is_voiced.shape[-1]
        for stage, (head, per_frame) in enumerate(zip(self.heads, self._columns_per_frame, strict=True)):
            first = stage * self._num_parallel
            made = torch.stack([self._made[first + index] for index in range(self._num_parallel)]).mean(0)
            answer = head(made[:, self._first_channel :, : num_frames * per_frame])
            harmonics = torch.arange(1, answer.shape[1] // 2 + 1, device=answer.device)
            angles = track.between(per_frame)[:, None, : num_frames * per_frame] * harmonics[:, None]
            truth = torch.cat((angles.cos(), angles.sin()), dim=1)
            mask = is_voiced.repeat_interleave(per_frame, dim=-1)[:, None].to(answer.dtype)
            errors = F.smooth_l1_loss(answer, truth, reduction="none")  # a diverging head must not dominate the loss
            distances.append(4.0 * (errors * mask).sum() / (mask.sum() * answer.shape[1] + 1.0))
        self._made.clear()
        return torch.stack(distances).mean()


def _wrapped(angles: torch.Tensor) -> torch.Tensor:
    return torch.remainder(angles + math.pi, _TAU) - math.pi
