"""Matrix multiplication on a CPU with weights in the layout of oneDNN or fbgemm."""

from __future__ import annotations

import math
import time
import timeit
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import torch
import torch.nn.functional as F

from studio.model.config import Precision
from studio.system.cores import num_cores, num_performance_cores

_MIN_TIMED_PRODUCTS, _MAX_TIMED_PRODUCTS = 5, 45
_CLEAR_SPEEDUP = 1.5  # beyond it, more runs would not change the decision
# Fifteen products take a few milliseconds, during which another program may occupy a core; more follow later.
_PRODUCTS_AT_ONCE, _PAUSE_SECONDS = 15, 0.03
# A product of the flow. A smaller gain is not worth the cores.
_THREAD_ROWS, _THREAD_SIZE, _MIN_THREAD_SPEEDUP = 100, 1024, 1.05
# 8-bit weights are signed and symmetric. Inputs are unsigned, which older processors multiply faster.
_MAX_INT8 = 127
_ZERO_POINT = 128
_MIN_SCALE = 1e-30


def multiplies_in(precision: Precision) -> bool:
    """Return whether products in ``precision`` (float32, bfloat16 or int8) can be faster than torch's on this processor."""
    if precision is Precision.INT8:
        return _multiplies_int8_exactly() or has_fbgemm()
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    if precision is Precision.BFLOAT16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return precision is Precision.FLOAT32


def has_fbgemm() -> bool:
    """Return whether fbgemm is available: with 7-bit activations, its products are exact on every x86 processor."""
    return "fbgemm" in torch.backends.quantized.supported_engines


@cache
def _multiplies_int8_exactly() -> bool:
    """Return whether oneDNN's product of large 8-bit integers is exact.

    Instructions older than VNNI saturate at 16 bits.
    """
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.onednn, "qlinear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    x, weight = torch.full((4, 64), 255, dtype=torch.uint8), torch.full((32, 64), _MAX_INT8, dtype=torch.int8)
    try:
        product = _integer_product(x, torch.ops.onednn.qlinear_prepack(weight, list(x.shape)), torch.ones(32), 0)
    except RuntimeError:
        return False
    return bool((product == 255 * _MAX_INT8 * 64).all())


