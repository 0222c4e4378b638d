"""The largest part of Kokoro, from the features of the text to a spectrum, in torch with the weights of its graph.

Its 1-dimensional convolutions have the layout of images with channels last. On a processor with AMX, this part takes
0.24 CPU seconds for each second of speech in bfloat16, and 0.88 in ONNX Runtime. The rounding is 25 to 28 dB below the
speech, and changes DNSMOS by at most 0.03 (nine sentences of three voices). Without AMX it takes 0.6 in float32.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

from training.trainers.bfloat16 import prefers_bfloat16

FloatArray = npt.NDArray[np.float32]

_ROOTS = ("/decoder/decoder/", "/decoder/")
_NUM_DECODERS = 4
_NUM_UPSAMPLINGS, _NUM_DILATIONS = 2, 3
_EPSILON = 1e-5  # of the variance
_ROWS_IN_CACHE = 1024
_STYLE_SIZE = 128  # the half of a style that describes the timbre


def fastest_type() -> torch.dtype:
    """Return bfloat16 on processors that multiply it faster than float32, and float32 on others."""
    return torch.bfloat16 if prefers_bfloat16("cpu") else torch.float32


@dataclass(frozen=True, slots=True)
class _Convolution:
    """``weight`` is (out, in, 1, kernel), or (in, out, 1, kernel) of one that lengthens its input."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    stride: int
    padding: int
    dilation: int
    groups: int
    output_padding: int | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        stride, padding = (1, self.stride), (0, self.padding)
        if self.output_padding is None:
            return F.conv2d(x, self.weight, self.bias, stride, padding, (1, self.dilation), self.groups)
        return F.conv_transpose2d(x, self.weight, self.bias, stride, padding, (0, self.output_padding), self.groups)


