"""The decoder as an ONNX graph: ``MatMulNBits``, fused norms, and attention that extends the cache in place.

``rows`` (1, rows, hidden) become ``hidden`` of the same shape, after the final norm. ``last`` (1,) and ``length`` () are
int32, the last position and the number of positions including the new rows. ``keys.0``, ``values.0`` … (1, kv_heads,
capacity, head_size) are caches, and ``new_keys.0`` … the same memory. ``mixed.0`` … are queries, keys and values of each
layer before rotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper

from studio.model.config import QwenConfig
from studio.model.speech_lm.block_weights import LEVELS, ROWS, block_size, quantize_blocks
from studio.model.speech_lm.decoder import merged_gate_up, merged_query_key_value
from studio.model.speech_lm.network import DecoderLayer

_OWN_OPERATORS = "com.microsoft"
_OPERATOR_SET, _OWN_OPERATOR_SET, _FILE_VERSION = 21, 1, 10
# Activations have 8 bits with a scale per block, as the weights.
_INT8_ARITHMETIC = 4
_ATTENTION_BITS = 8
_KINDS = {np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.float32): TensorProto.FLOAT}


class GraphWriter:
    """Writes a graph.

    Attributes:
        weights: The weights, by name. They are not part of the graph, which would copy them several times.
    """

    def __init__(self, block: int) -> None:
        self._block = block
        self.weights: dict[str, npt.NDArray[np.generic]] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self._nodes: list[onnx.NodeProto] = []
        self._named: list[onnx.TensorProto] = []

    def model(self) -> bytes:
        """Return the ONNX file."""
        graph = helper.make_graph(self._nodes, "decoder", self.inputs, self.outputs, self._named)
        sets = [helper.make_opsetid("", _OPERATOR_SET), helper.make_opsetid(_OWN_OPERATORS, _OWN_OPERATOR_SET)]
        file: bytes = helper.make_model(graph, opset_imports=sets, ir_version=_FILE_VERSION).SerializeToString()
        return file

    def weight(self, name: str, values: torch.Tensor | npt.NDArray[np.generic]) -> str:
        """Add a weight and return its name."""
        array = values.detach().clone().numpy() if isinstance(values, torch.Tensor) else values
        self.weights[name] = np.ascontiguousarray(array)
        self._named.append(_named(name, array))
        return name

    def node(self, operator: str, inputs: list[str], *outputs: str, is_own: bool = True, **attributes: Any) -> str:
        """Add a node and return the name of its last output. An empty name is an absent input or output."""
        domain = _OWN_OPERATORS if is_own else ""
        self._nodes.append(helper.make_node(operator, inputs, list(outputs), domain=domain, **attributes))
        return outputs[-1]

    def product(self, rows: str, weight: torch.Tensor, bits: int, name: str, bias: torch.Tensor | None = None) -> str:
        """Add ``rows`` times ``weight`` (out, in) in ``bits`` bits, with the output ``name``."""
        packed = quantize_blocks(weight, bits, self._block)
        inputs = [
            rows,
            self.weight(name + LEVELS, packed.levels),
            self.weight(f"{name}.scales", packed.scales),
            "" if packed.zeros is None else self.weight(f"{name}.zeros", packed.zeros),
        ]
        if bias is not None:
            inputs += ["", self.weight(f"{name}.bias", bias)]
        height, width = weight.shape
        return self.node(
            "MatMulNBits", inputs, name,
            K=width, N=height, bits=bits, block_size=self._block, accuracy_level=_INT8_ARITHMETIC,
        )  # fmt: skip


def _named(name: str, array: npt.NDArray[np.generic]) -> onnx.TensorProto:
    """Return a tensor whose values are given to the session."""
    proto = TensorProto(name=name, data_type=_KINDS[array.dtype], dims=array.shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "memory"), ("offset", "0"), ("length", str(array.nbytes))):
        proto.external_data.add(key=key, value=value)
    return proto


def write_decoder(
    config: QwenConfig, layers: Iterable[DecoderLayer], final_norm: torch.Tensor, turns: torch.Tensor, gated_bits: int
) -> GraphWriter:
    """Return the graph of a decoder whose gated layers have ``gated_bits`` bits and whose attention has 8.

    ``turns`` (positions, head_size / 2) complex64 is the rotation of channel pairs.
    """
    block = block_size(config.hidden_size, config.intermediate_size)
    assert block is not None
    writer = GraphWriter(block)
    width, size, num_kv = config.hidden_size, config.head_size, config.num_kv_heads
    _declare(writer, config)
    rotation = [writer.weight("cosines", turns.real), writer.weight("sines", turns.imag)]
    epsilon = config.rms_norm_eps

    def norm(hidden: str, added: str, weight: torch.Tensor, name: str) -> str:
        """Return the name of the norm of the sum; the sum is ``<name>.sum``."""
        inputs = [hidden, added, writer.weight(f"{name}.norm", weight)]
        writer.node("SkipSimplifiedLayerNormalization", inputs, name, "", "", f"{name}.sum", epsilon=epsilon)
        return name

    hidden, added = ROWS, ""
    for index, layer in enumerate(layers):
        attention, mlp = layer.self_attn, layer.mlp
        if added:
            normed = norm(hidden, added, layer.input_layernorm.weight, f"{index}.input")
            hidden = f"{normed}.sum"
        else:
            first = [hidden, writer.weight("0.input.norm", layer.input_layernorm.weight)]
            normed = writer.node(
                "SimplifiedLayerNormalization", first, "0.input", is_own=False, epsilon=epsilon, axis=-1
            )
        weight, bias = merged_query_key_value(attention, config)
        mixed = writer.product(normed, weight, _ATTENTION_BITS, f"mixed.{index}", bias)
        caches = [f"keys.{index}", f"values.{index}"]
        attended = f"{index}.attended"
        writer.node(
            "GroupQueryAttention", [mixed, "", "", *caches, "last", "length", *rotation],
            attended, *(f"new_{name}" for name in caches),
            num_heads=config.num_heads, kv_num_heads=num_kv, do_rotary=1, rotary_interleaved=1,
        )  # fmt: skip
        added = writer.product(attended, attention.o_proj.weight, _ATTENTION_BITS, f"{index}.output")
        normed = norm(hidden, added, layer.post_attention_layernorm.weight, f"{index}.mlp")
        hidden = f"{normed}.sum"
        both = writer.product(normed, merged_gate_up(mlp), gated_bits, f"{index}.gate_up")
        gate, up = f"{index}.gate", f"{index}.up"
        writer.node("Split", [both], gate, up, is_own=False, axis=-1, num_outputs=2)
        activated = writer.node("QuickGelu", [gate], f"{index}.activated", alpha=1.0)  # with 1, it is SiLU
        gated = writer.node("Mul", [activated, up], f"{index}.gated", is_own=False)
        added = writer.product(gated, mlp.down_proj.weight, gated_bits, f"{index}.down")
    norm(hidden, added, final_norm, "hidden")
    assert width == num_kv * size * (config.num_heads // num_kv)
    return writer


def write_product(name: str, weight: torch.Tensor, bias: torch.Tensor | None, bits: int, block: int) -> GraphWriter:
    """Return the graph of ``rows @ weight.T + bias`` with ``weight`` (out, in). Its output is ``name``."""
    writer = GraphWriter(block)
    height, width = weight.shape
    writer.inputs.append(helper.make_tensor_value_info(ROWS, TensorProto.FLOAT, (ROWS, width)))
    writer.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, (ROWS, height)))
    writer.product(ROWS, weight, bits, name, bias)
    return writer


def _declare(writer: GraphWriter, config: QwenConfig) -> None:
    def value(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    rows = (1, "rows", config.hidden_size)
    writer.inputs += [
        value(ROWS, TensorProto.FLOAT, *rows),
        value("last", TensorProto.INT32, 1),
        value("length", TensorProto.INT32),
    ]
    writer.outputs.append(value("hidden", TensorProto.FLOAT, *rows))
    num_kv, size = config.num_kv_heads, config.head_size
    cache, mixed = (1, num_kv, "capacity", size), (1, "rows", config.hidden_size + 2 * num_kv * size)
    for index in range(config.num_layers):
        for name in (f"keys.{index}", f"values.{index}"):
            writer.inputs.append(value(name, TensorProto.FLOAT, *cache))
            writer.outputs.append(value(f"new_{name}", TensorProto.FLOAT, *cache))
        writer.outputs.append(value(f"mixed.{index}", TensorProto.FLOAT, *mixed))
