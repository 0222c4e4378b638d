"""Convert a graph to mixed precision: matrix multiplications and convolutions in 16 bits, the rest in float32.

An engine that follows the types of its file (a strongly typed network) then computes norms, softmax, residual sums,
modulation, activations and everything named in ``kept`` in float32. In float16 these overflow: a network entirely in
float16 produces values that are not finite.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

from studio.model.config import Precision

_PRODUCTS = {"MatMul", "Gemm", "Conv", "ConvTranspose"}
_MOVES = {"Transpose"}  # keep the type of their input
HALF_TYPES = {Precision.FLOAT16: TensorProto.FLOAT16, Precision.BFLOAT16: TensorProto.BFLOAT16}


def write_mixed_precision(
    model: onnx.ModelProto, precision: Precision, *, kept: Collection[str] = (), half_ports: Collection[str] = ()
) -> None:
    """Change ``model`` in place.

    Layers and weights stay float32 if their names contain an entry of ``kept``. The inputs and outputs in
    ``half_ports`` become 16-bit.
    """
    if precision is Precision.BFLOAT16:
        # The first operator set with bfloat16 convolutions.
        model.CopyFrom(version_converter.convert_version(model, 22))
    _Writer(model.graph, HALF_TYPES[precision], kept, half_ports).write()


class _Writer:
    def __init__(self, graph: onnx.GraphProto, half: int, kept: Collection[str], half_ports: Collection[str]) -> None:
        self._graph = graph
        self._half = half
        self._kept = tuple(kept)
        self._half_ports = set(half_ports)
        self._weights = {weight.name: weight for weight in graph.initializer}
        self._nodes: list[onnx.NodeProto] = []
        self._half_name: dict[str, str] = {}  # 16-bit copies by name of the float32 tensor

    def write(self) -> None:
        for port in (*self._graph.input, *self._graph.output):
            if port.name in self._half_ports:
                port.type.tensor_type.elem_type = self._half
        is_half = {port.name for port in self._graph.input if port.name in self._half_ports}
        outputs = {port.name for port in self._graph.output} & self._half_ports
        for node in self._graph.node:
            if node.op_type in _MOVES and node.input[0] in is_half:
                is_half.add(node.output[0])
            is_product = node.op_type in _PRODUCTS and not self._is_kept(node)
            if is_product:
                self._use_half_inputs(node, is_half)
            for index, name in enumerate(node.output):
                if is_product:
                    node.output[index] = f"{name}.half"
                elif name in outputs:
                    node.output[index] = f"{name}.float"
            self._nodes.append(node)
            for name in node.output:
                if name.endswith(".half"):
                    self._add_cast(name, name.removesuffix(".half"), TensorProto.FLOAT)
                elif name.endswith(".float") and name.removesuffix(".float") in outputs:
                    self._add_cast(name, name.removesuffix(".float"), self._half)
        self._finish()

    def _is_kept(self, node: onnx.NodeProto) -> bool:
        return any(part in name for part in self._kept for name in (node.name, *node.input))

    def _use_half_inputs(self, node: onnx.NodeProto, is_half: set[str]) -> None:
        for index, name in enumerate(node.input):
            if name and name not in is_half:
                node.input[index] = self._as_half(name)

    def _as_half(self, name: str) -> str:
        """Return the 16-bit copy of a float32 tensor, added on first use."""
        if name not in self._half_name:
            half_name = self._half_name[name] = f"{name}.as_half"
            weight = self._weights.get(name)
            if weight is None:
                self._add_cast(name, half_name, self._half)
            else:
                self._graph.initializer.append(self._half_weight(weight, half_name))
        return self._half_name[name]

    def _half_weight(self, weight: onnx.TensorProto, name: str) -> onnx.TensorProto:
        values = numpy_helper.to_array(weight).astype(np.float32)
        return numpy_helper.from_array(values.astype(helper.tensor_dtype_to_np_dtype(self._half)), name)

    def _add_cast(self, source: str, target: str, kind: int) -> None:
        self._nodes.append(helper.make_node("Cast", [source], [target], name=f"{target}.cast", to=kind))

    def _finish(self) -> None:
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)
        used = {name for node in self._nodes for name in node.input}
        weights = [weight for weight in self._graph.initializer if weight.name in used]
        del self._graph.initializer[:]
        self._graph.initializer.extend(weights)
        del self._graph.value_info[:]  # the exporter's types, some of which no longer apply
