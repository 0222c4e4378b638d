"""Write the graphs of flow and vocoder into a folder, and open stages that run such graphs on any runtime."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import onnx

from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_graphs import encoder_graph, flow_shapes, step_graph
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.graph import FlowShapes, Graph, VocoderShapes
from studio.engines.onnx.mixed_precision import write_mixed_precision
from studio.engines.onnx.non_causal_flow import (
    GraphNonCausalDecoder,
    GraphNonCausalModel,
    NonCausalFlowShapes,
    non_causal_step_graph,
)
from studio.engines.onnx.vocoder import graph_vocoder, vocoder_graph, vocoder_shapes
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.flow.model import FlowModel
from studio.model.flow.network import build_network
from studio.model.flow.non_causal_decoder import NonCausalFlowModel, load_non_causal_network
from studio.model.stages import FlowDecoder
from studio.model.vocoder.network import CausalHiFT, NonCausalHiFT
from studio.model.vocoder.vocoder import HiFTVocoder, load_vocoder
from studio.model.weights import load_weights, meta_init, read_tensors

FLOW_ENCODER, FLOW_STEP = "flow-encoder.onnx", "flow-step.onnx"
VOCODER_DECODER = "vocoder-decoder.onnx"
# The last layers stay float32: rounding errors of the flow's go directly into the mel, and the vocoder's outputs are log
# magnitudes and phases of the audio.
_FLOW_KEPT = ("proj_out", "final_proj")
_VOCODER_KEPT = ("conv_post",)

# Receives the number of finished parts of the work and their total; it may raise an exception to cancel.
Report = Callable[[float, float], None]
# Opens the file of a graph.
OpenGraph = Callable[[Path], Graph]


def write_flow(checkpoint: Checkpoint, folder: Path, precision: Precision, report: Report) -> None:
    """Write both graphs of the flow, or the only one of CosyVoice-300M, and their description.

    With a 16-bit precision only the step's matrix multiplications are 16-bit; the encoder is a fiftieth of the work.
    Raises ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """
    if checkpoint.flow.length_regulator is not None:
        _write_non_causal_flow(checkpoint, folder, precision, report)
        return
    report(0, 2)
    model = _plain_flow(checkpoint)
    shapes = flow_shapes(model, key="")
    encoder = encoder_graph(model, shapes)
    onnx.save(encoder, folder / FLOW_ENCODER)
    digest = hashlib.sha256(encoder.SerializeToString())
    del encoder
    report(1, 2)
    step = step_graph(model, shapes)
    digest.update(step.SerializeToString())
    onnx.save(step, folder / FLOW_STEP)
    replace(shapes, key=digest.hexdigest()).write(folder)
    if precision is not Precision.FLOAT32:
        halve_flow(folder, precision)
    report(2, 2)


def _write_non_causal_flow(checkpoint: Checkpoint, folder: Path, precision: Precision, report: Report) -> None:
    report(0, 1)
    network = load_non_causal_network(checkpoint.flow_path, checkpoint.flow)
    model = NonCausalFlowModel(network, checkpoint.flow, checkpoint.flow.solver.num_steps)
    step = non_causal_step_graph(model)
    digest = hashlib.sha256(step.SerializeToString()).hexdigest()
    if precision is not Precision.FLOAT32:
        write_mixed_precision(step, precision, kept=_FLOW_KEPT)
    onnx.save(step, folder / FLOW_STEP)
    NonCausalFlowShapes(digest, checkpoint.flow.mel_bins, len(model.steps)).write(folder)
    report(1, 1)


def halve_flow(folder: Path, precision: Precision) -> None:
    """Convert the step of a float32 flow to mixed precision, with 16-bit keys and values."""
    shapes, step = FlowShapes.read(folder), onnx.load(folder / FLOW_STEP)
    ports = [name for port in shapes.step_caches if port.is_growing for name in (port.name, port.new_name)]
    write_mixed_precision(step, precision, kept=_FLOW_KEPT, half_ports=ports)
    onnx.save(step, folder / FLOW_STEP)
    replace(shapes, cache_type=precision.value).write(folder)


def _plain_flow(checkpoint: Checkpoint) -> FlowModel:
    """Load the plain layers: the packed ones of ``checkpoint.load_flow`` cannot be exported."""
    network = meta_init(lambda: build_network(checkpoint.flow))
    path = checkpoint.flow_path
    load_weights(network, read_tensors(path), file_name=path.name)
    return FlowModel(network, checkpoint.flow, checkpoint.flow.solver.num_steps)


def open_any_flow(
    folder: Path, checkpoint: Checkpoint, precision: Precision, open_graph: OpenGraph, *, blocks_at_once: int
) -> FlowDecoder:
    """Open the flow of any generation.

    Raises the errors of ``open_graph``, and ``DamagedModelFile`` for a missing ``flow.pt``.
    """
    if checkpoint.flow.length_regulator is None:
        return open_flow(folder, open_graph, blocks_at_once=blocks_at_once)
    NonCausalFlowShapes.read(folder)
    network = load_non_causal_network(checkpoint.flow_path, checkpoint.flow)
    return GraphNonCausalDecoder(
        GraphNonCausalModel(network, checkpoint.flow, open_graph(folder / FLOW_STEP)), precision
    )


def open_flow(folder: Path, open_graph: OpenGraph, *, blocks_at_once: int) -> GraphFlowDecoder:
    """Open a streaming flow that ``write_flow`` wrote.

    Raises ``DamagedModelFile``, and the errors of ``open_graph``.
    """
    encoder, step = open_graph(folder / FLOW_ENCODER), open_graph(folder / FLOW_STEP)
    return GraphFlowDecoder(FlowRunner(encoder, step, FlowShapes.read(folder), blocks_at_once=blocks_at_once))


def write_vocoder(checkpoint: Checkpoint, folder: Path, precision: Precision, report: Report) -> None:
    """Write the graph of the vocoder's decoder and its description.

    With a 16-bit precision, all convolutions except the last are 16-bit, and Snake activations are float32.
    Raises ``MissingModelFile``, ``DamagedModelFile``, ``WrongTensors``.
    """
    report(0, 1)
    network = plain_vocoder(checkpoint)
    shapes = vocoder_shapes(network, key="")
    decoder = vocoder_graph(network, shapes)
    digest = hashlib.sha256(decoder.SerializeToString()).hexdigest()
    if precision is not Precision.FLOAT32:
        write_mixed_precision(decoder, precision, kept=_VOCODER_KEPT)
    onnx.save(decoder, folder / VOCODER_DECODER)
    replace(shapes, key=digest).write(folder)
    report(1, 1)


def plain_vocoder(checkpoint: Checkpoint) -> CausalHiFT | NonCausalHiFT:
    """Load the plain layers on the CPU."""
    path = checkpoint.vocoder_path
    network = load_vocoder(path, checkpoint.vocoder, Precision.FLOAT32, "cpu").network
    assert isinstance(network, CausalHiFT | NonCausalHiFT)
    return network


def open_vocoder(folder: Path, checkpoint: Checkpoint, open_graph: OpenGraph) -> HiFTVocoder:
    """Open the vocoder that ``write_vocoder`` wrote. Raises ``DamagedModelFile``, and the errors of ``open_graph``."""
    graph = open_graph(folder / VOCODER_DECODER)
    return graph_vocoder(plain_vocoder(checkpoint), graph, VocoderShapes.read(folder))
