"""PyTorch implementations of ``stages.Vocoder``, and their loading from ``hift.pt``.

In half precision, only the convolutions in residual blocks are 16-bit. They are most of the work and tolerate rounding.
Everything between them stays float32, especially Snakes, in which half precision overflows for a tiny frequency. So
do the layers at both ends, which process mel, spectrum and samples.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.config import Precision, VocoderConfig, VocoderKind
from studio.model.stages import SourceNoise, VocoderStream
from studio.model.vocoder.layers import ResidualBlock
from studio.model.vocoder.network import CausalHiFT, HiFT, NonCausalHiFT
from studio.model.vocoder.source import NormalNoise, UniformTable, cumulative_phase, shifted
from studio.model.vocoder.streams import CausalNetwork, CausalStream, NonCausalNetwork, NonCausalStream
from studio.model.weights import fold_weight_norm, load_weights, meta_init, read_tensors

_F0 = "f0_predictor."
_HALF_TYPES = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}


class _Vocoder:
    """Base of the vocoders. Streams do not modify it and may run in any number of threads."""

    def __init__(self, network: NonCausalNetwork | CausalNetwork) -> None:
        """``network`` is a ``HiFT`` or an engine's replacement for it."""
        self.network = network
        self.sample_rate = network.config.sample_rate
        self.samples_per_frame = network.samples_per_frame


class NonCausalVocoder(_Vocoder):
    """Vocoder of CosyVoice-300M and CosyVoice2."""

    network: NonCausalNetwork

    def noise(self, seed: int) -> SourceNoise:
        config = self.network.config
        has_phases = config.kind is VocoderKind.SAMPLE_PHASE
        return NormalNoise(seed, config.num_harmonics + 1, has_phases=has_phases)

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return NonCausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """See ``stages.Vocoder``. Without frames, the result is empty."""
        if mel.shape[-1] == 0:
            return mel.new_empty(0)
        network = self.network
        with torch.inference_mode():
            mel = mel[None].to(network.conv_pre.weight)
            columns = noise.columns(0, mel.shape[-1] * self.samples_per_frame)
            f0 = network.f0_predictor(mel)
            phase = network.phase(cumulative_phase(f0, network.config), None, mel.dtype)
            source = network.m_source(f0, shifted(phase, noise.initial_phases()), columns)
            return network.decode(mel, source)[0]


class CausalVocoder(_Vocoder):
    """Vocoder of CosyVoice3."""

    network: CausalNetwork
    # Blocks of this size fit in the CPU cache, and memory does not grow with the utterance.
    _BLOCK_FRAMES: ClassVar[int] = 100

    def __init__(self, network: CausalNetwork) -> None:
        super().__init__(network)
        self._noise = UniformTable(network.config)

    def noise(self, seed: int) -> SourceNoise:  # noqa: ARG002 - the noise of this generation is constant
        return self._noise

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        return CausalStream(self.network, noise)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        """See ``stages.Vocoder``. A stream computes it, which equals a whole run. Without frames, the result is empty."""
        stream = self.open_stream(noise)
        blocks = torch.split(mel, self._BLOCK_FRAMES, dim=-1)
        samples = [stream.synthesize(block, is_last=False) for block in blocks[:-1]]
        return torch.cat([*samples, stream.synthesize(blocks[-1], is_last=True)])


HiFTVocoder = NonCausalVocoder | CausalVocoder


def load_vocoder(path: Path, config: VocoderConfig, precision: Precision, device: str) -> HiFTVocoder:
    """Load the vocoder from a ``hift.pt``.

    A 16-bit ``precision`` applies only to convolutions in residual blocks. CosyVoice3's pitch predictor
    is float64 (specification G3). Raise ``MissingModelFile``, ``DamagedModelFile`` and ``WrongTensors``.
    """
    tensors = read_tensors(path)
    is_causal = config.kind is VocoderKind.CAUSAL
    network = meta_init(lambda: CausalHiFT(config) if is_causal else NonCausalHiFT(config))
    load_weights(network, fold_weight_norm(tensors, file_name=path.name), file_name=path.name)
    if is_causal:
        # The pitch predictor's weight normalisation is also folded in float64.
        f0_tensors = {name.removeprefix(_F0): tensor for name, tensor in tensors.items() if name.startswith(_F0)}
        folded_f0 = fold_weight_norm(f0_tensors, file_name=path.name, dtype=torch.float64)
        load_weights(network.f0_predictor, folded_f0, file_name=path.name, dtype=torch.float64)
    network.to(device)
    if precision in _HALF_TYPES:
        _to_half(network, _HALF_TYPES[precision])
    network.precompute()
    if isinstance(network, CausalHiFT):
        return CausalVocoder(network)
    return NonCausalVocoder(network)


class HalfConvolution(nn.Module):
    """A copy of ``plain`` in ``dtype``, with float32 input and output."""

    def __init__(self, plain: nn.Conv1d, dtype: torch.dtype) -> None:
        super().__init__()
        assert plain.bias is not None
        self.weight = nn.Parameter(plain.weight.to(dtype), requires_grad=False)
        self.bias = nn.Parameter(plain.bias.to(dtype), requires_grad=False)
        self._dilation = plain.dilation

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        half = columns.to(self.weight.dtype)
        return F.conv1d(half, self.weight, self.bias, dilation=self._dilation).to(columns.dtype)


def _to_half(network: HiFT, dtype: torch.dtype) -> None:
    """Replace the convolutions in residual blocks, for inference. ``network`` is already on its device."""
    for block in chain(network.resblocks, network.source_resblocks):
        assert isinstance(block, ResidualBlock)
        for convolutions in (block.convs1, block.convs2):
            for index, plain in enumerate(convolutions):
                assert isinstance(plain, nn.Conv1d)
                convolutions[index] = HalfConvolution(plain, dtype)
