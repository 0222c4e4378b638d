"""Repacking of the flow's weights for the fastest matrix multiplications.

Decision: for inference on a CPU with oneDNN, the weights of linear layers and convolutions are repacked in
oneDNN's layout. Reason: nearly all work is multiplications of about a hundred rows, for which oneDNN is a
quarter faster than torch with plain weights (107 against 85 GFLOP/s on one Zen 4 core). Alternative: torch.compile,
which needs a C compiler that users do not have.

In half precision, the weights and inputs of matrix multiplications are rounded; sums, norms, softmax and most of what is
in between stay float32. On a GPU, where the number of kernels limits the speed, attention and feed-forward layers keep
16-bit values between their multiplications, and queries, keys and values are one multiplication.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.flow.layers import Convolution, MixedPrecision, ProjectedAttention
from studio.model.onednn import OneDnnLinear, has_onednn

# The layout is optimised for two rows (conditional and unconditional) of one 50-frame block.
_USUAL_ROWS = 100

Product = Callable[[torch.Tensor], torch.Tensor]
_WEIGHT_TYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
}


class GpuProduct:
    """``x @ weight.T + bias`` with ``F.linear``, in the type of ``weight``. The output is float32, unless ``is_mixed``."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, *, is_mixed: bool = False) -> None:
        self._weight = weight
        self._bias = bias
        self._is_mixed = is_mixed

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        product = F.linear(x.to(self._weight.dtype), self._weight, self._bias)
        return product if self._is_mixed else product.float()


class PackedLinear(nn.Module):
    """Replacement for an ``nn.Linear``."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._product(x)


def pack(network: nn.Module, precision: Precision, *, after_layer: Callable[[], None] = lambda: None) -> None:
    """Replace the linear layers and convolutions in ``network`` in place. Raise ``UnsupportedPrecision``.

    A network in float64 does not change, and in float32 on a GPU, only the projections of attention do. ``after_layer``
    is called after each layer and may free the memory of the plain weights.
    """
    parameter = next(network.parameters())
    if precision not in _WEIGHT_TYPES:
        raise UnsupportedPrecision(
            "The flow cannot run in {precision}.",
            remedy="Choose float32 or bfloat16 for the flow.",
            precision=precision.value,
        )
    if parameter.dtype is torch.float64:
        return
    if parameter.device.type != "cpu":
        _pack_for_gpu(network, _WEIGHT_TYPES[precision], after_layer)
    elif not _pack_for_cpu(network, precision, after_layer):
        return
    for parameter in network.parameters():
        parameter.data = parameter.data.clone()  # small copies, so that the file need not stay mapped


def _pack_for_cpu(network: nn.Module, precision: Precision, after_layer: Callable[[], None]) -> bool:
    """Repack all layers; return False if torch's layout is the fastest."""
    if precision is Precision.FLOAT16 or not has_onednn(precision):
        if precision is Precision.FLOAT32:
            return False
        raise UnsupportedPrecision(
            "This processor does not support multiplication in {precision}.",
            remedy="Choose float32 for the flow.",
            precision=precision.value,
        )
    _replace_layers(network, _WEIGHT_TYPES[precision], partial(OneDnnLinear, usual_rows=_USUAL_ROWS), after_layer)
    return True


def _pack_for_gpu(network: nn.Module, dtype: torch.dtype, after_layer: Callable[[], None]) -> None:
    for module in list(network.modules()):
        if isinstance(module, ProjectedAttention):
            _merge_projections(module, dtype)
            after_layer()
        if isinstance(module, MixedPrecision) and dtype is not torch.float32:
            module.input_dtype = dtype
            _replace_layers(module, dtype, partial(GpuProduct, is_mixed=True), after_layer)
    if dtype is not torch.float32:
        _replace_layers(network, dtype, GpuProduct, after_layer)


def _merge_projections(attention: ProjectedAttention, dtype: torch.dtype) -> None:
    """Merge the weights of queries, keys and values. The separate layers become views of parts."""
    layers = (attention.to_q, attention.to_k, attention.to_v)
    weight = torch.cat([layer.weight.detach() for layer in layers]).to(dtype)
    bias = None if layers[0].bias is None else torch.cat([layer.bias.detach() for layer in layers]).to(dtype)
    attention.to_qkv = GpuProduct(weight, bias, is_mixed=True)
    biases = (None,) * len(layers) if bias is None else bias.chunk(len(layers))
    for name, own_weight, own_bias in zip(("to_q", "to_k", "to_v"), weight.chunk(len(layers)), biases, strict=True):
        setattr(attention, name, PackedLinear(GpuProduct(own_weight, own_bias, is_mixed=True)))


def _replace_layers(
    network: nn.Module,
    dtype: torch.dtype,
    make: Callable[[torch.Tensor, torch.Tensor | None], Product],
    after_layer: Callable[[], None],
) -> None:
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                bias = None if child.bias is None else child.bias.to(dtype)
                setattr(parent, name, PackedLinear(make(child.weight.to(dtype), bias)))
            elif isinstance(child, Convolution) and child.groups == 1 and child.product is None:
                assert child.bias is not None
                matrix = child.weight.transpose(1, 2).flatten(1).to(dtype)
                child.product = make(matrix, child.bias.to(dtype))
                child.weight = nn.Parameter(child.weight.new_empty(0), requires_grad=False)
            else:
                continue
            after_layer()
