"""The HiFT networks and their source signal (specification G), with the official parameter names.

Weight normalisation is folded into plain weights on loading; a trainer can restore it with
``torch.nn.utils.parametrizations.weight_norm``. ``forward`` is differentiable, processes whole utterances and
is the reference for all other implementations.

The source signal consists of predicted pitch (specification G3), its harmonics (G4) and noise (G4, G8). Order and
precision of operations are the same as in training. The phase is a sum over all frames so far. It is accumulated in
float64 and rounded once, so that a sum carried across chunks rounds to the same numbers. The noise of a sample depends
on its absolute index, not on the division into chunks.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import threading
from abc import ABC, abstractmethod
from typing import cast

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from studio.model.config import VocoderConfig, VocoderKind
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

_MAX_MAGNITUDE = 100.0
_LAST_LEAKY_RELU_SLOPE = 0.01  # as in training; the slope inside the stack differs
_CENTRED_KERNEL_SIZE = 7
_NUM_F0_LAYERS = 5
LOOK_RIGHT_FRAMES = 3
_NOISE_BLOCK_SAMPLES = 4800
_UNIFORM_BLOCK_SAMPLES = 24_000
_FLOW_NOISE_FRAMES = 15_000


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


class F0Predictor(nn.Module):
    """Pitch predictor of CosyVoice-300M and CosyVoice2, which sees five frames on each side."""

    first_kernel_size = 3

    def __init__(self, mel_bins: int, channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv1d(mel_bins, channels, self.first_kernel_size), nn.ELU()]
        for _ in range(_NUM_F0_LAYERS - 1):
            layers += [nn.Conv1d(channels, channels, 3), nn.ELU()]
        self.condnet = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        """Return the pitch in hertz (batch, frames) of ``mel`` (batch, bins, frames)."""
        return self.padded_by(same_padding, mel)

    def padded_by(self, surround: Surround, mel: torch.Tensor) -> torch.Tensor:
        """Return the result of ``forward`` with another padding of each convolution."""
        first, *others = self.condnet
        return self._hertz(first(surround(self._cast(mel), 3)), others, surround, mel.dtype)

    def _cast(self, mel: torch.Tensor) -> torch.Tensor:
        return mel.to(self.classifier.weight.dtype)

    def _hertz(self, x: torch.Tensor, others: list[nn.Module], surround: Surround, dtype: torch.dtype) -> torch.Tensor:
        for layer in others:
            x = layer(surround(x, 3)) if isinstance(layer, nn.Conv1d) else layer(x)
        hertz: torch.Tensor = self.classifier(x.transpose(1, 2)).abs().squeeze(-1)
        return hertz.to(dtype)


class CausalF0Predictor(F0Predictor):
    """Pitch predictor of CosyVoice3, with a look-ahead of three frames.

    It runs in float64 for synthesis, because its errors accumulate in the phase.
    """

    first_kernel_size = LOOK_RIGHT_FRAMES + 1

    def continue_from(self, mel: torch.Tensor, history: History) -> torch.Tensor:
        """Return the pitch of all frames whose look-ahead is known: all but the last three, until the last chunk."""
        x = self._cast(mel)
        if history.is_last:
            x = F.pad(x, (0, LOOK_RIGHT_FRAMES))
        first, *others = self.condnet
        return self._hertz(
            first(history.extend(x, extent=self.first_kernel_size)), others, causal_padding(history), mel.dtype
        )

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        return self.continue_from(mel, History.of_whole())


def cumulative_phase(f0: torch.Tensor, config: VocoderConfig, before: torch.Tensor | None = None) -> torch.Tensor:
    """Return the running sums over frames of the cycles per sample: (batch, harmonics, frames) float64.

    ``f0`` is (batch, frames). ``before`` (batch, harmonics) contains the sums at the frame before the first one.
    """
    harmonics = torch.arange(1, config.num_harmonics + 2, device=f0.device, dtype=f0.dtype)
    cycles = ((f0[:, None] * harmonics[:, None] / config.sample_rate) % 1).double()
    if before is not None:
        # Prepended instead of added to the sums, to keep the order of additions of a single run.
        return torch.cat((before[:, :, None], cycles), dim=-1).cumsum(-1)[:, :, 1:]
    return cycles.cumsum(-1)


def radians(sums: torch.Tensor, samples_per_frame: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the phase in the middle of each frame.

    After minutes it is so large that float32 rounds it by hundredths of a radian, as in training.
    """
    return sums.to(dtype) * 2 * math.pi * samples_per_frame


