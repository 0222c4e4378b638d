"""Initial values of an untrained vocoder: scaling of its inputs, and a source that contains the phase."""

from __future__ import annotations

import math

import torch
from torch import nn

from studio.model.vocoder.layers import Snake
from studio.model.vocoder.network import CausalHiFT
from training.trainers.vocoder_sizes import USUAL_LOG_MEL, USUAL_LOG_MEL_SPREAD

_PHASE_SLOPE = 0.3  # slope of the source per radian; at most 0.74 after the tanh
_MIN_SNAKE, _MAX_SNAKE = 0.5, 5.0
_FIRST_LOG_MAGNITUDE = -3.0


@torch.no_grad()
def expect_usual_mel(layer: nn.Conv1d) -> None:
    """Initialise a layer as if the log-mel had mean 0 and standard deviation 1."""
    assert layer.bias is not None
    layer.weight.div_(USUAL_LOG_MEL_SPREAD)
    layer.bias.sub_(layer.weight.sum(dim=(1, 2)) * USUAL_LOG_MEL)


@torch.no_grad()
def start(network: CausalHiFT, generator: torch.Generator) -> None:
    """Set initial values that save the first hours of training.

    In this generation the sines are constant within a frame, so the network has to advance the phase. The source is one
    number per frame. With weights 1, -1/2, 1/3 ..., the sines of the harmonics add up to a sawtooth, which is the phase
    itself; a single sine would be ambiguous. A Snake with the right frequency turns it into any harmonic, so the
    frequencies are varied.
    """
    expect_usual_mel(network.conv_pre)
    harmonics = torch.arange(1, network.config.num_harmonics + 2, dtype=torch.float32)
    signs = -torch.cos(math.pi * harmonics)
    line = network.m_source.l_linear
    line.weight.copy_((2.0 * _PHASE_SLOPE / network.config.sine_amplitude * signs / harmonics)[None])
    line.bias.zero_()
    ratio = math.log(_MAX_SNAKE / _MIN_SNAKE)
    for module in network.modules():
        if isinstance(module, Snake):
            draw = torch.rand(module.alpha.shape, generator=generator)
            module.alpha.copy_(_MIN_SNAKE * (ratio * draw).exp())
    num_bins = network.conv_post.out_channels // 2
    assert network.conv_post.bias is not None
    network.conv_post.bias[:num_bins] = _FIRST_LOG_MAGNITUDE
