"""Repacking of the flow's weights for the fastest matrix multiplications.

Decision: for inference on a CPU with oneDNN, the weights of linear layers and convolutions are repacked in
oneDNN's layout. Reason: nearly all work is multiplications of about a hundred rows, for which oneDNN is a
quarter faster than torch with plain weights (107 against 85 GFLOP/s on one Zen 4 core). Alternative: torch.compile,
which needs a C compiler that users do not have.

In half precision, the weights and inputs of matrix multiplications are rounded; sums, norms, softmax and most of what is
in between stay float32. Attention and feed-forward layers keep 16-bit values between their multiplications, and queries,
keys and values are one multiplication, on a GPU also in float32.

In 8 bits, on a CPU, the same layers multiply integers, and everything else stays float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import nn

from studio.errors import UnsupportedPrecision
from studio.model.config import Precision
from studio.model.cpu_products import OneDnnConvolution, multiplies_in, packed_linear, reduced
from studio.model.flow.layers import Convolution, GeluLinear, MixedPrecision, ProjectedAttention
from studio.model.flow.network import FlowNetwork

# The layout is optimised for two rows (conditional and unconditional) of one 50-frame block.
_USUAL_ROWS = 100
_USUAL_FRAMES = 50

Product = Callable[[torch.Tensor], torch.Tensor]
# Returns the weight (out, in) and the bias of a layer.
Weights = Callable[[], tuple[torch.Tensor, torch.Tensor | None]]
_WEIGHT_TYPES = {
    Precision.FLOAT32: torch.float32,
    Precision.BFLOAT16: torch.bfloat16,
    Precision.FLOAT16: torch.float16,
    Precision.INT8: torch.float32,  # of values between products, and of the other layers
}


class Maker(Protocol):
    """Makes the product by ``weights``, plus the bias, then GELU if ``gelu`` is its approximation."""

    def __call__(self, weights: Weights, *, gelu: str | None = None, is_mixed: bool = False) -> Product:
        """Return a product whose output has the type of its weight if ``is_mixed``, and is float32 otherwise."""
        ...


class CpuProducts:
    """Makes the products of a flow on a CPU, in oneDNN's layout."""

    def linear(
        self, weights: Weights, *, precision: Precision, gelu: str | None = None, is_mixed: bool = False
    ) -> Product:
        """See ``Maker``."""
        tensors = self._tensors(lambda: reduced(*weights(), precision))
        return packed_linear(tensors, _USUAL_ROWS, gelu=gelu, is_mixed=is_mixed)

    def convolution(self, weights: Weights, groups: int, precision: Precision) -> Product:
        tensors = self._tensors(lambda: reduced(*weights(), precision))
        return OneDnnConvolution(tensors["weight"], tensors["bias"], groups, _USUAL_FRAMES)

    def _tensors(self, reduce: Callable[[], dict[str, torch.Tensor]]) -> Mapping[str, torch.Tensor]:
        return reduce()


class RecordingProducts(CpuProducts):
    """Only collects the reduced weights of all layers in ``tensors``, for ``StoredProducts``: layouts take time."""

    def __init__(self) -> None:
        self.tensors: dict[str, torch.Tensor] = {}
        self._num_layers = itertools.count()

    def linear(
        self,
        weights: Weights,
        *,
        precision: Precision,
        gelu: str | None = None,  # noqa: ARG002
        is_mixed: bool = False,  # noqa: ARG002
    ) -> Product:
        return self._recorded(reduced(*weights(), precision))

    def convolution(self, weights: Weights, groups: int, precision: Precision) -> Product:  # noqa: ARG002
        return self._recorded(reduced(*weights(), precision))

    def _recorded(self, tensors: dict[str, torch.Tensor]) -> Product:
        layer = next(self._num_layers)
        self.tensors |= {f"{layer}.{name}": tensor for name, tensor in tensors.items()}
        return lambda x: x  # the network is not run