def source_phase(
    sums: torch.Tensor, before: torch.Tensor | None, dtype: torch.dtype, *, kind: VocoderKind, samples_per_frame: int
) -> torch.Tensor:
    """Return the phase in radians (batch, harmonics, samples) from ``cumulative_phase``'s sums.

    ``before`` (batch, harmonics) contains the sums at the frame before the first one.
    """
    match kind:
        case VocoderKind.CAUSAL:
            return radians(sums, samples_per_frame, dtype).repeat_interleave(samples_per_frame, dim=-1)
        case VocoderKind.NON_CAUSAL:
            phase = radians(sums, samples_per_frame, dtype)
            return F.interpolate(phase, scale_factor=float(samples_per_frame), mode="linear", align_corners=False)
        case VocoderKind.SAMPLE_PHASE:
            return _sample_phase(sums, before, samples_per_frame).to(dtype)


def _sample_phase(sums: torch.Tensor, before: torch.Tensor | None, samples_per_frame: int) -> torch.Tensor:
    """Return the sum over samples, from which whole turns are removed in float64.

    The official program removes them in float32, in which the phase of a high harmonic is rough after a few seconds.
    """
    first = torch.zeros_like(sums[:, :, :1]) if before is None else before[:, :, None]
    previous = torch.cat((first, sums[:, :, :-1]), dim=-1)
    num_samples = torch.arange(1, samples_per_frame + 1, device=sums.device, dtype=sums.dtype)
    turns = previous[..., None] * samples_per_frame + (sums - previous)[..., None] * num_samples
    return (turns % 1).flatten(2) * (2 * math.pi)


def shifted(phase: torch.Tensor, initial: torch.Tensor | None) -> torch.Tensor:
    """Add the ``initial`` phases (harmonics,) of an utterance, if its generation has them."""
    return phase if initial is None else phase + initial.to(phase)[:, None]


