"""Networks of the flow. Names in the ``state_dict`` are the keys of ``flow.pt`` (I3, I4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import ConformerConfig, DiTConfig, FlowConfig, LookAheadConfig, UNetConfig
from studio.model.flow.dit import DiT
from studio.model.flow.encoder import EncoderContext, LookAheadLayer, UpsampleConformerEncoder
from studio.model.flow.estimator import VelocityEstimator
from studio.model.flow.unet import CausalUNet


class FlowNetwork(nn.Module, ABC):
    """Speech tokens, a voice and a time to velocities of mel frames (specification F1)."""

    def __init__(self, config: FlowConfig, estimator: VelocityEstimator) -> None:
        super().__init__()
        self.frames_per_token = config.frames_per_token
        self.input_embedding = nn.Embedding(config.num_speech_tokens, config.input_size)
        self.spk_embed_affine_layer = nn.Linear(config.speaker_embedding_size, config.mel_bins)
        self.decoder = nn.ModuleDict({"estimator": estimator})

    @property
    def estimator(self) -> VelocityEstimator:
        estimator = self.decoder["estimator"]
        assert isinstance(estimator, VelocityEstimator)
        return estimator

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return (rows, tokens, input_size) for ids (rows, tokens)."""
        embedded: torch.Tensor = self.input_embedding(tokens.clamp(min=0))
        return embedded

    def speaker(self, embedding: torch.Tensor) -> torch.Tensor:
        """Return (rows, mel_bins) for speaker embeddings (rows, speaker_embedding_size)."""
        projected: torch.Tensor = self.spk_embed_affine_layer(F.normalize(embedding, dim=-1, eps=1e-12))
        return projected

    @abstractmethod
    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        """Return (rows, frames, mel_bins) for embedded tokens; the last ``num_following`` are look-ahead."""

    @abstractmethod
    def token_rate_modules(self) -> Sequence[nn.Module]:
        """Return the modules of the encoder at token rate."""

    @abstractmethod
    def frame_rate_modules(self) -> Sequence[nn.Module]:
        """Return the modules of the encoder at frame rate."""


class ConformerFlow(FlowNetwork):
    """CosyVoice2: upsampling conformer and causal U-Net."""

    def __init__(self, config: FlowConfig, conformer: ConformerConfig, unet: UNetConfig) -> None:
        super().__init__(config, CausalUNet(unet, config.mel_bins))
        self.encoder = UpsampleConformerEncoder(
            conformer,
            config.input_size,
            lookahead_tokens=config.lookahead_tokens,
            frames_per_token=config.frames_per_token,
        )
        self.encoder_proj = nn.Linear(conformer.size, config.mel_bins)

    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        mean: torch.Tensor = self.encoder_proj(self.encoder(embedded, num_following, context))
        return mean

    def token_rate_modules(self) -> Sequence[nn.Module]:
        return (self.encoder.pre_lookahead_layer, self.encoder.encoders)

    def frame_rate_modules(self) -> Sequence[nn.Module]:
        return (self.encoder.up_layer, self.encoder.up_encoders)


class TransformerFlow(FlowNetwork):
    """CosyVoice3: look-ahead layer and diffusion transformer."""

    def __init__(self, config: FlowConfig, lookahead: LookAheadConfig, dit: DiTConfig) -> None:
        super().__init__(config, DiT(dit, config.mel_bins))
        self.pre_lookahead_layer = LookAheadLayer(lookahead.in_channels, lookahead.channels, config.lookahead_tokens)

    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        tokens: torch.Tensor = self.pre_lookahead_layer(embedded, num_following, context.tokens)
        return tokens.repeat_interleave(self.frames_per_token, dim=1)

    def token_rate_modules(self) -> Sequence[nn.Module]:
        return (self.pre_lookahead_layer,)

    def frame_rate_modules(self) -> Sequence[nn.Module]:
        return ()


def build_network(config: FlowConfig) -> FlowNetwork:
    """Return the network of ``config`` on the default device, with random weights."""
    if config.conformer is not None and config.unet is not None:
        return ConformerFlow(config, config.conformer, config.unet)
    assert config.lookahead is not None and config.dit is not None, "FlowConfig sets one of two pairs"  # noqa: PT018
    return TransformerFlow(config, config.lookahead, config.dit)
