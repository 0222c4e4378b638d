"""Matrix multiplication on a CPU with weights in oneDNN's blocked layout."""

from __future__ import annotations

import timeit
from functools import partial

import torch

from studio.model.config import Precision

# The fastest counts, because disturbances only add time.
_TIMED_PRODUCTS = 7


def has_onednn(precision: Precision) -> bool:
    """Return whether oneDNN is available and multiplies in ``precision`` (float32 or bfloat16) on this processor."""
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    return precision is Precision.FLOAT32 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def bfloat16_speedup(num_rows: int = 100, size: int = 1024) -> float:
    """Return how many times faster a product is in bfloat16 than in float32 on this processor; 0 without oneDNN.

    It is measured, because a processor may only emulate it.
    """
    if not has_onednn(Precision.BFLOAT16):
        return 0.0
    seconds = []
    for dtype in (torch.float32, torch.bfloat16):
        x, weight = torch.ones(num_rows, size, dtype=dtype), torch.ones(size, size, dtype=dtype)
        product = partial(OneDnnLinear(weight, None, num_rows, is_mixed=True), x)
        product()
        seconds.append(min(timeit.repeat(product, number=1, repeat=_TIMED_PRODUCTS)))
    return seconds[0] / seconds[1]


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
