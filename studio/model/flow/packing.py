"""Layers in the form a processor multiplies fastest.

Decided: for inference each linear layer and convolution is replaced by one whose weight oneDNN has laid
out for itself; on processors where oneDNN is missing, or on a GPU, by nothing. Because matrix products
of a hundred rows are all the work there is, and oneDNN's are a quarter faster there than those torch
chooses for plain weights (107 against 85 GFLOP/s on one Zen 4 core). Instead of: a compiler, which
people's machines do not have.

In a half precision weights and the inputs of products are rounded; sums, norms, softmax and everything
between the products stay float32.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.flow.context import Convolution

# Two rows (with and without conditions) of one 50-frame block: what the layout is chosen for.
_USUAL_ROWS = 100

Product = Callable[[torch.Tensor], torch.Tensor]
_WEIGHT_TYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


class OneDnnLinear:
    """``x @ weight.T + bias`` with ``weight`` (out, in) in oneDNN's own layout."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), _USUAL_ROWS)
        self._bias = None if bias is None else bias.clone()
        self._dtype = weight.dtype

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x.to(self._dtype), self._weight, self._bias, "none", [], ""
        )
        return y.float()


class HalfProduct:
    """The same by torch's own means, in the weight's type."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._weight = weight
        self._bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x.to(self._weight.dtype), self._weight, self._bias).float()


class PackedLinear(nn.Module):
    """Stands where an ``nn.Linear`` stood."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._product(x)


class FramesProduct:
    """A convolution over time as one product: each frame's inputs lie side by side."""

    def __init__(self, product: Product, kernel_size: int) -> None:
        self._product = product
        self._kernel_size = kernel_size

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self._kernel_size == 1:
            return self._product(x)
        # (rows, frames, channels, kernel) without a copy, then kernel-major as the weight is.
        windows = x.unfold(1, self._kernel_size, 1).transpose(2, 3)
        return self._product(windows.flatten(2))


def pack(network: nn.Module, precision: Precision, *, after_layer: Callable[[], None] = lambda: None) -> None:
    """Replaces the products in ``network`` in place. Raises ``UnsupportedPrecision``.

    A network in float64, or in float32 on a GPU, is left as it is. ``after_layer`` may let go of the
    plain weights' memory.
    """
    parameter = next(network.parameters())
    make = _product_maker(parameter.device, parameter.dtype, precision)
    if make is None:
        return
    dtype = _WEIGHT_TYPES[precision]
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, PackedLinear(make(child.weight.to(dtype), _to(child.bias, dtype))))
            elif isinstance(child, Convolution) and child.groups == 1:
                matrix = child.weight.transpose(1, 2).flatten(1).to(dtype)
                child.product = FramesProduct(make(matrix, _to(child.bias, dtype)), child.kernel_size[0])
                child.weight = nn.Parameter(child.weight.new_empty(0), requires_grad=False)
            else:
                continue
            after_layer()
    for parameter in network.parameters():
        parameter.data = parameter.data.clone()  # small; the file need not stay mapped for them


def _to(bias: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    return None if bias is None else bias.to(dtype)


def _product_maker(
    device: torch.device, dtype: torch.dtype, precision: Precision
) -> Callable[[torch.Tensor, torch.Tensor | None], Product] | None:
    if precision not in _WEIGHT_TYPES:
        raise UnsupportedPrecision(
            "The flow cannot run in {precision}.",
            remedy="Choose float32 or bfloat16 for the flow.",
            precision=precision.value,
        )
    if dtype is torch.float64:
        return None
    if device.type != "cpu":
        return None if precision is Precision.FLOAT32 else HalfProduct
    if precision is Precision.FLOAT32:
        return OneDnnLinear if _has_onednn() else None
    if precision is Precision.BFLOAT16 and _has_onednn() and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return OneDnnLinear
    raise UnsupportedPrecision(
        "This processor does not multiply in {precision}.",
        remedy="Choose float32 for the flow.",
        precision=precision.value,
    )


def _has_onednn() -> bool:
    is_built: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return is_built and hasattr(torch.ops.mkldnn, "_linear_pointwise")
