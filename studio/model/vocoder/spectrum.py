"""Short-time Fourier transform and its inverse as small convolutions, whole or in chunks.

They equal ``torch.stft`` and ``torch.istft`` (periodic Hann window, centred, reflected ends) for a hop of a
quarter window. Decision: convolutions with fixed kernels. Reason: an FFT is not worthwhile for a window of 16 samples,
a causal network can stream convolutions like any other layer, and all engines and graphs support them.
Alternative: ``torch.istft`` with an overlap buffer.

A spectrum is (batch, size + 2, columns): the real parts of all bins, then the imaginary parts.
"""

from __future__ import annotations

import functools

import torch
from torch.nn import functional as F

from studio.model.vocoder.layers import History


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
