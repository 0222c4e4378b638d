"""Write the graphs of a stage, and open a stage from its plans."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from studio.engines.candidate import BuildJob, EngineTarget
from studio.engines.machine import processor
from studio.engines.onnx import flow_files, vocoder_files
from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.vocoder_decoder import graph_vocoder
from studio.engines.quantized.building import write_quantized_flow, write_quantized_vocoder
from studio.engines.stage import Device
from studio.engines.tensorrt.building import Profile
from studio.engines.tensorrt.library import Library
from studio.engines.tensorrt.plan_graph import PlanGraph
from studio.engines.tensorrt.profiles import flow_profiles, vocoder_profiles
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, Vocoder

# Graph file, plan file, and the optimization profiles.
Written = Sequence[tuple[Path, Path, Sequence[Profile]]]


def write_flow_graphs(job: BuildJob, graphs: Path, precision: Precision, phase: str) -> Written:
    """Write the flow's graphs into ``graphs`` and their description into the job's folder."""
    checkpoint, report = job.target.checkpoint, _reporter(job, phase)
    if precision is Precision.INT8:
        write_quantized_flow(checkpoint, graphs, _calibration_device(job), report)
    else:
        flow_files.write_flow(checkpoint, graphs, precision, report)
    shapes = flow_files.read_shapes(graphs)
    shutil.copyfile(graphs / flow_files.SHAPES, job.workspace / flow_files.SHAPES)
    profiles = flow_profiles(shapes)
    names = (flow_files.ENCODER, flow_files.STEP)
    return [(graphs / name, plan_path(job.workspace, name), profiles) for name in names]


def write_vocoder_graphs(job: BuildJob, graphs: Path, precision: Precision, phase: str) -> Written:
    """Write the vocoder's graph into ``graphs`` and its description into the job's folder."""
    checkpoint, report = job.target.checkpoint, _reporter(job, phase)
    if precision is Precision.INT8:
        write_quantized_vocoder(checkpoint, graphs, _calibration_device(job), report)
    else:
        vocoder_files.write_vocoder(checkpoint, graphs, precision, report)
    shapes = vocoder_files.read_shapes(graphs)
    shutil.copyfile(graphs / vocoder_files.SHAPES, job.workspace / vocoder_files.SHAPES)
    profiles = vocoder_profiles(shapes, checkpoint.vocoder.look_right_frames)
    name = vocoder_files.DECODER
    return [(graphs / name, plan_path(job.workspace, name), profiles)]


def _reporter(job: BuildJob, phase: str) -> Callable[[float, float], None]:
    def report(done: float, total: float) -> None:
        job.report(phase, done, total)

    return report


def _calibration_device(job: BuildJob) -> Device:
    """Calibrate on the processor: activation ranges do not depend on the device."""
    return processor(job.target.device.num_threads)


def open_flow(folder: Path, library: Library, target: EngineTarget, *, num_contexts: int) -> FlowDecoder:
    """Raises ``DamagedModelFile``, ``OutOfMemory``."""
    encoder, step = (
        _open(folder, name, library, target, num_contexts) for name in (flow_files.ENCODER, flow_files.STEP)
    )
    return GraphFlowDecoder(FlowRunner(encoder, step, flow_files.read_shapes(folder), blocks_at_once=1))


def open_vocoder(folder: Path, library: Library, target: EngineTarget, *, num_contexts: int) -> Vocoder:
    """Raises ``DamagedModelFile``, ``OutOfMemory``."""
    decoder = _open(folder, vocoder_files.DECODER, library, target, num_contexts)
    plain = vocoder_files.plain_network(target.checkpoint)
    return graph_vocoder(plain, decoder, vocoder_files.read_shapes(folder))


def plan_path(folder: Path, graph_name: str) -> Path:
    return (folder / graph_name).with_suffix(".plan")


def _open(folder: Path, graph_name: str, library: Library, target: EngineTarget, num_contexts: int) -> PlanGraph:
    path, device = plan_path(folder, graph_name), torch.device(target.device.torch_name)
    return PlanGraph(library, path.read_bytes(), device, num_contexts=num_contexts, file_name=path.name)
