"""Export a module of ``studio/model`` to ONNX by tracing one run."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx
import torch
from torch import nn

# Has LayerNormalization as one operator, so a mixed-precision engine does not split its sums.
OPERATOR_SET = 18


@dataclass(frozen=True)
class TracedInput:
    """An example of an input, and the names of its dynamic dimensions by index."""

    example: torch.Tensor
    free_sizes: Mapping[int, str]


def trace(
    module: nn.Module,
    inputs: Mapping[str, TracedInput],
    outputs: Mapping[str, Mapping[int, str]],
) -> onnx.ModelProto:
    """Return the graph of ``module``, which takes ``inputs`` in order and returns one tensor per name in ``outputs``.

    Decision: torch's older exporter, which traces a run. Reason: it needs only torch and follows our contexts through
    any Python code. Alternative: the newer exporter, which needs another package and Python code it can compile.
    """
    written = io.BytesIO()
    with torch.inference_mode(), warnings.catch_warnings():
        # Deprecation notices, and warnings about constant sizes: dynamic sizes are named and tested.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(part.example for part in inputs.values()),
            written,  # type: ignore[arg-type]  # the documentation allows a file object
            dynamo=False,
            opset_version=OPERATOR_SET,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(part.free_sizes) for name, part in inputs.items()}
            | {name: dict(sizes) for name, sizes in outputs.items()},
        )
    model = onnx.load_from_string(written.getvalue())
    require_inputs(model, list(inputs))
    return model


def require_inputs(model: onnx.ModelProto, names: Sequence[str]) -> None:
    """Assert that the exporter kept all inputs: it silently drops unused ones, which would be a bug."""
    found = [port.name for port in model.graph.input]
    assert found == list(names), f"the graph does not use {sorted(set(names) - set(found))}"
