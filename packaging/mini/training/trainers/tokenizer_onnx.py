"""The speech tokenizer as ``speech_tokenizer_v3.onnx``: official inputs and output, written operator by operator.

The graph combines pair and pitch to one id, and ignores frames beyond the length.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from torch import nn

from training.trainers.tokenizer_network import (
    FRAMES_PER_TOKEN,
    MEL_BINS,
    NORM_EPSILON,
    AudioEncoder,
    Block,
    SpeechTokenizerNetwork,
)

_OPERATOR_SET, _IR_VERSION = 13, 8
_FAR = 2**31 - 1


def write_tokenizer_onnx(network: SpeechTokenizerNetwork, path: Path) -> None:
    """Return a graph from ``feats`` (1, 128, T) float32 and ``feats_length`` (1,) int32 to ``indices`` (1, ceil(T / 4))
    int32 (specification D1).
    """
    graph = OnnxGraph()
    x = add_hidden(graph, network)
    pairs = _argmax(graph, add_linear(graph, x, network.heads.pairs(), network.pair_bias))
    pitches = _argmax(graph, add_linear(graph, x, network.heads.pitch, network.pitch_bias))
    packed = graph.add("Add", pairs, graph.add("Mul", pitches, graph.integers(len(network.pair_bias))))
    graph.nodes.append(helper.make_node("Cast", [packed], ["indices"], to=TensorProto.INT32))
    graph.write(
        path,
        name="speech_tokenizer",
        output=helper.make_tensor_value_info("indices", TensorProto.INT32, [1, "tokens"]),
    )


def add_hidden(graph: OnnxGraph, network: AudioEncoder) -> str:
    """Add ``AudioEncoder.hidden`` of the inputs ``feats`` and ``feats_length``."""
    mask = _sound_mask(graph)
    masked = graph.add("Mul", "feats", mask)
    total = graph.add("ReduceSum", masked, graph.integers(2), keepdims=1)
    mean = graph.add("Div", total, graph.add("ReduceSum", mask, keepdims=1))
    x = graph.add("Mul", graph.add("Sub", "feats", mean), mask)
    x = graph.add("Mul", _silu(graph, _convolution(graph, x, network.front)), _every(graph, mask, 2))
    x = graph.add("Transpose", _convolution(graph, x, network.halving), perm=[0, 2, 1])
    token_mask = graph.add("Unsqueeze", _every(graph, mask, FRAMES_PER_TOKEN), graph.integers(1))
    for index, block in enumerate(network.blocks):
        assert isinstance(block, Block)
        if index == network.clip_after:
            heard = graph.add("ReduceSum", graph.add("Mul", x, token_mask), graph.integers(1), keepdims=1)
            whole = graph.add("Div", heard, graph.add("ReduceSum", token_mask, keepdims=1))
            x = graph.add("Add", x, add_linear(graph, whole, network.clip.weight, network.clip.bias))
        x = _block(graph, graph.add("Mul", x, token_mask), block)
    return _rms_norm(graph, x, network.norm)


def _sound_mask(graph: OnnxGraph) -> str:
    """Add a mask (frames,): 1 for valid frames, 0 beyond the length."""
    frames = graph.add("Gather", graph.add("Shape", "feats"), graph.constant(np.array(2)))
    positions = graph.add("Range", graph.constant(np.array(0)), frames, graph.constant(np.array(1)))
    length = graph.add("Cast", "feats_length", to=TensorProto.INT64)
    return graph.add("Cast", graph.add("Less", positions, length), to=TensorProto.FLOAT)


def _every(graph: OnnxGraph, mask: str, step: int) -> str:
    return graph.add("Slice", mask, *map(graph.integers, (0, _FAR, 0, step)))


def _block(graph: OnnxGraph, x: str, block: Block) -> str:
    around = _convolution(graph, graph.add("Transpose", x, perm=[0, 2, 1]), block.around)
    normed = _rms_norm(graph, graph.add("Transpose", around, perm=[0, 2, 1]), block.norm)
    hidden = _silu(graph, add_linear(graph, normed, block.into.weight, block.into.bias))
    return graph.add("Add", x, add_linear(graph, hidden, block.out_of.weight, block.out_of.bias))


def _convolution(graph: OnnxGraph, x: str, layer: nn.Conv1d) -> str:
    assert layer.bias is not None
    return graph.add(
        "Conv",
        x,
        graph.weight(layer.weight),
        graph.weight(layer.bias),
        kernel_shape=list(layer.kernel_size),
        strides=list(layer.stride),
        pads=[int(layer.padding[0])] * 2,
        group=layer.groups,
    )


def add_linear(graph: OnnxGraph, x: str, weight: torch.Tensor, bias: torch.Tensor) -> str:
    return graph.add("Add", graph.add("MatMul", x, graph.weight(weight.t())), graph.weight(bias))


def _rms_norm(graph: OnnxGraph, x: str, weight: torch.Tensor) -> str:
    power = graph.add("ReduceMean", graph.add("Mul", x, x), axes=[-1], keepdims=1)
    size = graph.add("Sqrt", graph.add("Add", power, graph.constant(np.array(NORM_EPSILON, np.float32))))
    return graph.add("Mul", graph.add("Div", x, size), graph.weight(weight))


def _silu(graph: OnnxGraph, x: str) -> str:
    return graph.add("Mul", x, graph.add("Sigmoid", x))


def _argmax(graph: OnnxGraph, scores: str) -> str:
    return graph.add("ArgMax", scores, axis=-1, keepdims=0)


class OnnxGraph:
    """Nodes in order. Results and constants are named by number."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"result{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def weight(self, tensor: torch.Tensor) -> str:
        return self.constant(np.ascontiguousarray(tensor.detach().float().cpu().numpy()))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values))

    def constant(self, array: np.ndarray) -> str:
        if array.dtype == np.int_:
            array = array.astype(np.int64)
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def write(self, path: Path, *, name: str, output: ValueInfoProto) -> None:
        graph = helper.make_graph(
            self.nodes,
            name,
            [
                helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, MEL_BINS, "frames"]),
                helper.make_tensor_value_info("feats_length", TensorProto.INT32, [1]),
            ],
            [output],
            self._constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPERATOR_SET)])
        model.ir_version = _IR_VERSION
        onnx.checker.check_model(model)
        beside = path.with_name(f"{path.name}.part")
        beside.write_bytes(model.SerializeToString())
        beside.replace(path)
