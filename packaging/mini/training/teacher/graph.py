"""Kokoro's 8-bit ONNX graph as four graphs of floats: text to durations and F0, sines, spectrum, and sound.

Only the weights of the export are 8-bit values with a scale. Its activations are quantised while it runs, which adds
noise, so all quantised products become products of floats.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import GraphProto, NodeProto, helper, numpy_helper
from onnx.utils import extract_model

READER_FILE, SINES_FILE, DECODER_FILE, WAVE_FILE = "reader.onnx", "sines.onnx", "decoder.onnx", "wave.onnx"
# Names in the export: frames of each symbol, F0 in hertz, energy, the features of the text on those frames, the
# transform of the voice's sines, and the spectrum.
DURATIONS, F0, ENERGY, FEATURES, HARMONICS, SPECTRUM = (
    "/encoder/Clip_output_0",
    "/encoder/Squeeze_output_0",
    "/encoder/Squeeze_1_output_0",
    "/encoder/MatMul_1_output_0",
    "/decoder/decoder/generator/Concat_3_output_0",
    "/decoder/decoder/generator/conv_post/Conv_output_0",
)
# The inputs and outputs of each file.
PARTS = {
    READER_FILE: (["tokens", "style", "speed"], [DURATIONS, F0, ENERGY, FEATURES]),
    SINES_FILE: ([F0], [HARMONICS]),
    DECODER_FILE: ([F0, ENERGY, FEATURES, "style", HARMONICS], [SPECTRUM]),
    WAVE_FILE: ([SPECTRUM], ["audio"]),
}
_QUANTISED = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}


def divide_network(model: bytes, folder: Path) -> None:
    """Write the parts of the export ``model`` to ``folder``."""
    network = onnx.load_from_string(model)
    use_floats(network.graph)
    # Only names with a known type can be divided at.
    network.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
        for name in (DURATIONS, F0, ENERGY, FEATURES, HARMONICS, SPECTRUM)
    )
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        whole = str(Path(beside) / "whole.onnx")
        onnx.save(network, whole)
        for name, (inputs, outputs) in PARTS.items():
            extract_model(whole, str(folder / name), inputs, outputs, check_model=False)


def use_floats(graph: GraphProto) -> None:
    """Replace each quantised product, with its quantisation and scaling, by a product of floats."""
    constants = {each.name: each for each in graph.initializer}
    made_by = {output: node for node in graph.node for output in node.output}
    users: dict[str, list[NodeProto]] = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            users[name].append(node)
    floats: dict[str, onnx.TensorProto] = {}
    products: dict[str, NodeProto] = {}  # by the name of the scaled result
    for node in graph.node:
        if node.op_type not in _QUANTISED:
            continue
        (after,) = users[node.output[0]]
        inputs = [made_by[node.input[0]].input[0]]
        scaled, scale = _scaling(after, users, made_by)
        if node.input[1] in constants:
            (weight_scale,) = (name for name in scale.input if name in constants)
            weight = _dequantised(*(constants[name] for name in (node.input[1], node.input[3], weight_scale)))
            floats[weight.name] = weight
            inputs.append(weight.name)
        else:
            inputs.append(made_by[node.input[1]].input[0])
        if after.op_type == "Add":  # the bias, divided by the scale
            (bias,) = (name for name in after.input if name != node.output[0])
            while made_by[bias].op_type != "Div":
                bias = made_by[bias].input[0]
            inputs.append(made_by[bias].input[0])
        product = helper.make_node(_QUANTISED[node.op_type], inputs, [scaled.output[0]], name=node.name)
        product.attribute.extend(node.attribute)
        products[scaled.output[0]] = product
    nodes = [products.get(node.output[0], node) for node in graph.node]
    graph.initializer.extend(floats.values())
    del graph.node[:]
    graph.node.extend(_sorted(nodes))


def _scaling(
    after: NodeProto, users: dict[str, list[NodeProto]], made_by: dict[str, NodeProto]
) -> tuple[NodeProto, NodeProto]:
    """Return the node that scales an integer product, and the node that computes the scale."""
    cast = after
    while cast.op_type != "Cast":
        (cast,) = users[cast.output[0]]
    (scaled,) = users[cast.output[0]]
    (scale,) = (name for name in scaled.input if name != cast.output[0])
    return scaled, made_by[scale]


def _dequantised(weight: onnx.TensorProto, zero: onnx.TensorProto, scale: onnx.TensorProto) -> onnx.TensorProto:
    values = numpy_helper.to_array(weight).astype(np.float32)

    def spread(constant: onnx.TensorProto) -> npt.NDArray[np.float32]:
        # A value for all weights, for each column of a matrix, or for each filter.
        array = numpy_helper.to_array(constant).astype(np.float32).reshape(-1)
        return array if len(array) == 1 or values.ndim == 2 else array.reshape(-1, *[1] * (values.ndim - 1))

    return numpy_helper.from_array((values - spread(zero)) * spread(scale), f"{weight.name}_as_floats")


def _sorted(nodes: list[NodeProto]) -> list[NodeProto]:
    """Return ``nodes`` in an order in which the inputs of each precede it."""
    made = {output for node in nodes for output in node.output}
    waiting = nodes
    in_order: list[NodeProto] = []
    known: set[str] = set()
    while waiting:
        ready = [node for node in waiting if all(name not in made or name in known for name in node.input)]
        assert ready, "the graph has a circle"
        in_order += ready
        known.update(output for node in ready for output in node.output)
        done = {id(node) for node in ready}
        waiting = [node for node in waiting if id(node) not in done]
    return in_order
