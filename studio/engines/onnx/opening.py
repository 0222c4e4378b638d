"""Open built folders under ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

from studio.engines.onnx import flow_files, vocoder_files
from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.onnx.vocoder_decoder import graph_vocoder
from studio.engines.stage import Device
from studio.model.checkpoint import Checkpoint
from studio.model.stages import FlowDecoder, Vocoder


def open_flow(folder: Path, device: Device, *, blocks_at_once: int) -> FlowDecoder:
    """Open the files of ``write_flow``. Raises ``DamagedModelFile``, ``UnsupportedPrecision``."""
    encoder, step = (OrtGraph(folder / name, device) for name in (flow_files.ENCODER, flow_files.STEP))
    runner = FlowRunner(encoder, step, flow_files.read_shapes(folder), blocks_at_once=blocks_at_once)
    return GraphFlowDecoder(runner)


def open_vocoder(folder: Path, checkpoint: Checkpoint, device: Device) -> Vocoder:
    """Open the files of ``write_vocoder``. Raises ``DamagedModelFile``, ``UnsupportedPrecision``."""
    decoder = OrtGraph(folder / vocoder_files.DECODER, device)
    return graph_vocoder(vocoder_files.plain_network(checkpoint), decoder, vocoder_files.read_shapes(folder))
