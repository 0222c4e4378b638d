"""The recogniser as ``recognizer.onnx``: features of a sound to logarithmic probabilities of phones for each 20 ms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.shipping.respellings import LETTER_OF_PHONE
from training.trainers.recognizer_network import NUM_PHONES, RecognizerNetwork
from training.trainers.tokenizer_onnx import OnnxGraph, add_hidden, add_linear

_MAX_INTEGER = 127.0
_WORTH_ROUNDING = 4096  # number of elements; smaller constants stay unchanged


def write_recognizer_onnx(network: RecognizerNetwork, path: Path) -> None:
    """Write a graph from ``feats`` (1, 128, T) float32 and ``feats_length`` (1,) int32 to ``log_probabilities``
    (1, 2 * ceil(T / 4), phones) float32. The metadata name the phones and their letters in respellings.
    """
    graph = OnnxGraph()
    hidden = add_hidden(graph, network)
    scores = add_linear(graph, hidden, network.head.weight, network.head.bias)
    shaped = graph.add("Reshape", scores, graph.integers(1, -1, NUM_PHONES))
    graph.nodes.append(helper.make_node("LogSoftmax", [shaped], ["log_probabilities"], axis=-1))
    graph.write(
        path,
        name="recognizer",
        output=helper.make_tensor_value_info("log_probabilities", TensorProto.FLOAT, [1, "frames", NUM_PHONES]),
        metadata={"phones": " ".join(f"{letter}:{phone}" for phone, letter in LETTER_OF_PHONE.items())},
    )


def write_rounded_onnx(source: Path, path: Path) -> None:
    """Write the network of ``source`` with weights in 8 bits, and a scale for each output that is applied on loading."""
    model = onnx.load(source)
    reads_matrix = {node.input[1] for node in model.graph.node if node.op_type == "MatMul"}
    nodes, kept = [], []
    for constant in model.graph.initializer:
        array = numpy_helper.to_array(constant)
        if constant.data_type != TensorProto.FLOAT or array.size < _WORTH_ROUNDING:
            kept.append(constant)
            continue
        # Matrices have their outputs in columns, kernels of convolutions in rows.
        others = 0 if constant.name in reads_matrix else tuple(range(1, array.ndim))
        scale = (np.abs(array).max(axis=others, keepdims=True) / _MAX_INTEGER).astype(np.float32)
        rounded = np.round(array / np.maximum(scale, 1e-12)).astype(np.int8)
        stored, factor = f"{constant.name}_stored", f"{constant.name}_scale"
        kept += [numpy_helper.from_array(rounded, stored), numpy_helper.from_array(scale, factor)]
        nodes.append(helper.make_node("Cast", [stored], [f"{constant.name}_whole"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Mul", [f"{constant.name}_whole", factor], [constant.name]))
    nodes += model.graph.node
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(model.SerializeToString())
    beside.replace(path)