class Decoder:
    """``path`` is the ONNX graph of this part. ``dtype`` is the type of the activations."""

    def __init__(self, path: Path, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._convolutions: dict[str, _Convolution] = {}
        self._styles: dict[str, list[torch.Tensor]] = defaultdict(list)  # weight and bias of gains and shifts
        self._sines: dict[str, list[torch.Tensor]] = defaultdict(list)  # frequency and inverse of each Snake
        graph = onnx.load(path).graph
        constants = {each.name: each for each in graph.initializer}
        for node in graph.node:
            values = [
                torch.from_numpy(numpy_helper.to_array(constants[name]).copy())
                for name in node.input
                if name in constants
            ]
            self._take(node, values)

    @torch.inference_mode()
    def __call__(
        self, f0: FloatArray, energy: FloatArray, features: FloatArray, style: FloatArray, harmonics: FloatArray
    ) -> FloatArray:
        """Return the log magnitudes and phases (1, 22, 120 ``frames`` + 1) of the inverse transform.

        ``f0`` and ``energy`` are (1, 2 ``frames``), ``features`` (1, 512, ``frames``), ``style`` (1, 256), and
        ``harmonics`` (1, 22, 120 ``frames`` + 1) the transform of the voice's sines.
        """
        tone = torch.from_numpy(style[:, :_STYLE_SIZE])
        pitch, power = (self._convolve(name, self._image(each)) for name, each in (("F0_conv", f0), ("N_conv", energy)))
        text = self._image(features)
        known = [self._convolve("asr_res/asr_res.0", text), pitch, power]
        x = self._decode("encode", torch.cat([text, pitch, power], 1), tone)
        for number in range(_NUM_DECODERS):
            x = self._decode(f"decode.{number}", torch.cat([x, *known], 1), tone)
        source = self._image(harmonics)
        for stage in range(_NUM_UPSAMPLINGS):
            voiced = self._convolve(f"generator/noise_convs.{stage}", source)
            voiced = self._refine(f"generator/noise_res.{stage}", voiced, tone)
            x = self._convolve(f"generator/ups.{stage}", F.leaky_relu(x, 0.1))
            if stage == _NUM_UPSAMPLINGS - 1:
                x = torch.cat([x[..., 1:2], x], -1)  # reflected, because the transform has a frame more
            x = x + voiced
            blocks = range(_NUM_DILATIONS * stage, _NUM_DILATIONS * (stage + 1))
            refined = [self._refine(f"generator/resblocks.{number}", x, tone) for number in blocks]
            x = torch.stack(refined).sum(0) / len(refined)
        spectrum = self._convolve("generator/conv_post", F.leaky_relu(x, 0.01))
        return spectrum.float().squeeze(2).numpy()

    def _take(self, node: onnx.NodeProto, values: list[torch.Tensor]) -> None:
        """Keep the weights of ``node``, if it has some, under the name of its module."""
        name = node.output[0]
        for root in _ROOTS:
            name = name.removeprefix(root)
        module = name.rpartition("/")[0]
        if node.op_type in ("Conv", "ConvTranspose"):
            has = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
            is_longer = node.op_type == "ConvTranspose"
            self._convolutions[module] = _Convolution(
                values[0].unsqueeze(2).to(self._dtype, memory_format=torch.channels_last),
                values[1].to(self._dtype) if len(values) > 1 else None,
                has["strides"][0],
                has["pads"][0],
                has["dilations"][0],
                has["group"],
                has.get("output_padding", [0])[0] if is_longer else None,
            )
        elif module.endswith("/fc"):
            self._styles[module.removesuffix("/fc")] += values
        elif node.op_type == "Mul" and values and values[0].ndim == 3:
            self._sines[module].append(values[0].unsqueeze(2).to(self._dtype))

    def _image(self, x: FloatArray) -> torch.Tensor:
        """Return ``x`` (1, channels, time) or (1, time) as (1, channels, 1, time), channels last."""
        image = torch.from_numpy(np.ascontiguousarray(x)).reshape(1, -1, 1, x.shape[-1])
        return image.to(self._dtype, memory_format=torch.channels_last)

    def _convolve(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return self._convolutions[name](x)

    def _gain_and_shift(self, name: str, tone: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what ``tone`` chooses for each channel."""
        weight, bias = self._styles[name]
        gain, shift = (tone @ weight + bias)[0].chunk(2)
        return 1 + gain, shift

    def _normalize(self, name: str, x: torch.Tensor, tone: torch.Tensor) -> torch.Tensor:
        """Return ``x``, each channel with the deviation and mean that ``tone`` chooses."""
        gain, shift = (each.to(x.dtype) for each in self._gain_and_shift(name, tone))
        return F.batch_norm(x, None, None, gain, shift, training=True)

    def _decode(self, name: str, x: torch.Tensor, tone: torch.Tensor) -> torch.Tensor:
        y = F.leaky_relu(self._normalize(f"{name}/norm1", x, tone), 0.2)
        if f"{name}/pool" in self._convolutions:
            y = self._convolve(f"{name}/pool", y)
            x = x.repeat_interleave(2, dim=-1)
        y = self._convolve(f"{name}/conv1", y)
        y = F.leaky_relu(self._normalize(f"{name}/norm2", y, tone), 0.2)
        return (self._convolve(f"{name}/conv2", y) + self._convolve(f"{name}/conv1x1", x)) / math.sqrt(2)

    def _refine(self, name: str, x: torch.Tensor, tone: torch.Tensor) -> torch.Tensor:
        sines = iter(self._sines[name])
        for number in range(_NUM_DILATIONS):
            y = x
            for part in (1, 2):
                gain, shift = self._gain_and_shift(f"{name}/adain{part}.{number}", tone)
                y = _snake(y, gain, shift, next(sines), next(sines))
                y = self._convolve(f"{name}/convs{part}.{number}", y)
            x = y.add_(x)
        return x


def _snake(
    x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, frequency: torch.Tensor, inverse: torch.Tensor
) -> torch.Tensor:
    """Return ``x`` normalised like ``_normalize``, then Snake of it, in parts that the processor's cache holds."""
    rows = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])
    parts = [slice(start, start + _ROWS_IN_CACHE) for start in range(0, len(rows), _ROWS_IN_CACHE)]
    mean = rows.mean(0, dtype=torch.float32)
    variance = torch.stack([(rows[part].float() - mean).square_().sum(0) for part in parts]).sum(0) / len(rows)
    scale = gain * torch.rsqrt(variance + _EPSILON)
    offset = (shift - mean * scale).to(x.dtype)
    scale, frequency, inverse = scale.to(x.dtype), frequency.reshape(-1), inverse.reshape(-1)
    made = torch.empty_like(rows)
    for part in parts:
        normal = torch.addcmul(offset, rows[part], scale)
        sine = (normal * frequency).sin_()
        torch.addcmul(normal, sine.square_(), inverse, out=made[part])
    return made.reshape(1, 1, *rows.shape).permute(0, 3, 1, 2)