class HarmonicSource(nn.Module):
    """Mixes harmonics and noise into one channel: mainly sines in voiced frames, noise in unvoiced ones."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        self.l_linear = nn.Linear(config.num_harmonics + 1, 1)
        self._config = config

    def mixture(self, f0: torch.Tensor, phase: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Return the harmonics with noise (batch, samples, harmonics).

        ``f0`` (batch, frames), ``phase`` in radians (batch, harmonics, samples), ``noise`` (samples, harmonics).
        """
        config = self._config
        samples_per_frame = phase.shape[-1] // f0.shape[-1]
        is_voiced = (f0 > config.voiced_threshold_hz).to(f0.dtype)
        is_voiced = is_voiced.repeat_interleave(samples_per_frame, dim=-1)[:, :, None]  # (batch, samples, 1)
        noise_gain = is_voiced * config.noise_amplitude + (1 - is_voiced) * config.sine_amplitude / 3
        sines = phase.sin().transpose(1, 2) * config.sine_amplitude
        return sines * is_voiced + noise_gain * noise.to(f0)

    def forward(self, f0: torch.Tensor, phase: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Return the source signal (batch, samples). See ``mixture``."""
        mixed: torch.Tensor = self.l_linear(self.mixture(f0, phase, noise))
        return mixed.tanh().squeeze(-1)


class NormalNoise:
    """Normal noise of one utterance in CosyVoice-300M and CosyVoice2, determined by a seed.

    Decision: a counter-based generator with one counter per block. Reason: each block can be drawn
    independently, so nothing is stored. Alternative: one long sequence in memory.
    """

    def __init__(self, seed: int, num_columns: int, *, has_phases: bool = False) -> None:
        """With ``has_phases``, the harmonics begin at random phases, as in CosyVoice-300M."""
        self._seed = seed & (2**64 - 1)
        self._num_columns = num_columns
        self._has_phases = has_phases

    def initial_phases(self) -> torch.Tensor | None:
        """Return random phases (columns,) in radians, of which the first is 0."""
        if not self._has_phases:
            return None
        generator = np.random.Generator(np.random.Philox(key=self._seed, counter=[0, 0, 1, 0]))
        phases = generator.uniform(-math.pi, math.pi, self._num_columns)
        phases[0] = 0.0
        return torch.from_numpy(phases.astype(np.float32))

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return normal noise (stop - start, columns) float32."""
        first_block, last_block = start // _NOISE_BLOCK_SAMPLES, max(start, stop - 1) // _NOISE_BLOCK_SAMPLES
        blocks = np.concatenate([self._block(index) for index in range(first_block, last_block + 1)])
        offset = first_block * _NOISE_BLOCK_SAMPLES
        return torch.from_numpy(blocks[start - offset : stop - offset])

    def _block(self, index: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        generator = np.random.Generator(np.random.Philox(key=self._seed, counter=[0, 0, 0, index]))
        return generator.standard_normal((_NOISE_BLOCK_SAMPLES, self._num_columns), dtype=np.float32)


class UniformTable:
    """The constant table of uniform noise of a CosyVoice3 model, drawn as far as needed.

    The official constructor draws 300 s of it (259 MB), after building flow and pitch predictor with the same
    generator. This class draws the same numbers in the same order, and continues after the end of that table. All
    utterances of a model share it. Thread-safe.
    """

    def __init__(self, config: VocoderConfig) -> None:
        self._config = config
        self._num_columns = config.num_harmonics + 1
        self._blocks: list[torch.Tensor] = []
        self._generator: torch.Generator | None = None
        self._lock = threading.Lock()

    def initial_phases(self) -> None:
        """Return None: the phases of this generation begin at 0."""

    def columns(self, start: int, stop: int) -> torch.Tensor:
        """Return uniform noise (stop - start, columns) float32 in 0..1."""
        first_block = start // _UNIFORM_BLOCK_SAMPLES
        last_block = max(start, stop - 1) // _UNIFORM_BLOCK_SAMPLES
        self._draw_up_to(last_block)
        offset = first_block * _UNIFORM_BLOCK_SAMPLES
        blocks = self._blocks[first_block : last_block + 1]
        return torch.cat(blocks)[start - offset : stop - offset]

    def _draw_up_to(self, last_block: int) -> None:
        with self._lock:
            if self._generator is None:
                self._generator = _generator_before_table(self._config)
            while len(self._blocks) <= last_block:
                self._blocks.append(_uniform(self._generator, _UNIFORM_BLOCK_SAMPLES, self._num_columns))


def _generator_before_table(config: VocoderConfig) -> torch.Generator:
    """Return a generator in the state in which the official constructor draws its table (G8).

    Its seed comes from the flow's noise. Flow and pitch predictor then draw initial weights, whose shapes determine
    how far the generator advances.
    """
    generator = torch.Generator("cpu").manual_seed(0)
    flow, width = config.preceding_flow, config.f0_channels
    torch.randn(1, flow.mel_bins, _FLOW_NOISE_FRAMES, generator=generator, device="cpu")
    torch.randn(flow.num_speech_tokens, flow.input_size, generator=generator, device="cpu")
    shapes = [(flow.mel_bins, flow.speaker_embedding_size), (flow.mel_bins,)]
    shapes += [(width, config.mel_bins, 4), (width,)]
    shapes += [(width, width, 3), (width,)] * 4
    shapes += [(1, width), (1,)]
    shapes += [(1, config.num_harmonics + 1)]  # initial phases, which have no effect
    for shape in shapes:
        _uniform(generator, *shape)
    return generator


def _uniform(generator: torch.Generator, *shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device="cpu")
