"""A module of ``studio/model`` becomes an ONNX file: what was computed once for one input, written down as a graph."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx
import torch
from torch import nn

# Has LayerNormalization as one operator, which keeps its sums together in a mixed-precision engine.
OPERATOR_SET = 18


@dataclass(frozen=True)
class TracedInput:
    """One input: an example, and a name for each of its sizes that may be another one in the next call."""

    example: torch.Tensor
    free_sizes: Mapping[int, str]


def trace(
    module: nn.Module,
    inputs: Mapping[str, TracedInput],
    outputs: Mapping[str, Mapping[int, str]],
    *,
    notes: Mapping[str, str],
) -> onnx.ModelProto:
    """The graph of ``module``, which takes ``inputs`` in their order and returns as many tensors as ``outputs`` name.

    ``notes`` travel in the file.

    Decided: torch's older exporter, which records a run. Because it needs nothing but torch and follows our
    contexts through any Python; instead of the newer one, which wants a second package and a Python it can
    re-compile. It is the one place where a change of torch would be felt.
    """
    written = io.BytesIO()
    with torch.inference_mode(), warnings.catch_warnings():
        # It announces its successor, and that sizes it sees are constants: free ones are named, and tested.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(part.example for part in inputs.values()),
            written,  # type: ignore[arg-type]  # a file in memory will do, says its documentation
            dynamo=False,
            opset_version=OPERATOR_SET,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(part.free_sizes) for name, part in inputs.items()}
            | {name: dict(sizes) for name, sizes in outputs.items()},
        )
    model = onnx.load_from_string(written.getvalue())
    require_inputs(model, list(inputs))
    onnx.helper.set_model_props(model, dict(notes))
    return model


def require_inputs(model: onnx.ModelProto, names: Sequence[str]) -> None:
    """An input that nothing needs is dropped by the exporter without a word: that is a mistake of ours."""
    found = [port.name for port in model.graph.input]
    assert found == list(names), f"the graph does not use {sorted(set(names) - set(found))}"
