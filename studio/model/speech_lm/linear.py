"""Matrix multiplications optimised for a single row, with float32 input and output unless noted.

The choices follow measurements of all matrices of a 0.5B model for one token (Zen 4, torch 2.13, milliseconds
with one / two threads):

====================================  ===========  =====================================
float32, ``F.linear``                 98 / 98      MKL does not split one row
float32, transposed weight            76 / 77      the same
float32, oneDNN's layout              85 / 57      chosen; also 20 % faster in prefill
bfloat16, ``F.linear`` / oneDNN       79, 48 / 26  oneDNN if the CPU has bfloat16
float16, ``F.linear``                 35 / 22      chosen; float32 for many rows
int8, ``_weight_int8pack_mm``         300 (float32 rows), 44 (bfloat16 rows)
int8, fbgemm, 1 row / 2 rows          19 / 19      chosen with 2 rows, see ``Int8Linear``
int8, ONNX Runtime MatMulNBits        15 to 21     a second graph of the whole network
int4, groups of 32, bfloat16 rows     2/3 of int8  alternating with it on a busy machine; see ``Int4Linear``
====================================  ===========  =====================================

On a CPU, 8 and 4 bits run as one graph of ONNX Runtime instead (``graph_decoder``) where the sizes and the processor allow
it. On a GPU, 8-bit weights use a custom kernel (``cuda_int8``); other precisions use torch's kernels.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.cpu_products import (
    FbgemmMatrix,
    OneDnnLinear,
    has_fbgemm,
    largest_of_rows,
    multiplies_in,
    quantize_int8_per_channel,
)
from studio.model.cuda_kernel import load_compiler
from studio.model.speech_lm.cuda_int8 import CudaInt8Linear

# (rows, in) float32 -> (rows, out) float32, including the bias. "Mixed" ones may also take and return 16 bits.
Linear = Callable[[torch.Tensor], torch.Tensor]


def pack(
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    precision: Precision,
    device: torch.device,
    *,
    is_mixed: bool = False,
) -> Linear:
    """Return a multiplication by ``weight`` (out, in) float32 in the fastest form for ``precision`` and ``device``.

    ``weight`` is copied, unless it is used as a plain float32 matrix and is already on ``device``. ``is_mixed`` allows
    16-bit output, which saves a kernel on a GPU.
    """
    if bias is not None:
        bias = bias.to(device, torch.float32, copy=True)
    if (
        precision is Precision.INT4
        and weight.shape[1] % Int4Linear.GROUP == 0
        and weight.shape[0] % Int4Linear.TILE == 0
    ):
        return Int4Linear(weight, bias)
    if precision in (Precision.INT8, Precision.INT4):
        if device.type != "cpu":
            return CudaInt8Linear(*quantize_int8_per_channel(weight), bias, device)
        return Int8Linear(weight, bias)
    if precision is Precision.FLOAT16:
        return HalfLinear(weight, bias, device)
    dtype = {Precision.FLOAT32: torch.float32, Precision.BFLOAT16: torch.bfloat16}[precision]
    if device.type == "cpu" and multiplies_in(precision):
        return OneDnnLinear(weight.to(dtype), bias, usual_rows=1)
    return PlainLinear(weight.to(device, dtype), bias, is_mixed=is_mixed and device.type != "cpu")


def describe(precision: Precision, device: torch.device) -> str:
    """Return a description of the form that ``pack`` chooses."""
    if precision is Precision.INT8:
        is_gpu = device.type != "cpu"
        return f"torch int8 weights, {'own kernel' if is_gpu else '16-bit activations (fbgemm)'}"
    if precision is Precision.INT4:
        return "torch int4 weights in the gated layers, int8 in the others"
    if precision is not Precision.FLOAT16 and device.type == "cpu" and multiplies_in(precision):
        return f"torch {precision.value} (oneDNN)"
    return f"torch {precision.value}"


def check_support(precision: Precision, device: torch.device) -> None:
    """Raise ``UnsupportedPrecision`` if ``pack`` does not support ``precision`` on ``device``."""
    if precision not in (Precision.INT8, Precision.INT4):
        return
    if device.type != "cpu":
        _check_gpu_support(precision)
        return
    if not has_fbgemm():
        raise UnsupportedPrecision(
            "This processor has no supported fast 8-bit arithmetic.",
            remedy="Choose float32 or float16.",
        )
    if precision is Precision.INT4 and not hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu"):
        raise UnsupportedPrecision(
            "This version of PyTorch does not support 4-bit weights.", remedy="Choose int8, or install a newer PyTorch."
        )


def _check_gpu_support(precision: Precision) -> None:
    if precision is Precision.INT4:
        raise UnsupportedPrecision(
            "4-bit weights run on the CPU only.",
            remedy="Choose int8, bfloat16 or float16 for the GPU.",
        )
    if torch.version.cuda is None or load_compiler() is None:
        raise UnsupportedPrecision(
            "NVIDIA's run-time compiler NVRTC, which 8-bit weights on a GPU need, is not installed.",
            remedy="Reinstall PyTorch for CUDA, which includes it, or choose bfloat16 or float16.",
        )


class PlainLinear:
    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, *, is_mixed: bool = False) -> None:
        self._weight = weight
        self._bias = bias
        self._is_mixed = is_mixed

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        product = F.linear(rows.to(self._weight.dtype), self._weight)
        if self._bias is not None:
            return product + self._bias  # float32, even if the product is not
        return product if self._is_mixed else product.float()


class HalfLinear:
    """float16 weights. On a CPU, only a single row is fast, so more rows use float32."""

    _MAX_FLOAT16 = torch.finfo(torch.float16).max

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, device: torch.device) -> None:
        self._weight = weight.to(device, torch.float16)
        self._bias = bias
        self._is_wide_fast = device.type != "cpu"

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        if rows.shape[0] == 1 or self._is_wide_fast:
            # Gated activations may exceed the range of float16, and an infinity would persist.
            product = F.linear(rows.clamp(-self._MAX_FLOAT16, self._MAX_FLOAT16).half(), self._weight)
        else:
            product = F.linear(rows, self._weight.float())
        return product.float() if self._bias is None else product + self._bias


class Int8Linear:
    """int8 weights with one scale per output channel, and activations of 14 bits.

    fbgemm multiplies 8-bit by 8-bit numbers. With a single 8-bit scale, a large activation would cause small
    activations in the same row to be rounded to zero. So each row becomes two: a coarse one and its magnified rounding
    error. The weights are read once for both, so the second row costs almost no time.
    """

    _STEPS = 63
    _MAGNIFIER = 2.0 * _STEPS

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._matrix = FbgemmMatrix(*quantize_int8_per_channel(weight))
        self._bias = bias

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        unit = largest_of_rows(rows).clamp_(min=1e-30).mul_(1 / self._STEPS)
        levels = rows / unit
        coarse = levels.round()
        rest = (levels - coarse) * self._MAGNIFIER
        products = self._matrix(torch.cat((coarse, rest)))
        coarse_product, rest_product = products.chunk(2)
        product = torch.add(coarse_product, rest_product, alpha=1 / self._MAGNIFIER).mul_(unit)
        return product if self._bias is None else product.add_(self._bias)


class Int4Linear:
    """int4 weights with a scale and an offset for each group of 32 in a row, and bfloat16 input.

    It takes a third less time than int8 but has ten times the error. It is therefore used only for the gated layers,
    which are most of the work. ``quality.py`` measures whether given weights tolerate it.
    """

    GROUP = 32
    TILE = 16  # tile of the kernel, in output channels
    _STEPS = 15

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        groups = weight.reshape(len(weight), -1, self.GROUP)
        lowest = groups.amin(dim=2)
        scales = ((groups.amax(dim=2) - lowest) / self._STEPS).clamp_(min=1e-30).bfloat16().float()
        # The kernel counts levels from the middle.
        offsets = (lowest + 8 * scales).bfloat16().float()
        levels = ((groups - offsets[..., None]) / scales[..., None] + 8).round_().clamp_(0, self._STEPS)
        self._weight = torch.ops.aten._convert_weight_to_int4pack_for_cpu(levels.flatten(1).int(), 1)
        self._scales_and_offsets = torch.stack((scales, offsets), dim=2).transpose(0, 1).bfloat16().contiguous()
        self._bias = bias
        self._multiply = torch.ops.aten._weight_int4pack_mm_for_cpu.default

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self._multiply(rows.bfloat16(), self._weight, self.GROUP, self._scales_and_offsets)
        product = product.float()
        return product if self._bias is None else product.add_(self._bias)