class StoredProducts(CpuProducts):
    """Makes the products of a network without weights from the ``tensors`` of ``RecordingProducts``."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self._stored = tensors
        self._num_layers = itertools.count()

    def _tensors(self, reduce: Callable[[], dict[str, torch.Tensor]]) -> Mapping[str, torch.Tensor]:  # noqa: ARG002
        layer = next(self._num_layers)
        names = ("weight", "bias", "scales")
        return {name: self._stored[f"{layer}.{name}"] for name in names if f"{layer}.{name}" in self._stored}


class GpuProduct:
    """The product of a ``Maker`` for ``dtype`` and GPUs. It uses ``F.linear``."""

    def __init__(
        self, weights: Weights, *, dtype: torch.dtype, gelu: str | None = None, is_mixed: bool = False
    ) -> None:
        weight, bias = weights()
        self._weight = weight.to(dtype)
        self._bias = None if bias is None else bias.to(dtype)
        self._gelu = gelu
        self._is_mixed = is_mixed

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        product = F.linear(x.to(self._weight.dtype), self._weight, self._bias)
        if self._gelu is not None:
            product = F.gelu(product, approximate=self._gelu)
        return product if self._is_mixed else product.float()


class PackedLinear(nn.Module):
    """Replacement for an ``nn.Linear``."""

    def __init__(self, product: Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._product(x)


def pack(
    network: nn.Module,
    precision: Precision,
    *,
    after_layer: Callable[[], None] = lambda: None,
    cpu_products: CpuProducts | None = None,
) -> None:
    """Replace the linear layers and convolutions in ``network`` in place. Raise ``UnsupportedPrecision``.

    A network in float64 does not change, and in float32 on a GPU, only the projections of attention do. ``after_layer``
    is called after each layer and may free the memory of the plain weights. With ``StoredProducts``, the network is on
    the meta device.
    """
    parameter = next(network.parameters())
    if precision not in _WEIGHT_TYPES or (precision is Precision.INT8 and parameter.device.type not in ("cpu", "meta")):
        raise UnsupportedPrecision(
            "The flow cannot run in {precision}.",
            remedy="Choose float32 or bfloat16 for the flow.",
            precision=precision.value,
        )
    if parameter.dtype is torch.float64:
        return
    if isinstance(cpu_products, StoredProducts):
        _pack_for_cpu(network, precision, cpu_products, after_layer)
        return
    if parameter.device.type != "cpu":
        _pack_for_gpu(network, _WEIGHT_TYPES[precision], after_layer)
    elif not _pack_for_cpu(network, precision, cpu_products or CpuProducts(), after_layer):
        return
    for parameter in network.parameters():
        parameter.data = parameter.data.clone()  # small copies, so that the file need not stay mapped


def _pack_for_cpu(
    network: nn.Module, precision: Precision, products: CpuProducts, after_layer: Callable[[], None]
) -> bool:
    """Repack all layers; return False if torch's layout is the fastest."""
    if not has_cpu_products(precision):
        if precision is Precision.FLOAT32:
            return False
        raise UnsupportedPrecision(
            "This processor does not support multiplication in {precision}.",
            remedy="Choose float32 for the flow.",
            precision=precision.value,
        )
    dtype = _WEIGHT_TYPES[precision]
    if precision is not Precision.FLOAT32:
        _lower_precision(network, dtype, partial(products.linear, precision=precision), after_layer)
    others = Precision.FLOAT32 if precision is Precision.INT8 else precision
    _replace_layers(network, dtype, partial(products.linear, precision=others), after_layer)
    for convolution in network.modules():
        if isinstance(convolution, Convolution) and convolution.product is None:
            weights = partial(_weights_of, convolution)
            _replace_weight(convolution, products.convolution(weights, convolution.groups, others), dtype)
            after_layer()
    return True


def has_cpu_products(precision: Precision) -> bool:
    """Return whether a CPU multiplies in ``precision`` with oneDNN."""
    return precision is not Precision.FLOAT16 and multiplies_in(precision)


def _pack_for_gpu(network: nn.Module, dtype: torch.dtype, after_layer: Callable[[], None]) -> None:
    if isinstance(network, FlowNetwork):
        # The encoder runs once for each block and has a tenth of the weights, so conversions would cost more than they
        # save. Its convolutions are matrix products, because cuDNN would plan each new length.
        for part in network.children():
            if part is not network.decoder:
                _replace_layers(part, torch.float32, partial(GpuProduct, dtype=torch.float32), after_layer)
        network = network.estimator
    make = partial(GpuProduct, dtype=dtype)
    if dtype is torch.float32:
        for module in network.modules():
            if isinstance(module, ProjectedAttention):
                _merge_projections(module, make)
                after_layer()
    else:
        _lower_precision(network, dtype, make, after_layer)
        _replace_layers(network, dtype, make, after_layer)


def _lower_precision(network: nn.Module, dtype: torch.dtype, make: Maker, after_layer: Callable[[], None]) -> None:
    """Replace the layers that tolerate a low precision. Between them, values stay in ``dtype``."""
    for module in list(network.modules()):
        if isinstance(module, ProjectedAttention):
            _merge_projections(module, make)
            after_layer()
        if isinstance(module, MixedPrecision):
            module.input_dtype = None if dtype is torch.float32 else dtype
            _replace_layers(module, dtype, partial(make, is_mixed=True), after_layer)


def _merge_projections(attention: ProjectedAttention, make: Maker) -> None:
    """Merge the weights of queries, keys and values, and delete the separate layers."""
    layers = (attention.to_q, attention.to_k, attention.to_v)

    def weights() -> tuple[torch.Tensor, torch.Tensor | None]:
        biases = [layer.bias.detach() for layer in layers if layer.bias is not None]
        return torch.cat([layer.weight.detach() for layer in layers]), torch.cat(biases) if biases else None

    attention.to_qkv = make(weights, is_mixed=True)
    del attention.to_q, attention.to_k, attention.to_v


def _replace_layers(network: nn.Module, dtype: torch.dtype, make: Maker, after_layer: Callable[[], None]) -> None:
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                gelu = child.approximate if isinstance(child, GeluLinear) else None
                setattr(parent, name, PackedLinear(make(partial(_weights_of, child), gelu=gelu)))
            elif isinstance(child, Convolution) and child.groups == 1 and child.product is None:
                _replace_weight(child, make(partial(_matrix_of, child)), dtype)
            else:
                continue
            after_layer()


def _weights_of(layer: nn.Linear | Convolution) -> tuple[torch.Tensor, torch.Tensor | None]:
    return layer.weight, layer.bias


def _matrix_of(convolution: Convolution) -> tuple[torch.Tensor, torch.Tensor | None]:
    return convolution.weight.transpose(1, 2).flatten(1), convolution.bias


def _replace_weight(convolution: Convolution, product: Product, dtype: torch.dtype) -> None:
    convolution.product = product
    # On a GPU, the product converts the windows: copied, they take one kernel for product and bias instead of two.
    convolution.input_dtype = None if isinstance(product, GpuProduct) else dtype
    convolution.weight = nn.Parameter(convolution.weight.new_empty(0), requires_grad=False)
