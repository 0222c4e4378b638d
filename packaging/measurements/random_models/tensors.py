"""Values for the tensors of a random model, with enough variation to compare two programs, and without strong
amplification of rounding errors.

Matrices and kernels are normally distributed with variance about 1 / fan-in, so that activations keep their scale in
networks of any depth. The output of a solver step is damped, so that ten steps amplify rounding errors only a little.
Norms, biases and gates differ from their usual initial values 0 and 1.
"""

from __future__ import annotations

import math
import re

import torch

from measurements.random_models.shape_parts import WEIGHT_NORM_DIRECTION, WEIGHT_NORM_GAIN, Shapes
from measurements.random_models.tensor_shapes import TIED_HEAD, TIED_TABLE
from studio.model.config import VocoderConfig, VocoderKind

# The first pattern found in a tensor's name decides its gain; 1 otherwise.
_GAINS: tuple[tuple[str, float], ...] = (
    (r"(linear_[qk]|[qk]_proj|to_[qk])\.weight", 1.5),  # attention that is not uniform, so that masks have an effect
    (
        r"(o_proj|down_proj)\.weight",
        0.2,
    ),  # small layer outputs as in a trained network, since otherwise 24 layers amplify rounding errors
    (r"embed_tokens|text_embedding|speech_embedding|llm_embedding", 0.5),
    (r"llm_decoder\.weight", 3.0),  # gives a nucleus of some dozens of tokens
    (r"spk_embed_affine_layer", 6.0),  # large, because its input has length 1
    (r"attn_norm\.linear|norm_out\.linear", 0.3),
    (r"proj_out|final_proj", 1.7),
    (r"resblocks.*convs1", 0.7),
    (r"resblocks.*convs2", 0.25),
    (r"conv_post", 0.6),
    (r"f0_predictor\.classifier", 230.0),
)
_TABLES = ("embed_tokens", "text_embedding", "speech_embedding", "llm_embedding", "input_embedding")
# The flow's guided velocity has this mean in all bands, so that the mel is as far from zero as that of speech.
_MEL_MEAN = -5.0
_MEAN_F0_HZ = 40.0


def random_tensors(shapes: Shapes, seed: int, vocoder: VocoderConfig | None = None) -> dict[str, torch.Tensor]:
    """Return a random tensor for every name, identical on every machine for the same ``shapes`` and ``seed``.

    ``vocoder`` is required for the ``shapes`` of a vocoder.
    """
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for name, shape in shapes.items():
        if name == TIED_HEAD:
            tensors[name] = tensors[TIED_TABLE]
        elif not name.endswith(WEIGHT_NORM_GAIN):
            tensors[name] = _draw(name, shape, generator, _fan_in(name, shape, vocoder))
        if name.endswith(WEIGHT_NORM_DIRECTION):
            layer = name.removesuffix(WEIGHT_NORM_DIRECTION)
            length = tensors[name].flatten(1).norm(dim=1).view(-1, 1, 1)
            tensors[layer + WEIGHT_NORM_GAIN] = length * (1 + 0.1 * torch.randn(length.shape, generator=generator))
    return tensors


def _draw(name: str, shape: tuple[int, ...], generator: torch.Generator, fan_in: float) -> torch.Tensor:
    if name.endswith("inv_freq"):
        return 1.0 / 10_000 ** (torch.arange(shape[0]) / shape[0])
    if name.endswith("alpha"):
        return 0.6 + torch.rand(shape, generator=generator)
    values = torch.randn(shape, generator=generator)
    if name.startswith("f0_predictor.condnet.0.") and len(shape) > 1:
        values -= values.mean(dim=(1, 2), keepdim=True)  # independent of the mel's mean
    deviation, mean = _spread(name, shape, fan_in)
    return values.mul_(deviation).add_(mean)


def _spread(name: str, shape: tuple[int, ...], fan_in: float) -> tuple[float, float | torch.Tensor]:
    """Return standard deviation and mean of a tensor."""
    gain = next((gain for pattern, gain in _GAINS if re.search(pattern, name)), 1.0)
    if "pos_bias" in name:
        return 0.3, 0.0
    if any(table in name for table in _TABLES):
        return gain, 0.0
    if name.endswith("bias"):
        return 0.1, _bias_mean(name, shape[0])
    if len(shape) == 1:
        return 0.1, 1.0
    return gain / math.sqrt(fan_in), 0.0


def _bias_mean(name: str, size: int) -> float | torch.Tensor:
    if re.search(r"proj_out|final_proj", name):
        return _MEL_MEAN
    if name == "f0_predictor.classifier.bias":
        return _MEAN_F0_HZ
    if name == "conv_post.bias":
        # First the log magnitudes of the spectrum, falling with frequency, then the phases.
        half = size // 2
        return torch.cat([torch.linspace(-0.4, -1.8, half), torch.linspace(-1.0, 1.0, size - half)])
    return 0.0


def _fan_in(name: str, shape: tuple[int, ...], vocoder: VocoderConfig | None) -> float:
    match = re.match(r"ups\.(\d+)\.", name)
    if match and vocoder and vocoder.kind is not VocoderKind.CAUSAL and len(shape) == 3:
        # Transposed: (inputs, outputs, kernel), and every stride-th tap meets an input.
        return shape[0] * shape[2] / vocoder.upsample_rates[int(match.group(1))]
    return math.prod(shape[1:])