def _integer_product(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zero_point: int) -> torch.Tensor:
    """Return ``x - zero_point`` times a packed 8-bit weight, times the ``scales`` of its outputs, in float32."""
    weight_zeros = torch.zeros(len(scales), dtype=torch.int64)
    product: torch.Tensor = torch.ops.onednn.qlinear_pointwise.default(
        x, 1.0, zero_point, packed, scales, weight_zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return product


def speedup(precision: Precision, num_rows: int = 100, size: int = 1024) -> float:
    """Return how many times faster a product is in bfloat16 or int8 than in float32 here; 0 without a library for it.

    It is measured, because a processor may only emulate it.
    """
    if not multiplies_in(precision):
        return 0.0
    x, weight = torch.ones(num_rows, size), torch.ones(size, size)
    plain, reduced_product = OneDnnLinear(weight, None, num_rows), linear(weight, None, num_rows, precision)
    return ratio_of_seconds(lambda: plain(x), lambda: reduced_product(x), clear=_CLEAR_SPEEDUP)


def ratio_of_seconds(first: Callable[[], object], second: Callable[[], object], *, clear: float) -> float:
    """Return the time of ``first`` divided by that of ``second``. A ratio above ``clear`` is only a lower bound.

    They are timed alternately, because other programs may disturb any run. The shortest time of each counts.
    """
    first()
    second()
    shortest = [math.inf, math.inf]
    for number in range(_MAX_TIMED_PRODUCTS):
        if number and number % _PRODUCTS_AT_ONCE == 0:
            time.sleep(_PAUSE_SECONDS)
        shortest = [
            min(seconds, timeit.timeit(product, number=1))
            for seconds, product in zip(shortest, (first, second), strict=True)
        ]
        if number >= _MIN_TIMED_PRODUCTS and shortest[0] > clear * shortest[1]:
            break
    return shortest[0] / shortest[1]


@cache
def useful_threads() -> int:
    """Return the number of threads for large products: one for each physical core that makes them faster.

    A product waits for its slowest thread. Where a processor has two kinds of cores, it is therefore measured whether
    the slower ones help.
    """
    cores, fast_cores = num_cores(), num_performance_cores()
    if fast_cores == cores:
        return cores
    x, weight = torch.ones(_THREAD_ROWS, _THREAD_SIZE), torch.ones(_THREAD_SIZE, _THREAD_SIZE)
    before = torch.get_num_threads()

    def multiply(num_threads: int) -> None:
        torch.set_num_threads(num_threads)
        F.linear(x, weight)

    try:
        ratio = ratio_of_seconds(lambda: multiply(fast_cores), lambda: multiply(cores), clear=_CLEAR_SPEEDUP)
    finally:
        torch.set_num_threads(before)
    return cores if ratio > _MIN_THREAD_SPEEDUP else fast_cores


def linear(
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    usual_rows: int,
    precision: Precision,
    *,
    gelu: str | None = None,
    is_mixed: bool = False,
) -> OneDnnLinear | Int8Product:
    """Return the product of ``precision``."""
    return packed_linear(reduced(weight, bias, precision), usual_rows, gelu=gelu, is_mixed=is_mixed)


def reduced(weight: torch.Tensor, bias: torch.Tensor | None, precision: Precision) -> dict[str, torch.Tensor]:
    """Return ``weight`` (out, in) and ``bias`` in ``precision``, in torch's layout, for ``packed_linear``.

    In 8 bits, each output has a scale.
    """
    dtype = torch.bfloat16 if precision is Precision.BFLOAT16 else torch.float32
    tensors = {} if bias is None else {"bias": bias.detach().to(dtype)}
    if precision is not Precision.INT8:
        return tensors | {"weight": weight.detach().to(dtype)}
    levels, scales = quantize_int8_per_channel(weight.detach().float())
    return tensors | {"weight": levels, "scales": scales}


def quantize_int8_per_channel(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``weight`` (out, in) as int8 levels, and one scale per output channel."""
    largest = torch.maximum(weight.amax(dim=1), -weight.amin(dim=1))
    scales = (largest / _MAX_INT8).clamp_(min=_MIN_SCALE)
    levels = torch.empty(weight.shape, dtype=torch.int8)
    # In pieces that fit the CPU cache: three times faster than with large temporary tensors.
    for levels_here, weight_here, scales_here in zip(
        torch.split(levels, 256), torch.split(weight, 256), torch.split(scales[:, None], 256), strict=True
    ):
        levels_here.copy_((weight_here / scales_here).round_())
    return levels, scales


def packed_linear(
    tensors: Mapping[str, torch.Tensor], usual_rows: int, *, gelu: str | None = None, is_mixed: bool = False
) -> OneDnnLinear | Int8Product:
    """Return the product by the weights that ``reduced`` returns."""
    weight, bias = tensors["weight"], tensors.get("bias")
    if weight.dtype is torch.int8:
        # They take equal time where both are exact; oneDNN's activations have one bit more.
        if _multiplies_int8_exactly():
            return Int8OneDnnLinear(weight, tensors["scales"], bias, usual_rows, gelu=gelu)
        return Int8FbgemmLinear(weight, tensors["scales"], bias, gelu=gelu)
    return OneDnnLinear(weight, bias, usual_rows, gelu=gelu, is_mixed=is_mixed)


class OneDnnLinear:
    """``x @ weight.T + bias`` in the type of ``weight`` (out, in), and then GELU if ``gelu`` is its approximation.

    The output is float32, unless ``is_mixed``. The layout is optimised for inputs of ``usual_rows`` rows.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        usual_rows: int,
        *,
        gelu: str | None = None,
        is_mixed: bool = False,
    ) -> None:
        self._dtype = weight.dtype
        self._bias = None if bias is None else bias.to(weight.dtype, copy=True)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), usual_rows)
        self._multiply = torch.ops.mkldnn._linear_pointwise.default
        self._activation = ("none", "") if gelu is None else ("gelu", gelu)
        self._is_mixed = is_mixed

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        name, approximation = self._activation
        product: torch.Tensor = self._multiply(x.to(self._dtype), self._weight, self._bias, name, [], approximation)
        return product if self._is_mixed else product.float()


class Int8Product:
    """``x @ weight.T + bias`` with ``weight`` and ``x`` rounded to 8 bits, then GELU as in ``OneDnnLinear``.

    ``weight`` is int8, with a scale for each output. Each row of ``x`` has its own scale, so that rows do not depend on
    each other. The result is float32.
    """

    _MAX_LEVEL: float  # of the rows

    def __init__(self, num_outputs: int, bias: torch.Tensor | None, gelu: str | None) -> None:
        self._bias = torch.zeros(num_outputs) if bias is None else bias.float().clone()
        self._gelu = gelu

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        x = x.float()
        scales = largest_of_rows(x).div_(self._MAX_LEVEL).clamp_(min=_MIN_SCALE)
        product = torch.addcmul(self._bias, self._multiply(x * scales.reciprocal()), scales)
        return product if self._gelu is None else F.gelu(product, approximate=self._gelu)

    def _multiply(self, levels: torch.Tensor) -> torch.Tensor:
        """Return the product by ``levels``, which are not rounded and may be overwritten."""
        raise NotImplementedError


