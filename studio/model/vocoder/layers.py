"""Layers of both vocoders, Fourier transforms included, and the past columns that they need in the next chunk.

The transforms equal ``torch.stft`` and ``torch.istft`` (periodic Hann window, centred, reflected ends) for a hop of a
quarter window. Decision: convolutions with fixed kernels. Reason: an FFT is not worthwhile for a window of 16 samples,
a causal network can stream convolutions like any other layer, and all engines and graphs support them.
Alternative: ``torch.istft`` with an overlap buffer.

A spectrum is (batch, size + 2, columns): the real parts of all bins, then the imaginary parts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


class History:
    """Past columns of all layers of a causal network, for one utterance.

    Layers are identified by the order in which they request their past, which is the same in every chunk. If a chunk
    is both first and last, it is a whole utterance. Then nothing is stored, and the run is differentiable.
    """

    def __init__(self) -> None:
        self.is_first = True
        self.is_last = False
        self._tails: list[torch.Tensor] = []
        self._next_layer = 0

    @classmethod
    def of_whole(cls) -> History:
        """Return a history for a whole utterance in one chunk."""
        history = cls()
        history.begin_chunk(is_last=True)
        return history

    def begin_chunk(self, *, is_last: bool) -> None:
        """Start a chunk. Must be called before each run of the network."""
        assert not self.is_last, "nothing follows the last chunk"
        self.is_first = not self._tails
        self.is_last = is_last
        self._next_layer = 0

    def extend(self, columns: torch.Tensor, *, extent: int, stride: int = 1, before: int = 0) -> torch.Tensor:
        """Return ``columns`` (batch, channels, n) preceded by the earlier columns that the layer still needs.

        An output column depends on ``extent`` input columns, and the next output column on those ``stride`` columns
        later. ``before`` zeros precede the utterance.
        """
        if self.is_first:
            joined = F.pad(columns, (before, 0)) if before else columns
            if self.is_last:
                return joined
        else:
            joined = torch.cat((self._tails[self._next_layer], columns), dim=-1)
        consumed = ((joined.shape[-1] - extent) // stride + 1) * stride
        self._keep(joined[..., consumed:])
        return joined

    def cut(self, columns: torch.Tensor) -> torch.Tensor:
        """Return ``columns``, which a history with padding sets to zero there."""
        return columns

    def reflect_start(self, columns: torch.Tensor) -> torch.Tensor:
        """Return ``columns``. In the first chunk, they get reflection padding of one column at the start."""
        return torch.cat((columns[:, :, 1:2], columns), dim=-1) if self.is_first else columns

    def hold_back(self, columns: torch.Tensor, num_ready: int) -> torch.Tensor:
        """Return the first ``num_ready`` of the held and new ``columns`` and hold the rest for the next chunk."""
        if self.is_first:
            if self.is_last:
                return columns[..., :num_ready]
            joined = columns
        else:
            joined = torch.cat((self._tails[self._next_layer], columns), dim=-1)
        self._keep(joined[..., num_ready:])
        return joined[..., :num_ready]

    def _keep(self, tail: torch.Tensor) -> None:
        """Keep a copy of ``tail`` as the past of the current layer, and move on to the next one."""
        self._tails[self._next_layer : self._next_layer + 1] = [tail.clone()]
        self._next_layer += 1


# Pads the input of a convolution: (columns, extent) -> columns with extent - 1 more.
Surround = Callable[[torch.Tensor, int], torch.Tensor]


def same_padding(columns: torch.Tensor, extent: int) -> torch.Tensor:
    """Pad ``columns`` with zeros on both sides, for a convolution of odd ``extent``."""
    return F.pad(columns, (extent // 2, extent // 2))


def causal_padding(history: History) -> Surround:
    """Return a function that prepends past columns, for causal convolutions."""

    def surround(columns: torch.Tensor, extent: int) -> torch.Tensor:
        return history.extend(columns, extent=extent, before=extent - 1)

    return surround


class Snake(nn.Module):
    """``x + sin²(alpha x) / alpha``, a periodic activation with one learned frequency per channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(channels))
        self._inverse: torch.Tensor | None = None

    def precompute(self) -> None:
        """Prepare for inference, after loading the weights and moving them to their device."""
        with torch.no_grad():
            self._inverse = self._invert()

    def _invert(self) -> torch.Tensor:
        return 1.0 / (self.alpha[:, None] + 1e-9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inverse = self._invert() if self.training or self._inverse is None else self._inverse
        sine = torch.sin(self.alpha[:, None] * x)  # (channels, 1), broadcast to (batch, channels, columns)
        return torch.addcmul(x, sine * sine, inverse)


def as_image_weight(weight: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return ``weight`` (out, in, kernel) as (out, in, 1, kernel) with channels last, for ``convolve_as_image``."""
    return weight.unsqueeze(2).to(dtype, memory_format=torch.channels_last)


def convolve_as_image(
    columns: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, dilation: tuple[int, ...]
) -> torch.Tensor:
    """Convolve ``columns`` (batch, in, time) in the type of ``weight``; the output has that of ``columns``.

    oneDNN's 16-bit convolutions are faster in this layout, with equal results: on a processor with AMX, 18 sizes
    together take 0.61 times the time.
    """
    image = columns.unsqueeze(2).to(weight.dtype, memory_format=torch.channels_last)
    convolved = F.conv2d(image, weight, bias, dilation=(1, *dilation))
    return convolved.to(columns.dtype, memory_format=torch.contiguous_format).squeeze(2)


class ResidualBlock(nn.Module):
    """Pairs of a dilated and a plain convolution, each preceded by a Snake, with skip connections (G5)."""

    def __init__(self, channels: int, kernel_size: int, dilations: tuple[int, ...]) -> None:
        super().__init__()
        self.convs1 = nn.ModuleList(nn.Conv1d(channels, channels, kernel_size, dilation=d) for d in dilations)
        self.convs2 = nn.ModuleList(nn.Conv1d(channels, channels, kernel_size) for _ in dilations)
        self.activations1 = nn.ModuleList(Snake(channels) for _ in dilations)
        self.activations2 = nn.ModuleList(Snake(channels) for _ in dilations)
        self._extents1 = tuple((kernel_size - 1) * d + 1 for d in dilations)
        self._extent2 = kernel_size

    def forward(self, x: torch.Tensor, surround: Surround) -> torch.Tensor:
        layers = zip(self.activations1, self.convs1, self._extents1, self.activations2, self.convs2, strict=True)
        for snake1, conv1, extent1, snake2, conv2 in layers:
            y = conv1(surround(snake1(x), extent1))
            y = conv2(surround(snake2(y), self._extent2))
            x = x + y
        return x


class RepeatUpsample(nn.Conv1d):
    """Up-sampling in CosyVoice3: every column is repeated ``rate`` times, followed by a causal convolution (G5).

    Most taps of the convolution apply to copies of the same column. After :meth:`merge_taps` and in training, those
    taps are added, and the convolution runs at the lower rate. It computes the same sums in another order, with a fifth
    to a half of the multiplications.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, rate: int) -> None:
        super().__init__(in_channels, out_channels, kernel_size)
        self._rate = rate
        self._merged: tuple[torch.Tensor, torch.Tensor] | None = None

    def merge_taps(self) -> None:
        """Prepare for inference, after loading the weights and moving them to their device."""
        with torch.no_grad():
            self._merged = self._merge()

    def _merge(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return weight (rate x out_channels, in_channels, columns) and bias, with gradients."""
        assert self.bias is not None
        meets = _columns_met(self.kernel_size[0], self._rate).to(self.weight)
        return torch.einsum("oit,ptc->poic", self.weight, meets).flatten(0, 1), self.bias.repeat(self._rate)

    def upsample(self, x: torch.Tensor, history: History) -> torch.Tensor:
        """Up-sample ``x`` (batch, in_channels, n) to (batch, out_channels, rate x n)."""
        merged = self._merge() if self.training else self._merged
        if merged is None:
            repeated = x.repeat_interleave(self._rate, dim=-1)
            extent = self.kernel_size[0]
            return F.conv1d(history.extend(repeated, extent=extent, before=extent - 1), self.weight, self.bias)
        weight, bias = merged
        extent = weight.shape[-1]
        y = F.conv1d(history.extend(x, extent=extent, before=extent - 1), weight, bias)
        return y.view(len(y), self._rate, self.out_channels, -1).permute(0, 2, 3, 1).flatten(2)


@functools.cache
def _columns_met(kernel_size: int, rate: int) -> torch.Tensor:
    """Return a tensor (rate, taps, columns): 1 where a tap applies to a column for an output at an offset, and 0
    elsewhere.
    """
    with torch.inference_mode(mode=False):  # gradients may pass through the result
        num_columns = 1 + -(-(kernel_size - 1) // rate)
        meets = torch.zeros(rate, kernel_size, num_columns, device="cpu")
        for place in range(rate):
            for tap in range(kernel_size):
                # Output ``place`` of a group uses the repeated column that is ``kernel_size - 1 - tap`` columns
                # earlier.
                column = (place - (kernel_size - 1 - tap)) // rate
                meets[place, tap, num_columns - 1 + column] = 1.0
        return meets


def analyse(signal: torch.Tensor, size: int, hop: int, history: History) -> torch.Tensor:
    """Return the spectrum of ``signal`` (batch, samples), as far as its samples allow.

    A whole signal of n samples has n / hop + 1 columns. First and last chunk must have more than ``size / 2`` samples.
    """
    ends = [signal]
    if history.is_first:
        ends.insert(0, signal[:, 1 : size // 2 + 1].flip(-1))
    if history.is_last:
        ends.append(signal[:, -size // 2 - 1 : -1].flip(-1))
    framed = history.extend(torch.cat(ends, dim=-1)[:, None], extent=size, stride=hop)
    return F.conv1d(framed, _analysis_kernel(size, signal.dtype, signal.device), stride=hop)


def resynthesise(spectrum: torch.Tensor, size: int, hop: int, history: History) -> torch.Tensor:
    """Return the samples (batch, n) that are final. Over an utterance, n is hop x (columns - 1).

    A first chunk must have at least three columns (a mel frame has 120).
    """
    assert size == 4 * hop, "the sum of squared windows is constant only for a hop of a quarter window"
    assert not history.is_first or spectrum.shape[-1] >= 3, "a first chunk has at least three columns"
    if history.is_last:
        spectrum = F.pad(spectrum, (0, 1))  # the last block has three of four windows
    kernel, first_gain, last_gain = _synthesis_kernel(size, spectrum.dtype, spectrum.device)
    # A block of ``hop`` samples is the sum of four overlapping windows.
    blocks = F.conv1d(history.extend(spectrum, extent=4, before=3), kernel).transpose(1, 2)
    if history.is_last:
        blocks = torch.cat((blocks[:, :-1], blocks[:, -1:] * last_gain), dim=1)
    if history.is_first:  # two blocks precede the signal: the transform is centred
        blocks = torch.cat((blocks[:, 2:3] * first_gain, blocks[:, 3:]), dim=1)
    return blocks.flatten(1)


def last_block_gain(size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Return the factors (hop,) of the last samples of a signal, for their missing window."""
    return _synthesis_kernel(size, dtype, device)[2]


def _window(size: int) -> torch.Tensor:
    return torch.hann_window(size, periodic=True, dtype=torch.float64, device="cpu")


def _angles(size: int) -> torch.Tensor:
    """Return (bins, size): 2 pi x bin x sample / size."""
    bins, samples = torch.arange(size // 2 + 1, device="cpu"), torch.arange(size, device="cpu")
    return 2 * torch.pi * (bins[:, None] * samples % size).double() / size


@functools.cache
def _analysis_kernel(size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Return the kernel (size + 2, 1, size)."""
    with torch.inference_mode(mode=False):  # gradients may pass through the result
        angles = _angles(size)
        kernel = torch.cat((angles.cos(), -angles.sin())) * _window(size)
        return kernel[:, None].to(device, dtype)


@functools.cache
def _synthesis_kernel(
    size: int, dtype: torch.dtype, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the kernel (hop, size + 2, 4), and gains of the first and last block for their missing window."""
    with torch.inference_mode(mode=False):
        angles, window = _angles(size), _window(size)
        hop = size // 4
        multiplicity = torch.full((size // 2 + 1, 1), 2.0, dtype=torch.float64, device="cpu")
        multiplicity[0] = multiplicity[-1] = 1.0  # bins that are not mirrored
        basis = (
            torch.cat((angles.cos() * multiplicity, -angles.sin() * multiplicity)) / size * window
        )  # (size + 2, size)
        quarters = (window**2).view(4, hop)  # (4, hop)
        total = quarters.sum(0)
        kernel = basis.view(-1, 4, hop).permute(2, 0, 1).flip(-1) / total[:, None, None]
        first_gain, last_gain = total / (total - quarters[3]), total / (total - quarters[0])
        return kernel.to(device, dtype), first_gain.to(device, dtype), last_gain.to(device, dtype)
