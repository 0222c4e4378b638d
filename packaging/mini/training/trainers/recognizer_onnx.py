"""The recogniser as ``recognizer.onnx``: features of a sound to logarithmic probabilities of sounds for each 20 ms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from training.corpus.phones import LABELS, NUM_TONES
from training.trainers.tokenizer_network import AudioEncoder
from training.trainers.tokenizer_onnx import OnnxGraph, add_hidden, add_linear

_MAX_INTEGER = 127.0
_WORTH_ROUNDING = 4096  # number of elements; smaller constants stay unchanged


def write_recognizer_onnx(network: AudioEncoder, head: nn.Linear, path: Path) -> None:
    """Write a graph from ``feats`` (1, 128, T) float32 and ``feats_length`` (1,) int32 to ``log_probabilities``
    (1, 2 * ceil(T / 4), sounds) float32.
    """
    graph = OnnxGraph()
    hidden = add_hidden(graph, network)
    # Without the tones of each half of a token.
    rows = [half * (len(LABELS) + NUM_TONES) + label for half in (0, 1) for label in range(len(LABELS))]
    scores = add_linear(graph, hidden, head.weight[rows], head.bias[rows])
    shaped = graph.add("Reshape", scores, graph.integers(1, -1, len(LABELS)))
    graph.nodes.append(helper.make_node("LogSoftmax", [shaped], ["log_probabilities"], axis=-1))
    graph.write(
        path,
        name="recognizer",
        output=helper.make_tensor_value_info("log_probabilities", TensorProto.FLOAT, [1, "frames", len(LABELS)]),
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
