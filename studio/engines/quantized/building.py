"""Write flow and vocoder in 8 bits: calibrate, quantise, and check the distortion on held-out clips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from studio.audio.waveform import Waveform
from studio.engines.distance import mel_distance_db
from studio.engines.onnx import flow_files, vocoder_files
from studio.engines.onnx.flow_decoder import GraphFlowDecoder
from studio.engines.onnx.flow_runner import FlowRunner
from studio.engines.onnx.opening import open_flow, open_vocoder
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.onnx.vocoder_decoder import graph_vocoder
from studio.engines.quantized.calibration import PERCENTILE, Inputs, RecordingGraph, quantize
from studio.engines.quantized.clips import CalibrationClip, calibration_clips
from studio.engines.stage import Device
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FloatArray, FlowDecoder, Vocoder
from studio.voices.features import prompt_mel

# Limit of the mel-cepstral distortion against float32 on held-out clips.
MAX_DISTORTION_DB = 0.8
# The first and last layers stay float32: their activations are mel, spectrum and audio themselves.
_FLOW_KEPT = ("input_embed/proj", "final_proj", "proj_out")
_VOCODER_KEPT = ("conv_pre", "conv_post")
# How many of a block's ten steps are recorded, chosen at random for each clip.
_RECORDED_STEPS = 3

Report = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """Amount of speech for calibration. Its ``repr`` is part of cache keys."""

    num_clips: int = 100
    num_held_out: int = 8
    percentile: float = PERCENTILE


def write_quantized_flow(
    checkpoint: Checkpoint, folder: Path, device: Device, report: Report, effort: Effort = Effort()
) -> float:
    """Fill ``folder`` as ``write_flow`` does, with an 8-bit step; return the distortion in decibels.

    ``report`` receives the clips done and their total; it may raise to cancel. Raises ``UnsupportedPrecision`` if the
    distortion exceeds the limit.
    """
    flow_files.write_flow(checkpoint, folder, Precision.FLOAT32, lambda _done, _total: report(0, _total_of(effort)))
    held_out = calibration_clips(checkpoint, effort.num_held_out, held_out=True)
    wanted = [_decode(open_flow(folder, device, blocks_at_once=1), clip) for clip in held_out]
    step = RecordingGraph(OrtGraph(folder / flow_files.STEP, device), ())
    encoder, shapes = OrtGraph(folder / flow_files.ENCODER, device), flow_files.read_shapes(folder)
    flow = GraphFlowDecoder(FlowRunner(encoder, step, shapes, blocks_at_once=1))
    generator = np.random.default_rng(2)

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(calibration_clips(checkpoint, effort.num_clips)):
            state = flow.prepare_prompt(clip.prompt)
            step.start(set(generator.choice(2 * shapes.num_steps, _RECORDED_STEPS, replace=False).tolist()))
            flow.open_stream(state).decode(clip.tokens, ())
            yield step.recorded
            report(index + 1, _total_of(effort))

    quantize(folder / flow_files.STEP, runs(), kept=_FLOW_KEPT, percentile=effort.percentile)
    quantised = open_flow(folder, device, blocks_at_once=1)
    found = [_decode(quantised, clip) for clip in held_out]
    return _check_distortion(wanted, found, effort, report)


def write_quantized_vocoder(
    checkpoint: Checkpoint, folder: Path, device: Device, report: Report, effort: Effort = Effort()
) -> float:
    """Fill ``folder`` as ``write_vocoder`` does, in 8 bits; otherwise like ``write_quantized_flow``."""
    vocoder_files.write_vocoder(checkpoint, folder, Precision.FLOAT32, lambda _d, _t: report(0, _total_of(effort)))
    held_out = calibration_clips(checkpoint, effort.num_held_out, held_out=True)
    graph = RecordingGraph(OrtGraph(folder / vocoder_files.DECODER, device), ())
    vocoder = graph_vocoder(vocoder_files.plain_network(checkpoint), graph, vocoder_files.read_shapes(folder))
    wanted = [_audio_mel(vocoder, clip, checkpoint) for clip in held_out]

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(calibration_clips(checkpoint, effort.num_clips)):
            # The first chunk starts an utterance, the second continues it.
            graph.start({0, 1})
            stream = vocoder.open_stream(vocoder.noise(index))
            mel = torch.from_numpy(clip.mel)
            half = mel.shape[1] // 2
            stream.synthesize(mel[:, :half], is_last=False)
            stream.synthesize(mel[:, half:], is_last=True)
            yield graph.recorded
            report(index + 1, _total_of(effort))

    quantize(folder / vocoder_files.DECODER, runs(), kept=_VOCODER_KEPT, percentile=effort.percentile)
    quantised = open_vocoder(folder, checkpoint, device)
    found = [_audio_mel(quantised, clip, checkpoint) for clip in held_out]
    return _check_distortion(wanted, found, effort, report)


def _total_of(effort: Effort) -> int:
    return effort.num_clips + 1  # one more for the distortion check


def _decode(flow: FlowDecoder, clip: CalibrationClip) -> FloatArray:
    mel: FloatArray = flow.open_stream(flow.prepare_prompt(clip.prompt)).decode(clip.tokens, ()).numpy()
    return mel


def _audio_mel(vocoder: Vocoder, clip: CalibrationClip, checkpoint: Checkpoint) -> FloatArray:
    """Return the mel (bins, frames) of the synthesized audio."""
    samples = vocoder.synthesize_whole(torch.from_numpy(clip.mel), vocoder.noise(0))
    waveform = Waveform(samples.numpy(), vocoder.sample_rate)
    return np.ascontiguousarray(prompt_mel(waveform, checkpoint.prompt_mel).T)


def _check_distortion(
    wanted: Sequence[FloatArray], found: Sequence[FloatArray], effort: Effort, report: Report
) -> float:
    distortion = float(np.mean([mel_distance_db(*pair) for pair in zip(wanted, found, strict=True)]))
    if not distortion <= MAX_DISTORTION_DB:
        raise UnsupportedPrecision(
            "With 8 bits the audio differs from float32 by {distortion:.2f} dB, more than {limit:g} dB.",
            remedy="Another engine is used.",
            distortion=distortion,
            limit=MAX_DISTORTION_DB,
        )
    report(_total_of(effort), _total_of(effort))
    return distortion