def largest_of_rows(x: torch.Tensor) -> torch.Tensor:
    """Return the largest absolute value of each row, (…, 1). ``linalg.vector_norm`` takes ten times as long."""
    return x.abs().amax(dim=-1, keepdim=True)


class Int8OneDnnLinear(Int8Product):
    """The product of a processor with VNNI or newer instructions. See ``Int8Product``."""

    _MAX_LEVEL = _MAX_INT8

    def __init__(
        self,
        weight: torch.Tensor,
        scales: torch.Tensor,
        bias: torch.Tensor | None,
        usual_rows: int,
        *,
        gelu: str | None = None,
    ) -> None:
        super().__init__(len(weight), bias, gelu)
        self._scales = scales.clone()
        self._weight = torch.ops.onednn.qlinear_prepack(weight, [usual_rows, weight.shape[1]])

    def _multiply(self, levels: torch.Tensor) -> torch.Tensor:
        # Conversion truncates, so 0.5 is added to round.
        rounded = levels.add_(_ZERO_POINT + 0.5).to(torch.uint8)
        return _integer_product(rounded, self._weight, self._scales, _ZERO_POINT)


class Int8FbgemmLinear(Int8Product):
    """The product of an older x86 processor, with activations of 7 bits. See ``Int8Product``."""

    _MAX_LEVEL = 63

    def __init__(
        self, weight: torch.Tensor, scales: torch.Tensor, bias: torch.Tensor | None, *, gelu: str | None = None
    ) -> None:
        super().__init__(len(weight), bias, gelu)
        self._matrix = FbgemmMatrix(weight, scales)

    def _multiply(self, levels: torch.Tensor) -> torch.Tensor:
        return self._matrix(levels)


class FbgemmMatrix:
    """A matrix of int8 ``levels`` (out, in) with a scale for each output, in fbgemm's layout.

    A call rounds rows of -63 to 63 and multiplies them. Two products of such a number and a weight fit in the 16 bits in
    which processors without VNNI add them.
    """

    _ZERO_POINT = 64

    def __init__(self, levels: torch.Tensor, scales: torch.Tensor) -> None:
        zero_points = torch.zeros(len(scales), dtype=torch.long)
        with _fbgemm():
            quantized = torch._make_per_channel_quantized_tensor(levels, scales.double(), zero_points, 0)
            self._weight = torch.ops.quantized.linear_prepack(quantized, None)
        self._multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self._multiply(rows, 1.0, self._ZERO_POINT, self._weight)
        return product


@contextmanager
def _fbgemm() -> Iterator[None]:
    # The packing engine is a global setting of torch; the default "x86" may pack for another engine.
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    try:
        with warnings.catch_warnings():
            # WORKAROUND for https://github.com/pytorch/pytorch/issues/184982: torch 2.13 deprecates quantized
            # tensors, the only interface to fbgemm. Once they are removed, use oneDNN's 8-bit multiplication
            # (onednn.qlinear_pointwise), which needs VNNI.
            warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
            yield
    finally:
        torch.backends.quantized.engine = before


class OneDnnConvolution:
    """A convolution in groups over ``x`` (rows, frames, channels), without padding, in the type of ``weight``.

    ``weight`` is (out, in / groups, kernel). The output is float32. The layout is optimised for ``usual_frames``.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, groups: int, usual_frames: int) -> None:
        self._dtype = weight.dtype
        self._bias = bias.to(weight.dtype, copy=True)
        self._shape = ([0, 0], [1, 1], [1, 1], groups)  # padding, stride, dilation, groups of a flat image
        usual_input = [2, groups * weight.shape[1], 1, usual_frames + weight.shape[2] - 1]
        self._weight = torch.ops.mkldnn._reorder_convolution_weight(
            weight.unsqueeze(2).contiguous(), *self._shape, usual_input
        )
        self._convolve = torch.ops.mkldnn._convolution_pointwise.default

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        image = x.to(self._dtype).transpose(1, 2).unsqueeze(2)
        convolved: torch.Tensor = self._convolve(image, self._weight, self._bias, *self._shape, "none", [], "")
        return convolved.squeeze(2).transpose(1, 2).float()
