"""Vocoders with few channels and random weights, for tests that do not depend on size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import torch

from studio.model.config import VocoderConfig, VocoderKind
from studio.model.vocoder.network import CausalHiFT, HiFT, NonCausalHiFT
from studio.model.vocoder.vocoder import CausalVocoder, HiFTVocoder, NonCausalVocoder


def small_config(kind: VocoderKind) -> VocoderConfig:
    config = VocoderConfig(kind=kind, sample_rate=24_000, base_channels=16, f0_channels=12, mel_bins=20)
    if kind is not VocoderKind.SAMPLE_PHASE:
        return config
    return replace(
        config,
        sample_rate=22_050,
        upsample_rates=(8, 8),
        upsample_kernel_sizes=(16, 16),
        source_resblock_kernel_sizes=(7, 11),
    )


def small_network(kind: VocoderKind, dtype: torch.dtype = torch.float64) -> HiFT:
    """Set random weights with which the pitch varies from unvoiced to some hundred hertz."""
    config = small_config(kind)
    network = (CausalHiFT if kind is VocoderKind.CAUSAL else NonCausalHiFT)(config)
    generator = torch.Generator().manual_seed(5)
    for name, parameter in network.named_parameters():
        draw = torch.randn(parameter.shape, generator=generator)
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 25.0
        parameter.data = draw.abs() + 0.3 if name.endswith("alpha") else draw * (0.6 / fan_in**0.5)
    network.f0_predictor.classifier.weight.data *= 1200.0
    network.conv_post.weight.data *= 0.1  # to avoid clipping
    return network.requires_grad_(False).eval().to(dtype)


def small_vocoder(kind: VocoderKind, dtype: torch.dtype = torch.float64) -> HiFTVocoder:
    network = small_network(kind, dtype)
    if isinstance(network, CausalHiFT):
        network.f0_predictor.double()
        network.merge_taps()
        return CausalVocoder(network)
    assert isinstance(network, NonCausalHiFT)
    return NonCausalVocoder(network)


def random_mel(num_frames: int, seed: int = 1) -> torch.Tensor:
    """(20, frames)"""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(20, num_frames, generator=generator, dtype=torch.float64) * 2 - 3


def stream_all(vocoder: HiFTVocoder, mel: torch.Tensor, cuts: list[int], seed: int = 0) -> list[torch.Tensor]:
    """Return the samples of each chunk of ``mel``, divided at the frames ``cuts``."""
    stream = vocoder.open_stream(vocoder.noise(seed))
    edges = [0, *cuts, mel.shape[-1]]
    return [
        stream.synthesize(mel[:, start:end], is_last=index == len(edges) - 2)
        for index, (start, end) in enumerate(pairwise(edges))
    ]
