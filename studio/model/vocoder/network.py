"""The HiFT networks (specification G), with the official parameter names.

Weight normalisation is folded into plain weights on loading; a trainer can restore it with
``torch.nn.utils.parametrizations.weight_norm``. ``forward`` is differentiable, processes whole utterances and
is the reference for all other implementations.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from abc import ABC, abstractmethod
from typing import cast

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.config import VocoderConfig
from studio.model.vocoder.layers import (
    History,
    RepeatUpsample,
    ResidualBlock,
    Snake,
    Surround,
    analyse,
    causal_padding,
    resynthesise,
    same_padding,
)
from studio.model.vocoder.source import (
    CausalF0Predictor,
    F0Predictor,
    HarmonicSource,
    cumulative_phase,
    source_phase,
)

_MAX_MAGNITUDE = 100.0
_LAST_LEAKY_RELU_SLOPE = 0.01  # as in training; the slope inside the stack differs
_CENTRED_KERNEL_SIZE = 7


class HiFT(nn.Module, ABC):
    """Base of all generations: the source and the stack of decoder stages."""

    f0_predictor: F0Predictor

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.config = config
        self.samples_per_frame = math.prod(config.upsample_rates) * config.stft_hop
        self.m_source = HarmonicSource(config)
        self.conv_pre = nn.Conv1d(config.mel_bins, config.base_channels, self._pre_kernel_size())
        widths = [config.base_channels >> stage for stage in range(len(config.upsample_rates) + 1)]
        self.ups = nn.ModuleList(
            self._make_upsampler(*sizes)
            for sizes in zip(widths, widths[1:], config.upsample_kernel_sizes, config.upsample_rates, strict=False)
        )
        # Number of spectrum columns per column of a stage: 15, 3, 1.
        self._source_strides = tuple(itertools.accumulate(config.upsample_rates[:0:-1], operator.mul, initial=1))[::-1]
        self.source_downs = nn.ModuleList()
        self.source_resblocks = nn.ModuleList()
        self.resblocks = nn.ModuleList()
        for width, stride, source_kernel_size in zip(
            widths[1:], self._source_strides, config.source_resblock_kernel_sizes, strict=True
        ):
            self.source_downs.append(
                nn.Conv1d(config.stft_size + 2, width, 2 * stride if stride > 1 else 1, stride=stride)
            )
            self.source_resblocks.append(ResidualBlock(width, source_kernel_size, config.resblock_dilations))
            self.resblocks.extend(
                ResidualBlock(width, kernel_size, config.resblock_dilations)
                for kernel_size in config.resblock_kernel_sizes
            )
        self.conv_post = nn.Conv1d(widths[-1], config.stft_size + 2, _CENTRED_KERNEL_SIZE)

    def precompute(self) -> None:
        """Compute what depends on the weights only, for inference."""
        for module in self.modules():
            if isinstance(module, Snake):
                module.precompute()

    @abstractmethod
    def _pre_kernel_size(self) -> int: ...

    @abstractmethod
    def _make_upsampler(self, in_channels: int, out_channels: int, kernel_size: int, rate: int) -> nn.Module: ...

    @abstractmethod
    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """Return the waveform (batch, samples) of ``mel`` (batch, bins, frames) and ``source`` (batch, samples)."""

    @abstractmethod
    def _upsample(self, stage: int, x: torch.Tensor, history: History) -> torch.Tensor: ...

    @abstractmethod
    def _fit_source(self, stage: int, spectrum: torch.Tensor, history: History) -> torch.Tensor: ...

    def phase(self, sums: torch.Tensor, before: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
        """See ``source_phase``."""
        kind, rate = self.config.kind, self.samples_per_frame
        return source_phase(sums, before, dtype, kind=kind, samples_per_frame=rate)

    def forward(self, mel: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return waveform (batch, samples) and pitch in hertz (batch, frames) of ``mel`` (batch, bins, frames).

        ``noise`` is (samples, harmonics), or one such tensor per batch row. ``mel`` has at least one frame.
        """
        f0 = self.f0_predictor(mel)
        source = self.m_source(f0, self.phase(cumulative_phase(f0, self.config), None, mel.dtype), noise)
        return self.decode(mel, source), f0

    def run_stages(self, x: torch.Tensor, spectrum: torch.Tensor, surround: Surround, history: History) -> torch.Tensor:
        """Return the waveform's spectrum, shaped like the source's ``spectrum``, from the output of ``conv_pre``."""
        config = self.config
        num_parallel = len(config.resblock_kernel_sizes)
        last_stage = len(self.ups) - 1
        for stage in range(last_stage + 1):
            x = self._upsample(stage, F.leaky_relu(x, config.leaky_relu_slope), history)
            if stage == last_stage:
                x = history.reflect_start(x)  # the spectrum has one more column
            source = self._fit_source(stage, spectrum, history)
            x = x + self.source_resblocks[stage](source, surround)
            parallel = self.resblocks[stage * num_parallel : (stage + 1) * num_parallel]
            x = functools.reduce(operator.add, [block(x, surround) for block in parallel]) / num_parallel
        x = self.conv_post(surround(F.leaky_relu(x, _LAST_LEAKY_RELU_SLOPE), _CENTRED_KERNEL_SIZE))
        log_magnitude, phase = x.chunk(2, dim=1)
        magnitude = log_magnitude.exp().clamp(max=_MAX_MAGNITUDE)
        phase = phase.sin()
        return torch.cat((magnitude * phase.cos(), magnitude * phase.sin()), dim=1)


