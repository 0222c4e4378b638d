"""Pitch predictors: five convolutions and a linear layer (specification G3)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from studio.model.vocoder.history import History
from studio.model.vocoder.layers import Surround, causal_padding, same_padding

_NUM_LAYERS = 5
LOOK_RIGHT_FRAMES = 3


class F0Predictor(nn.Module):
    """Pitch predictor of CosyVoice2, which sees five frames on each side."""

    first_kernel_size = 3

    def __init__(self, mel_bins: int, channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv1d(mel_bins, channels, self.first_kernel_size), nn.ELU()]
        for _ in range(_NUM_LAYERS - 1):
            layers += [nn.Conv1d(channels, channels, 3), nn.ELU()]
        self.condnet = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, 1)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        """Return the pitch in hertz (batch, frames) of ``mel`` (batch, bins, frames)."""
        first, *others = self.condnet
        return self._hertz(first(same_padding(self._cast(mel), 3)), others, same_padding, mel.dtype)

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
        """Return the pitch of all frames with known look-ahead: three fewer than given, until the last chunk."""
        x = self._cast(mel)
        if history.is_last:
            x = F.pad(x, (0, LOOK_RIGHT_FRAMES))
        first, *others = self.condnet
        return self._hertz(
            first(history.extend(x, extent=self.first_kernel_size)), others, causal_padding(history), mel.dtype
        )

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        return self.continue_from(mel, History.of_whole())
