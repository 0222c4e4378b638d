"""Discriminators for the adversarial stage of the vocoder. They are small, because they cost as much as the vocoder.

Some process log spectrograms of several resolutions, others the waveform folded by several periods.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

_SLOPE = 0.1
_INAUDIBLE = 2e-4
_SPECTRUM_SIZES = (1024, 512, 256)
_PERIODS = (2, 3, 5, 7, 11)

# The score of each position (1 for true, 0 for generated), and the features of all layers.
Judgement = tuple[torch.Tensor, list[torch.Tensor]]


class SpectrogramJudge(nn.Module):
    """Convolutions over frequency and time of a log spectrogram."""

    window: torch.Tensor

    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        self._size = size
        self.register_buffer("window", torch.hann_window(size), persistent=False)
        self.layers = nn.ModuleList(
            weight_norm(nn.Conv2d(before, channels, (5, 3), stride=(2, 1), padding=(2, 1)))
            for before in (1, channels, channels, channels)
        )
        self.last = weight_norm(nn.Conv2d(channels, 1, 3, padding=1))

    def forward(self, sound: torch.Tensor) -> Judgement:
        spectrum = torch.stft(sound, self._size, self._size // 4, window=self.window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        x = (power.add(1e-12).sqrt() * (4.0 / self._size) + _INAUDIBLE).log()[:, None] / 3.0 + 1.5
        return _through(self.layers, self.last, x)


class PeriodJudge(nn.Module):
    """Convolutions along every ``period``-th sample."""

    def __init__(self, period: int, widths: Sequence[int]) -> None:
        super().__init__()
        self._period = period
        self.layers = nn.ModuleList(
            weight_norm(nn.Conv2d(before, after, (5, 1), stride=(3, 1), padding=(2, 0)))
            for before, after in zip((1, *widths), widths, strict=False)
        )
        self.last = weight_norm(nn.Conv2d(widths[-1], 1, (3, 1), padding=(1, 0)))

    def forward(self, sound: torch.Tensor) -> Judgement:
        usable = sound.shape[-1] // self._period * self._period
        return _through(self.layers, self.last, sound[:, None, :usable].reshape(len(sound), 1, -1, self._period))


class Discriminator(nn.Module):
    """All discriminators. ``bfloat16`` is for their convolutions, on a CPU."""

    def __init__(self, channels: int = 16, *, bfloat16: bool = False) -> None:
        super().__init__()
        self._bfloat16 = bfloat16
        widths = (channels, 2 * channels, 4 * channels, 4 * channels)
        self.judges = nn.ModuleList(
            [
                *(SpectrogramJudge(size, channels) for size in _SPECTRUM_SIZES),
                *(PeriodJudge(period, widths) for period in _PERIODS),
            ]
        )

    def forward(self, sound: torch.Tensor) -> list[Judgement]:
        """Return scores and features of ``sound`` (batch, samples)."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
            return [judge(sound) for judge in self.judges]


def judging_loss(of_true: Sequence[Judgement], of_made: Sequence[Judgement]) -> torch.Tensor:
    """Return the loss of the discriminators: the target is 1 for true and 0 for generated audio."""
    losses = [
        (true - 1.0).square().mean() + made.square().mean()
        for (true, _), (made, _) in zip(of_true, of_made, strict=True)
    ]
    return torch.stack(losses).mean()


def deceiving_loss(of_made: Sequence[Judgement]) -> torch.Tensor:
    """Return the adversarial loss of the vocoder: the target for generated audio is 1."""
    return torch.stack([(made - 1.0).square().mean() for made, _ in of_made]).mean()


def feature_distance(of_true: Sequence[Judgement], of_made: Sequence[Judgement]) -> torch.Tensor:
    """Return the difference of the features of all layers, relative to those of the true audio."""
    distances = [
        (true.detach() - made).abs().mean() / (true.detach().abs().mean() + 1e-3)
        for (_, all_true), (_, all_made) in zip(of_true, of_made, strict=True)
        for true, made in zip(all_true, all_made, strict=True)
    ]
    return torch.stack(distances).mean()


def _through(layers: nn.ModuleList, last: nn.Module, x: torch.Tensor) -> Judgement:
    features = []
    x = x.contiguous(memory_format=torch.channels_last)  # faster in bfloat16
    for layer in layers:
        x = F.leaky_relu(layer(x), _SLOPE)
        features.append(x)
    return last(x).float(), features
