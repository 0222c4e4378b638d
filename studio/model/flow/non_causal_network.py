"""Network of CosyVoice-300M's flow: a conformer, an interpolation to frame rate, and a U-Net (specification F4).

All frames of a call depend on each other, the prompt included. Nothing about a prompt can therefore be computed ahead
except its embedding, and no part of an utterance is final before all its tokens are known.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from studio.model.config import FlowConfig, LengthRegulatorConfig, RelativeTransformerConfig, UNetConfig
from studio.model.flow.layers import FullContext, SelfAttention
from studio.model.flow.network import ConformerLayer, FlowParts, InputLayer
from studio.model.flow.non_causal_unet import NonCausalUNet

# Both ends of the generated part are interpolated on their own, so that overlapping chunks have equal frames there.
EDGE_TOKENS = 20
# Attention in slices of queries bounds the memory of the relative positions of a long utterance.
_QUERIES_AT_ONCE = 512


class SlicedContext(FullContext):
    """Full attention, computed for some queries at a time."""

    def attend(self, attention: SelfAttention, normed: torch.Tensor) -> torch.Tensor:
        frames = normed.shape[1]
        queries = attention.queries(normed, 0)
        keys, values = attention.keys_values(normed, 0)
        slices = []
        for start in range(0, frames, _QUERIES_AT_ONCE):
            some = queries[:, :, start : start + _QUERIES_AT_ONCE]
            bias = attention.score_bias(some, start, frames)
            slices.append(F.scaled_dot_product_attention(some, keys, values, attn_mask=bias))
        return slices[0] if len(slices) == 1 else torch.cat(slices, dim=2)


class ConformerEncoder(nn.Module):
    def __init__(self, config: RelativeTransformerConfig, input_size: int) -> None:
        super().__init__()
        self.embed = InputLayer(input_size, config.size)
        self.encoders = nn.ModuleList(ConformerLayer(config) for _ in range(config.num_blocks))
        self.after_norm = nn.LayerNorm(config.size, eps=1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (rows, tokens, size) for embedded tokens (rows, tokens, input_size)."""
        context = SlicedContext()
        x = self.embed(x)
        for layer in self.encoders:
            x = layer(x, context)
        y: torch.Tensor = self.after_norm(x)
        return y


class LengthRegulator(nn.Module):
    """Interpolation from token rate to frame rate, followed by convolutions."""

    def __init__(self, config: LengthRegulatorConfig) -> None:
        super().__init__()
        self._config = config
        channels = config.channels
        layers: list[nn.Module] = []
        for _ in range(config.num_layers):
            layers += [nn.Conv1d(channels, channels, 3, padding=1), nn.GroupNorm(1, channels), nn.Mish()]
        self.model = nn.Sequential(*layers, nn.Conv1d(channels, channels, 1))

    def forward(self, prompt: torch.Tensor, generated: torch.Tensor, num_prompt_frames: int) -> torch.Tensor:
        """Return (rows, frames, mel_bins) for ``prompt`` and ``generated``, both (rows, tokens, mel_bins)."""
        parts = [resampled(prompt, num_prompt_frames)] if prompt.shape[1] else []
        num_tokens = generated.shape[1]
        num_frames = self._config.frames_of_tokens(num_tokens)
        if num_tokens > 2 * EDGE_TOKENS:
            edge = self._config.frames_of_tokens(EDGE_TOKENS)
            parts += [
                resampled(generated[:, :EDGE_TOKENS], edge),
                resampled(generated[:, EDGE_TOKENS:-EDGE_TOKENS], num_frames - 2 * edge),
                resampled(generated[:, -EDGE_TOKENS:], edge),
            ]
        else:
            parts.append(resampled(generated, num_frames))
        y: torch.Tensor = self.model(torch.cat(parts, dim=1).transpose(1, 2))
        return y.transpose(1, 2)


def resampled(x: torch.Tensor, num_frames: int) -> torch.Tensor:
    """Interpolate ``x`` (rows, tokens, channels) linearly to ``num_frames``."""
    return F.interpolate(x.transpose(1, 2), size=num_frames, mode="linear").transpose(1, 2)


class NonCausalFlow(FlowParts):
    """CosyVoice-300M: conformer, length regulator and non-causal U-Net."""

    def __init__(
        self,
        config: FlowConfig,
        encoder: RelativeTransformerConfig,
        regulator: LengthRegulatorConfig,
        unet: UNetConfig,
    ) -> None:
        super().__init__(config, NonCausalUNet(unet, config.mel_bins))
        if regulator.channels != config.mel_bins:
            raise ValueError(f"{regulator.channels} channels of the length regulator, {config.mel_bins} mel bins")
        self.encoder = ConformerEncoder(encoder, config.input_size)
        self.encoder_proj = nn.Linear(encoder.size, config.mel_bins)
        self.length_regulator = LengthRegulator(regulator)

    def mean(self, tokens: torch.Tensor, num_prompt_tokens: int, num_prompt_frames: int) -> torch.Tensor:
        """Return (rows, frames, mel_bins) for the token ids (rows, tokens) of prompt and continuation."""
        projected: torch.Tensor = self.encoder_proj(self.encoder(self.embed(tokens)))
        prompt, generated = projected[:, :num_prompt_tokens], projected[:, num_prompt_tokens:]
        mean: torch.Tensor = self.length_regulator(prompt, generated, num_prompt_frames)
        return mean


def build_non_causal_network(config: FlowConfig) -> NonCausalFlow:
    """Return the network of ``config`` on the default device, with random weights."""
    assert config.encoder is not None
    assert config.length_regulator is not None
    assert config.unet is not None
    return NonCausalFlow(config, config.encoder, config.length_regulator, config.unet)
