"""Matrix multiplication on a CPU with weights in oneDNN's blocked layout."""

from __future__ import annotations

import torch

from studio.model.config import Precision


def has_onednn(precision: Precision) -> bool:
    """Return whether oneDNN is available and multiplies in ``precision`` (float32 or bfloat16) on this processor."""
    if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    return precision is Precision.FLOAT32 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


class OneDnnLinear:
    """``x @ weight.T + bias`` in the type of ``weight`` (out, in), with float32 output.

    The layout is optimised for inputs of ``usual_rows`` rows.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, usual_rows: int) -> None:
        self._dtype = weight.dtype
        self._bias = None if bias is None else bias.to(weight.dtype, copy=True)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), usual_rows)
        self._multiply = torch.ops.mkldnn._linear_pointwise.default

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self._multiply(x.to(self._dtype), self._weight, self._bias, "none", [], "")
        return product.float()
