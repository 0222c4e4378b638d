"""Writes a small network as an ONNX file, byte by byte.

Decided: the few fields of the format (a protocol buffer) that a plain graph needs are encoded here,
because the ``onnx`` package is large and only a benchmark would want it. Instead of: one more
dependency for everybody, or prepared files in the repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

_IR_VERSION, _OPERATOR_SET = 8, 13
_VARINT, _BYTES = 0, 2


class ElementType(IntEnum):
    """``TensorProto.DataType``."""

    FLOAT = 1
    INT32 = 6
    INT64 = 7


_ELEMENT_TYPES = {"float32": ElementType.FLOAT, "int32": ElementType.INT32, "int64": ElementType.INT64}


@dataclass(frozen=True, slots=True)
class Node:
    """One operator; ``attributes`` are integers or lists of integers."""

    operator: str
    inputs: Sequence[str]
    output: str
    attributes: Mapping[str, int | Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph; a dimension given by a word is free."""

    name: str
    element_type: ElementType
    shape: Sequence[int | str]


def onnx_bytes(
    nodes: Sequence[Node], inputs: Sequence[Port], output: Port, weights: Mapping[str, npt.NDArray[np.generic]]
) -> bytes:
    """The graph as the content of an ONNX file."""
    graph = b"".join(_submessage(1, _node(node)) for node in nodes)
    graph += _text(2, "random")
    graph += b"".join(_submessage(5, _tensor(name, values)) for name, values in weights.items())
    graph += b"".join(_submessage(11, _port(port)) for port in inputs)
    graph += _submessage(12, _port(output))
    return _integer(1, _IR_VERSION) + _submessage(7, graph) + _submessage(8, _integer(2, _OPERATOR_SET))


def _node(node: Node) -> bytes:
    message = b"".join(_text(1, name) for name in node.inputs) + _text(2, node.output) + _text(4, node.operator)
    for name, value in node.attributes.items():
        if isinstance(value, int):
            attribute = _text(1, name) + _integer(3, value) + _integer(20, 2)
        else:
            attribute = _text(1, name) + b"".join(_integer(8, item) for item in value) + _integer(20, 7)
        message += _submessage(5, attribute)
    return message


def _tensor(name: str, values: npt.NDArray[np.generic]) -> bytes:
    dimensions = b"".join(_integer(1, size) for size in values.shape)
    element_type = _ELEMENT_TYPES[values.dtype.name]
    return dimensions + _integer(2, element_type) + _text(8, name) + _submessage(9, values.tobytes())


def _port(port: Port) -> bytes:
    shape = b"".join(
        _submessage(1, _integer(1, size) if isinstance(size, int) else _text(2, size)) for size in port.shape
    )
    tensor_type = _integer(1, port.element_type) + _submessage(2, shape)
    return _text(1, port.name) + _submessage(2, _submessage(1, tensor_type))


def _integer(number: int, value: int) -> bytes:
    return _variable_length(number << 3 | _VARINT) + _variable_length(value)


def _text(number: int, value: str) -> bytes:
    return _submessage(number, value.encode())


def _submessage(number: int, content: bytes) -> bytes:
    return _variable_length(number << 3 | _BYTES) + _variable_length(len(content)) + content


def _variable_length(value: int) -> bytes:
    assert value >= 0
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