def synthesize_waveform(spectrum: torch.Tensor, config: VocoderConfig, history: History) -> torch.Tensor:
    """Return the samples (batch, n) of ``spectrum``, clamped to the limit used in training."""
    samples = resynthesise(spectrum, config.stft_size, config.stft_hop, history)
    return samples.clamp(-config.audio_limit, config.audio_limit)


class NonCausalHiFT(HiFT):
    """Network of CosyVoice-300M and CosyVoice2, with centred convolutions. They differ in sizes and in the phase."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__(config)
        self.f0_predictor = F0Predictor(config.mel_bins, config.f0_channels)

    def _pre_kernel_size(self) -> int:
        return _CENTRED_KERNEL_SIZE

    def _make_upsampler(self, in_channels: int, out_channels: int, kernel_size: int, rate: int) -> nn.Module:
        padding = (kernel_size - rate) // 2
        return nn.ConvTranspose1d(in_channels, out_channels, kernel_size, rate, padding)

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        history = History.of_whole()
        spectrum = analyse(source, self.config.stft_size, self.config.stft_hop, history)
        x = self.conv_pre(same_padding(mel, _CENTRED_KERNEL_SIZE))
        return synthesize_waveform(self.run_stages(x, spectrum, same_padding, history), self.config, history)

    def _upsample(self, stage: int, x: torch.Tensor, history: History) -> torch.Tensor:
        return cast("torch.Tensor", self.ups[stage](history.cut(x)))

    def _fit_source(self, stage: int, spectrum: torch.Tensor, history: History) -> torch.Tensor:  # noqa: ARG002
        padding = self._source_strides[stage] // 2
        return cast("torch.Tensor", self.source_downs[stage](F.pad(spectrum, (padding, padding))))


class CausalHiFT(HiFT):
    """Network of CosyVoice3, with causal convolutions after a short look-ahead at the input."""

    f0_predictor: CausalF0Predictor

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__(config)
        self.f0_predictor = CausalF0Predictor(config.mel_bins, config.f0_channels)

    def _pre_kernel_size(self) -> int:
        return self.config.look_right_frames + 1

    def _make_upsampler(self, in_channels: int, out_channels: int, kernel_size: int, rate: int) -> nn.Module:
        return RepeatUpsample(in_channels, out_channels, kernel_size, rate)

    def precompute(self) -> None:
        super().precompute()
        self.merge_taps()

    def merge_taps(self) -> None:
        """Prepare the up-sampling layers for inference."""
        for upsampler in self.ups:
            cast("RepeatUpsample", upsampler).merge_taps()

    def decode(self, mel: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        return self.decode_chunk(mel, source, History.of_whole())

    def open_history(self) -> History:
        """Return the state that is passed from one chunk of an utterance to the next."""
        return History()

    def decode_chunk(self, mel: torch.Tensor, source: torch.Tensor, history: History) -> torch.Tensor:
        """Return the samples (batch, n) that no later frame can change.

        ``mel`` contains the frames, and ``source`` the samples, that follow those of earlier calls. ``source`` must extend at least
        eight samples (half a window) beyond the frames that ``mel`` completes.
        """
        return synthesize_waveform(self.spectrum_of_chunk(mel, source, history), self.config, history)

    def spectrum_of_chunk(self, mel: torch.Tensor, source: torch.Tensor, history: History) -> torch.Tensor:
        """Return the spectrum of the samples of ``decode_chunk``."""
        config = self.config
        if history.is_last:
            mel = F.pad(mel, (0, config.look_right_frames))
        x = self.conv_pre(history.extend(mel, extent=config.look_right_frames + 1))
        spectrum = analyse(source, config.stft_size, config.stft_hop, history)
        columns_per_frame = self.samples_per_frame // config.stft_hop
        num_columns = x.shape[-1] * columns_per_frame + int(history.is_first)
        return self.run_stages(x, history.hold_back(spectrum, num_columns), causal_padding(history), history)

    def _upsample(self, stage: int, x: torch.Tensor, history: History) -> torch.Tensor:
        return cast("RepeatUpsample", self.ups[stage]).upsample(x, history)

    def _fit_source(self, stage: int, spectrum: torch.Tensor, history: History) -> torch.Tensor:
        down, stride = self.source_downs[stage], self._source_strides[stage]
        extent = cast("nn.Conv1d", down).kernel_size[0]
        return cast("torch.Tensor", down(history.extend(spectrum, extent=extent, stride=stride, before=stride - 1)))
