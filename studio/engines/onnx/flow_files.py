"""Write and read the flow's files: two graphs and their description."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import onnx

from studio.engines.onnx.description import read_description
from studio.engines.onnx.flow_graphs import encoder_graph, flow_shapes, step_graph
from studio.engines.onnx.flow_shapes import FlowShapes
from studio.engines.onnx.mixed_precision import write_mixed_precision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.flow.model import FlowModel
from studio.model.flow.network import build_network
from studio.model.weights import load_weights, meta_init, read_tensors

ENCODER, STEP, SHAPES = "flow-encoder.onnx", "flow-step.onnx", "flow.json"
# The last layers stay float32: their rounding errors go directly into the mel.
_KEPT = ("proj_out", "final_proj")


def write_flow(
    checkpoint: Checkpoint, folder: Path, precision: Precision, report: Callable[[float, float], None]
) -> None:
    """Fill ``folder``. ``report`` receives the graphs done and their total; it may raise to cancel.

    With a 16-bit precision only the step's matrix multiplications are 16-bit; the encoder is a fiftieth of the work.
    Raises ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """
    report(0, 2)
    model = _load(checkpoint)
    shapes = flow_shapes(model, key="")
    encoder = encoder_graph(model, shapes)
    onnx.save(encoder, folder / ENCODER)
    digest = hashlib.sha256(encoder.SerializeToString())
    del encoder
    report(1, 2)
    step = step_graph(model, shapes)
    digest.update(step.SerializeToString())
    onnx.save(step, folder / STEP)
    (folder / SHAPES).write_text(replace(shapes, key=digest.hexdigest()).to_json(), "utf-8")
    if precision is not Precision.FLOAT32:
        halve_flow(folder, precision)
    report(2, 2)


def halve_flow(folder: Path, precision: Precision) -> None:
    """Convert the step of a float32 ``folder`` to mixed precision, with 16-bit keys and values."""
    shapes, step = read_shapes(folder), onnx.load(folder / STEP)
    ports = [name for port in shapes.step_caches if port.is_growing for name in (port.name, port.new_name)]
    write_mixed_precision(step, precision, kept=_KEPT, half_ports=ports)
    onnx.save(step, folder / STEP)
    (folder / SHAPES).write_text(replace(shapes, cache_type=precision.value).to_json(), "utf-8")


def read_shapes(folder: Path) -> FlowShapes:
    """Raises ``DamagedModelFile``."""
    return FlowShapes.from_json(read_description(folder / SHAPES))


def _load(checkpoint: Checkpoint) -> FlowModel:
    """Load the plain layers: the packed ones of ``checkpoint.load_flow`` cannot be exported."""
    network = meta_init(lambda: build_network(checkpoint.flow))
    path = checkpoint.folder / "flow.pt"
    load_weights(network, read_tensors(path), file_name=path.name)
    return FlowModel(network, checkpoint.flow, checkpoint.flow.solver.num_steps)
