"""Initialisation of the vocoder with the correct envelope: the mapping from mel to magnitudes is fitted, not trained.

The log magnitudes depend almost linearly on the log-mel. The mapping is fitted by least squares and written into
channels that the stages only pass on, as a few components with offsets large enough to keep leaky ReLUs linear. Only
the phase and the fine structure remain to be learned; without this, formants take hours to appear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from studio.model.config import VocoderConfig
from studio.model.vocoder.layers import History, analyse
from studio.model.vocoder.network import CausalHiFT
from training.trainers.crops import LOOK_AHEAD_FRAMES, Crops

_SHARE_OF_CHANNELS = 0.6  # share of the channels of the narrowest stage
_LIFT = 2.0  # offset in standard deviations, so that components are rarely negative
_NUM_FRAMES_SEEN = 3  # a frame and its look-ahead
_MIN_MAGNITUDE = 1e-4
_RIDGE = 1e-3
_RESIDUAL_SHARE = 0.2  # relative to torch's initial values, so that blocks hardly change their input at first

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Components with mean 0 and deviation 1 are ``reads @ mel + read_bias``; log magnitudes are ``writes @ components
    + mean``.

    ``reads`` (components, frames, mel bins), ``writes`` (bins, components).
    """

    reads: Array
    read_bias: Array
    writes: Array
    mean: Array


def num_components(network: CausalHiFT) -> int:
    return int(_SHARE_OF_CHANNELS * network.conv_post.in_channels)


def fit_envelope(crops: Crops, network: CausalHiFT) -> Envelope:
    """Fit the envelope to true audio and its mels."""
    wanted = log_magnitudes(crops.sound, network.config).mean(-1).transpose(1, 2).flatten(0, 1).double().numpy()
    seen = crops.mel.unfold(-1, _NUM_FRAMES_SEEN, 1)[:, :, : crops.num_frames]  # (batch, bins, frames, 3)
    inputs = seen.permute(0, 2, 3, 1).flatten(2).flatten(0, 1).double().numpy()
    input_mean, mean = inputs.mean(0), wanted.mean(0)
    centred = inputs - input_mean
    covariance = centred.T @ centred / len(centred)
    covariance += _RIDGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    line = np.linalg.solve(covariance, centred.T @ (wanted - mean) / len(centred))  # (inputs, bins)
    fitted = centred @ line
    variances, directions = np.linalg.eigh(fitted.T @ fitted / len(fitted))
    count = num_components(network)
    spreads, directions = np.sqrt(variances[::-1][:count]), directions[:, ::-1][:, :count]
    reads = (line @ directions / spreads).T
    return Envelope(
        reads=reads.reshape(count, _NUM_FRAMES_SEEN, -1),
        read_bias=-reads @ input_mean,
        writes=directions * spreads,
        mean=mean,
    )


def log_magnitudes(sound: torch.Tensor, config: VocoderConfig) -> torch.Tensor:
    """Return log magnitudes (batch, bins, frames, columns per frame) of ``sound`` (batch, whole frames of samples)."""
    spectrum = analyse(sound.float(), config.stft_size, config.stft_hop, History.of_whole())
    real, imaginary = spectrum[:, :, :-1].chunk(2, dim=1)
    magnitude = torch.hypot(real, imaginary) + _MIN_MAGNITUDE
    return magnitude.log().view(*magnitude.shape[:2], -1, math.prod(config.upsample_rates))


@torch.no_grad()
def begin_with_envelope(network: CausalHiFT, envelope: Envelope) -> None:
    """Write ``envelope`` to the first channels of every stage."""
    count = len(envelope.reads)
    for block in (*network.resblocks, *network.source_resblocks):
        for layer in block.get_submodule("convs2").children():
            assert isinstance(layer, nn.Conv1d)
            assert layer.bias is not None
            layer.weight.mul_(_RESIDUAL_SHARE)
            layer.bias.mul_(_RESIDUAL_SHARE)
    first = network.conv_pre
    assert first.bias is not None
    first.weight[:count] = 0.0
    first.weight[:count, :, :_NUM_FRAMES_SEEN] = torch.from_numpy(envelope.reads).float().transpose(1, 2)
    first.bias[:count] = torch.from_numpy(envelope.read_bias).float() + _LIFT
    for layer in network.ups:
        _pass_on(layer, count, tap=-1)
    for layer in network.source_downs:
        assert isinstance(layer, nn.Conv1d)
        assert layer.bias is not None
        layer.weight[:count] = 0.0
        layer.bias[:count] = 0.0
    last = network.conv_post
    assert last.bias is not None
    num_bins = last.out_channels // 2
    writes = torch.from_numpy(envelope.writes).float()
    last.weight[:num_bins] *= _RESIDUAL_SHARE
    last.weight[:num_bins, :count] = 0.0
    last.weight[:num_bins, :count, -1] = writes
    last.bias[:num_bins] = torch.from_numpy(envelope.mean).float() - _LIFT * writes.sum(1)
    last.weight[num_bins:, :count] = 0.0  # the phases are independent of it


def _pass_on(layer: nn.Module, count: int, tap: int) -> None:
    assert isinstance(layer, nn.Conv1d)
    assert layer.bias is not None
    layer.weight[:count] = 0.0
    layer.weight[:count, :count, tap] = torch.eye(count)
    layer.bias[:count] = 0.0


assert _NUM_FRAMES_SEEN <= LOOK_AHEAD_FRAMES + 1
