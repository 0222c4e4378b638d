"""The reference checkpoints as graphs, written once per session, and the device on which tests run them."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import onnx
from onnx import TensorProto, helper

from studio.engines.onnx.files import FLOW_ENCODER, FLOW_STEP, halve_flow, write_flow, write_vocoder
from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.graph import FlowShapes
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.stage import Device
from studio.model.checkpoint import Checkpoint, open_checkpoint
from studio.model.config import Precision
from studio.model.device_kind import DeviceKind

CPU = Device(DeviceKind.CPU, "a processor", num_threads=1, total_bytes=8 << 30)
_PRODUCTS = {"MatMul", "Gemm", "Conv", "ConvTranspose"}


@cache
def checkpoint_of(reference: Path, family: str) -> Checkpoint:
    return open_checkpoint(reference / family / "checkpoint")


@cache
def flow_folder(reference: Path, family: str, precision: Precision = Precision.FLOAT32) -> Path:
    folder = Path(mkdtemp(prefix="flow-"))
    if precision is Precision.FLOAT32:
        write_flow(checkpoint_of(reference, family), folder, precision, lambda done, total: None)
        return folder
    shutil.copytree(flow_folder(reference, family), folder, dirs_exist_ok=True)
    halve_flow(folder, precision)
    return folder


@cache
def vocoder_folder(reference: Path, family: str) -> Path:
    folder = Path(mkdtemp(prefix="vocoder-"))
    write_vocoder(checkpoint_of(reference, family), folder, Precision.FLOAT32, lambda done, total: None)
    return folder


def open_graph(path: Path) -> OrtGraph:
    return OrtGraph(path, CPU)


def graph_decoder(folder: Path, *, blocks_at_once: int = 4, budget_bytes: int | None = None) -> GraphFlowDecoder:
    encoder, step = open_graph(folder / FLOW_ENCODER), open_graph(folder / FLOW_STEP)
    runner = FlowRunner(encoder, step, FlowShapes.read(folder), blocks_at_once=blocks_at_once)
    return GraphFlowDecoder(runner, cache_budget_bytes=budget_bytes)


def with_products_in_float32(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace 16-bit multiplications by float32 ones with 16-bit inputs and outputs.

    No engine multiplies bfloat16 on a processor; this shows the rounding errors of such a graph.
    """
    half = {TensorProto.FLOAT16, TensorProto.BFLOAT16}
    types = tensor_types(model)
    nodes = []
    for node in model.graph.node:
        kind = types.get(node.output[0])
        if node.op_type not in _PRODUCTS or kind not in half:
            nodes.append(node)
            continue
        for index, name in enumerate(node.input):
            wide = f"{node.name}.wide{index}"
            nodes.append(helper.make_node("Cast", [name], [wide], to=TensorProto.FLOAT))
            node.input[index] = wide
        rounded, node.output[0] = node.output[0], f"{node.output[0]}.wide"
        nodes += [node, helper.make_node("Cast", [node.output[0]], [rounded], to=kind)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def tensor_types(model: onnx.ModelProto) -> dict[str, int]:
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph
    ports = (*inferred.value_info, *inferred.input, *inferred.output)
    return {port.name: port.type.tensor_type.elem_type for port in ports} | {
        weight.name: weight.data_type for weight in inferred.initializer
    }
