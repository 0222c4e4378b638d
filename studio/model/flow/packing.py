"""Repacking of the flow's weights for the fastest matrix multiplications.

Decision: for inference on a CPU with oneDNN, the weights of linear layers and convolutions are repacked in
oneDNN's layout. Reason: nearly all work is multiplications of about a hundred rows, for which oneDNN is a
quarter faster than torch with plain weights (107 against 85 GFLOP/s on one Zen 4 core). Alternative: torch.compile,
which needs a C compiler that users do not have.

In half precision, the weights and inputs of matrix multiplications are rounded; sums, norms, softmax and
everything in between stay float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.flow.layers import Convolution
from studio.model.onednn import OneDnnLinear, has_onednn

# The layout is optimised for two rows (conditional and unconditional) of one 50-frame block.
_USUAL_ROWS = 100

Product = Callable[[torch.Tensor], torch.Tensor]
_WEIGHT_TYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


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


def pack(network: nn.Module, precision: Precision, *, after_layer: Callable[[], None] = lambda: None) -> None:
    """Replace the linear layers and convolutions in ``network`` in place. Raise ``UnsupportedPrecision``.

    A network in float64, or in float32 on a GPU, does not change. ``after_layer`` is called after each layer
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
                bias = None if child.bias is None else child.bias.to(dtype)
                setattr(parent, name, PackedLinear(make(child.weight.to(dtype), bias)))
            elif isinstance(child, Convolution) and child.groups == 1:
                assert child.bias is not None
                matrix = child.weight.transpose(1, 2).flatten(1).to(dtype)
                child.product = make(matrix, child.bias.to(dtype))
                child.weight = nn.Parameter(child.weight.new_empty(0), requires_grad=False)
            else:
                continue
            after_layer()
    for parameter in network.parameters():
        parameter.data = parameter.data.clone()  # small copies, so that the file need not stay mapped


def _product_maker(
    device: torch.device, dtype: torch.dtype, precision: Precision
) -> Callable[[torch.Tensor, torch.Tensor | None], Product] | None:
    """Return a function that repacks a weight and a bias, or None if the network does not change."""
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
    if precision is not Precision.FLOAT16 and has_onednn(precision):
        return partial(OneDnnLinear, usual_rows=_USUAL_ROWS)
    if precision is Precision.FLOAT32:
        return None
    raise UnsupportedPrecision(
        "This processor does not support multiplication in {precision}.",
        remedy="Choose float32 for the flow.",
        precision=precision.value,
    )
