"""Flow and vocoder in eight bits: calibrated, written, and held to the gate on clips they were not calibrated with."""

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
from studio.engines.quantized.calibration import PERCENTILE, Inputs, ListeningGraph, quantise
from studio.engines.quantized.material import SpokenClip, spoken_clips
from studio.engines.stage import Device
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FloatArray, FlowDecoder, Vocoder
from studio.voices.features import prompt_mel

# The gate: mel-cepstral distortion against float32 on held-out clips.
MOST_DISTORTION_DB = 0.8
# The first and last layers: their activations are mel, spectrum and sound themselves.
_FLOW_KEPT = ("input_embed/proj", "final_proj", "proj_out")
_VOCODER_KEPT = ("conv_pre", "conv_post")
# Of the ten steps of a block, these many are listened to; which ones changes from clip to clip.
_STEPS_LISTENED_TO = 3

Report = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much speech a calibration takes."""

    num_clips: int = 100
    num_held_out: int = 8
    percentile: float = PERCENTILE


def write_quantised_flow(
    checkpoint: Checkpoint, folder: Path, device: Device, report: Report, effort: Effort = Effort()
) -> float:
    """Fills ``folder`` as ``write_flow`` does, the step in eight bits; the distortion in decibels.

    ``report`` hears clips done of all; it may raise to cancel. Raises ``UnsupportedPrecision`` behind the gate.
    """
    flow_files.write_flow(checkpoint, folder, Precision.FLOAT32, lambda _done, _total: report(0, _total_of(effort)))
    held_out = spoken_clips(checkpoint, effort.num_held_out, held_out=True)
    wanted = [_said(open_flow(folder, device, blocks_at_once=1), clip) for clip in held_out]
    step = ListeningGraph(OrtGraph(folder / flow_files.STEP, device), ())
    encoder, shapes = OrtGraph(folder / flow_files.ENCODER, device), flow_files.read_shapes(folder)
    flow = GraphFlowDecoder(FlowRunner(encoder, step, shapes, blocks_at_once=1))
    generator = np.random.default_rng(2)

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(spoken_clips(checkpoint, effort.num_clips)):
            state = flow.prepare_prompt(clip.prompt)
            step.start(set(generator.choice(2 * shapes.num_steps, _STEPS_LISTENED_TO, replace=False).tolist()))
            flow.open_stream(state).decode(clip.tokens, ())
            yield step.heard
            report(index + 1, _total_of(effort))

    quantise(folder / flow_files.STEP, runs(), kept=_FLOW_KEPT, percentile=effort.percentile)
    quantised = open_flow(folder, device, blocks_at_once=1)
    found = [_said(quantised, clip) for clip in held_out]
    return _gated(wanted, found, effort, report)


def write_quantised_vocoder(
    checkpoint: Checkpoint, folder: Path, device: Device, report: Report, effort: Effort = Effort()
) -> float:
    """Fills ``folder`` as ``write_vocoder`` does, in eight bits; otherwise as ``write_quantised_flow``."""
    vocoder_files.write_vocoder(checkpoint, folder, Precision.FLOAT32, lambda _d, _t: report(0, _total_of(effort)))
    held_out = spoken_clips(checkpoint, effort.num_held_out, held_out=True)
    graph = ListeningGraph(OrtGraph(folder / vocoder_files.DECODER, device), ())
    vocoder = graph_vocoder(vocoder_files.plain_network(checkpoint), graph, vocoder_files.read_shapes(folder))
    wanted = [_heard(vocoder, clip, checkpoint) for clip in held_out]

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(spoken_clips(checkpoint, effort.num_clips)):
            # The first of its chunks begins an utterance, the second goes on.
            graph.start({0, 1})
            stream = vocoder.open_stream(vocoder.noise(index))
            mel = torch.from_numpy(clip.mel)
            half = mel.shape[1] // 2
            stream.synthesize(mel[:, :half], is_last=False)
            stream.synthesize(mel[:, half:], is_last=True)
            yield graph.heard
            report(index + 1, _total_of(effort))

    quantise(folder / vocoder_files.DECODER, runs(), kept=_VOCODER_KEPT, percentile=effort.percentile)
    quantised = open_vocoder(folder, checkpoint, device)
    found = [_heard(quantised, clip, checkpoint) for clip in held_out]
    return _gated(wanted, found, effort, report)


def _total_of(effort: Effort) -> int:
    return effort.num_clips + 1  # judging is one more


def _said(flow: FlowDecoder, clip: SpokenClip) -> FloatArray:
    mel: FloatArray = flow.open_stream(flow.prepare_prompt(clip.prompt)).decode(clip.tokens, ()).numpy()
    return mel


def _heard(vocoder: Vocoder, clip: SpokenClip, checkpoint: Checkpoint) -> FloatArray:
    """The mel (bins, frames) of the sound."""
    samples = vocoder.synthesize_whole(torch.from_numpy(clip.mel), vocoder.noise(0))
    sound = Waveform(samples.numpy(), vocoder.sample_rate)
    return np.ascontiguousarray(prompt_mel(sound, checkpoint.prompt_mel).T)


def _gated(wanted: Sequence[FloatArray], found: Sequence[FloatArray], effort: Effort, report: Report) -> float:
    distortion = float(np.mean([mel_distance_db(*pair) for pair in zip(wanted, found, strict=True)]))
    if not distortion <= MOST_DISTORTION_DB:
        raise UnsupportedPrecision(
            "In eight bits the sound differs by {distortion:.2f} dB from full precision, more than {limit:g} dB.",
            remedy="Another engine is used instead.",
            distortion=distortion,
            limit=MOST_DISTORTION_DB,
        )
    report(_total_of(effort), _total_of(effort))
    return distortion
