"""Repack weights for the fastest matrix multiplications.

Decision: for inference on a CPU with oneDNN, the weights of linear layers and convolutions are repacked in
oneDNN's layout. Reason: nearly all work is multiplications of about a hundred rows, for which oneDNN is a
quarter faster than torch with plain weights (107 against 85 GFLOP/s on one Zen 4 core). Alternative: torch.compile,
which needs a C compiler that users do not have.

In half precision, the weights and inputs of matrix multiplications are rounded; sums, norms, softmax and
everything in between stay float32.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.flow.layers import Convolution

# The layout is optimised for two rows (conditional and unconditional) of one 50-frame block.
_USUAL_ROWS = 100

Product = Callable[[torch.Tensor], torch.Tensor]
_WEIGHT_TYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


class OneDnnLinear:
    """``x @ weight.T + bias`` with ``weight`` (out, in) in oneDNN's layout."""

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
    """``x @ weight.T + bias`` with ``F.linear``, in the type of ``weight``."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        self._weight = weight
        self._bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x.to(self._weight.dtype), self._weight, self._bias).float()


class PackedLinear(nn.Module):
    """Replacement for an ``nn.Linear``."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._product(x)


class FramesProduct:
    """A convolution over time as one matrix multiplication on windows of frames."""

    def __init__(self, product: Product, kernel_size: int) -> None:
        self._product = product
        self._kernel_size = kernel_size

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self._kernel_size == 1:
            return self._product(x)
        # (rows, frames, channels, kernel) without a copy, then kernel-major like the weight.
        windows = x.unfold(1, self._kernel_size, 1).transpose(2, 3)
        return self._product(windows.flatten(2))


def pack(network: nn.Module, precision: Precision, *, after_layer: Callable[[], None] = lambda: None) -> None:
    """Replace the linear layers and convolutions in ``network`` in place. Raise ``UnsupportedPrecision``.

    A network in float64, or in float32 on a GPU, is unchanged. ``after_layer`` is called after each layer
    and may free the memory of the plain weights.
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
        parameter.data = parameter.data.clone()  # small copies, so that the file need not stay mapped


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
