"""The speaker encoder as ``campplus.onnx``: the official input and output, written operator by operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.trainers.speaker_network import EMBEDDING_SIZE, MEL_BINS, VARIANCE_FLOOR, SpeakerNetwork, TimeDelay

_OPERATOR_SET, _IR_VERSION = 13, 8


def write_speaker_onnx(network: SpeakerNetwork, path: Path) -> None:
    """Return a graph from ``input`` (batch, frames, 80) to ``output`` (batch, 192), both float32 (specification D1)."""
    weights: dict[str, torch.Tensor] = {"floor": torch.tensor(VARIANCE_FLOOR)}
    nodes = [helper.make_node("Transpose", ["input"], ["layer0"], perm=[0, 2, 1])]
    for number, layer in enumerate(network.layers):
        assert isinstance(layer, TimeDelay)
        folded = layer.folded()
        weights |= {f"weight{number}": folded.weight, f"bias{number}": folded.bias}
        nodes += [
            helper.make_node(
                "Conv",
                [f"layer{number}", f"weight{number}", f"bias{number}"],
                [f"sum{number}"],
                dilations=[folded.shape.dilation],
                kernel_shape=[folded.shape.kernel_size],
                pads=[folded.shape.padding] * 2,
            ),
            helper.make_node("Relu", [f"sum{number}"], [f"layer{number + 1}"]),
        ]
    last = f"layer{len(network.layers)}"
    weights |= {"into_embedding": network.embedding.weight.t(), "embedding_bias": network.embedding.bias}
    nodes += [
        helper.make_node("ReduceMean", [last], ["mean"], axes=[2], keepdims=0),
        helper.make_node("Mul", [last, last], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["power"], axes=[2], keepdims=0),
        helper.make_node("Mul", ["mean", "mean"], ["power_of_mean"]),
        helper.make_node("Sub", ["power", "power_of_mean"], ["variance"]),
        helper.make_node("Add", ["variance", "floor"], ["floored"]),
        helper.make_node("Sqrt", ["floored"], ["spread"]),
        helper.make_node("Concat", ["mean", "spread"], ["pooled"], axis=1),
        helper.make_node("MatMul", ["pooled", "into_embedding"], ["turned"]),
        helper.make_node("Add", ["turned", "embedding_bias"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "speaker_encoder",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", "frames", MEL_BINS])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch", EMBEDDING_SIZE])],
        [numpy_helper.from_array(_array(tensor), name) for name, tensor in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPERATOR_SET)])
    model.ir_version = _IR_VERSION
    onnx.checker.check_model(model)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(model.SerializeToString())
    beside.replace(path)


def _array(tensor: torch.Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy())
