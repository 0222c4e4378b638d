"""Write the graphs of a stage with the sizes TensorRT optimises for, and open a stage from its plans.

Optimization profiles describe the sizes of streamed chunks and of whole utterances. The minimum, optimum and maximum
sizes of a profile are each consistent: TensorRT rejects impossible combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from studio.engines.candidate import BuildJob, EngineTarget
from studio.engines.machine import processor
from studio.engines.onnx import files
from studio.engines.onnx.graph import FlowShapes, VocoderShapes
from studio.engines.onnx.non_causal_flow import NonCausalFlowShapes
from studio.engines.quantized.building import write_quantized_flow, write_quantized_vocoder
from studio.engines.stage import Stage
from studio.engines.tensorrt.building import Profile, SizeRange
from studio.engines.tensorrt.library import Library
from studio.engines.tensorrt.plan_graph import PlanGraph
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, Vocoder

# Two minutes of prompt and speech in a stream, one minute at once; scripts are split into shorter sentences.
MAX_STREAM_TOKENS, MAX_WHOLE_TOKENS = 3000, 1500
_TOKENS_PER_SECOND = 25  # of these numbers
_USUAL_PAST_TOKENS, _USUAL_WHOLE_TOKENS = 175, 350
_BLANK = 1  # the first frame of every cache
_MAX_WINDOW_FRAMES, _USUAL_WINDOW_FRAMES = 150, 66
# Concurrent lines.
_NUM_CONTEXTS = 2


def write_graphs(
    stage: Stage, precision: Precision, job: BuildJob, folder: Path, report: files.Report
) -> dict[Path, Sequence[Profile]]:
    """Write the stage's graphs into ``folder`` and their description into the job's; return the profiles of each graph."""
    checkpoint = job.target.checkpoint
    # Activation ranges do not depend on the device, so calibration runs on the CPU.
    calibration_device = processor(job.target.device.num_threads)
    if stage is Stage.FLOW:
        if precision is Precision.INT8:
            write_quantized_flow(checkpoint, folder, calibration_device, report)
        else:
            files.write_flow(checkpoint, folder, precision, report)
        if checkpoint.flow.length_regulator is not None:
            NonCausalFlowShapes.read(folder).write(job.workspace)
            return {folder / files.FLOW_STEP: (non_causal_flow_profile(checkpoint),)}
        flow_shapes = FlowShapes.read(folder)
        flow_shapes.write(job.workspace)
        return {folder / name: flow_profiles(flow_shapes) for name in (files.FLOW_ENCODER, files.FLOW_STEP)}
    if precision is Precision.INT8:
        write_quantized_vocoder(checkpoint, folder, calibration_device, report)
    else:
        files.write_vocoder(checkpoint, folder, precision, report)
    shapes = VocoderShapes.read(folder)
    shapes.write(job.workspace)
    return {folder / files.VOCODER_DECODER: vocoder_profiles(shapes, checkpoint.vocoder.look_right_frames)}


def plan_path(folder: Path, graph: Path) -> Path:
    """Return the path in ``folder`` of the plan that is built from ``graph``."""
    return folder / graph.with_suffix(".plan").name


def open_stage(
    stage: Stage, precision: Precision, folder: Path, library: Library, target: EngineTarget
) -> FlowDecoder | Vocoder:
    """Open the stage from the plans in ``folder``. Raises ``DamagedModelFile``, ``OutOfMemory``."""
    device = torch.device(target.device.torch_name)

    def open_graph(graph: Path) -> PlanGraph:
        path = plan_path(folder, graph)
        return PlanGraph(library, path.read_bytes(), device, num_contexts=_NUM_CONTEXTS, file_name=path.name)

    if stage is Stage.FLOW:
        return files.open_any_flow(folder, target.checkpoint, precision, open_graph, blocks_at_once=1)
    return files.open_vocoder(folder, target.checkpoint, open_graph)


def flow_profiles(shapes: FlowShapes) -> tuple[Profile, Profile]:
    """Return the profiles of both flow graphs: a block with cached frames, and a whole utterance without."""
    grid = shapes.chunk_tokens
    stream = _flow_profile(
        shapes, own=SizeRange(1, grid, grid), past=SizeRange(0, _USUAL_PAST_TOKENS, MAX_STREAM_TOKENS)
    )
    whole = _flow_profile(shapes, own=SizeRange(1, _USUAL_WHOLE_TOKENS, MAX_WHOLE_TOKENS), past=SizeRange(0, 0, 0))
    return stream, whole


def non_causal_flow_profile(checkpoint: Checkpoint) -> Profile:
    """Return the profile of CosyVoice-300M's step: a prompt and a sentence, as long together as those of a stream."""
    frames_per_second = checkpoint.generation.frame_rate
    most, usual = (
        round(frames_per_second * tokens / _TOKENS_PER_SECOND) for tokens in (MAX_WHOLE_TOKENS, _USUAL_WHOLE_TOKENS)
    )
    return {"frames": SizeRange(2, usual, most)}


def vocoder_profiles(shapes: VocoderShapes, look_right_frames: int) -> tuple[Profile, ...]:
    """Return the profiles of the decoder.

    A causal one gets profiles for later chunks and for the first chunk, another for windows and for whole utterances.
    """
    frames = SizeRange(1, _USUAL_WINDOW_FRAMES, _MAX_WINDOW_FRAMES)
    if not shapes.tails:
        most = 2 * MAX_WHOLE_TOKENS
        whole = SizeRange(1, 2 * _USUAL_WHOLE_TOKENS, most)
        return tuple({"frames": own, "columns": _columns(shapes, own, 1)} for own in (frames, whole))
    first = {f"{port.name}_columns": _exactly(port.first_columns) for port in shapes.tails}
    later = {f"{port.name}_columns": _exactly(port.columns) for port in shapes.tails}
    mel = _plus(frames, _exactly(look_right_frames))
    return tuple(
        tails | {"frames_and_look_right": mel, "columns": _columns(shapes, frames, num_leading)}
        for tails, num_leading in ((later, 0), (first, 1))
    )


def _flow_profile(shapes: FlowShapes, *, own: SizeRange, past: SizeRange) -> Profile:
    profile: dict[str, SizeRange] = {"tokens_and_look_ahead": _plus(own, _exactly(shapes.lookahead_tokens))}
    for clock, rate in (("tokens", 1), ("frames", shapes.frames_per_token)):
        profile[clock] = _times(own, rate)
        profile[f"{clock}_past"] = _plus(_times(past, rate), _exactly(_BLANK))
        profile[f"{clock}_seen"] = _plus(profile[clock], profile[f"{clock}_past"])
    return profile


def _columns(shapes: VocoderShapes, frames: SizeRange, num_leading: int) -> SizeRange:
    return _plus(_times(frames, shapes.columns_per_frame), _exactly(num_leading))


def _exactly(size: int) -> SizeRange:
    return SizeRange(size, size, size)


def _times(size: SizeRange, factor: int) -> SizeRange:
    return SizeRange(factor * size.least, factor * size.usual, factor * size.most)


def _plus(one: SizeRange, other: SizeRange) -> SizeRange:
    return SizeRange(one.least + other.least, one.usual + other.usual, one.most + other.most)
