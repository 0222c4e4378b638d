"""Write flow and vocoder in 8 bits: calibrate on clips of the bundled voices, quantise, and check the distortion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from studio import paths
from studio.audio.files import read_audio
from studio.audio.waveform import Waveform
from studio.engines.onnx import files
from studio.engines.onnx.ort_graph import OrtGraph
from studio.engines.quantized.calibration import PERCENTILE, Inputs, RecordingGraph, quantize
from studio.engines.stage import Device
from studio.errors import UnsupportedPrecision
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.limits import LIMITS
from studio.model.mel_distance import mel_distance_db
from studio.model.stages import FloatArray, FlowDecoder, FlowPrompt, Vocoder
from studio.voices.features import kaldi_fbank, prompt_mel, whisper_log_mel

# Limit of the mel-cepstral distortion against float32 on held-out clips.
MAX_DISTORTION_DB = LIMITS[Precision.INT8].mel_distance_db
# The first and last layers stay float32: their activations are mel, spectrum and audio themselves.
_FLOW_KEPT = ("input_embed/proj", "final_proj", "proj_out")
_VOCODER_KEPT = ("conv_pre", "conv_post")
# How many solver steps of a clip's two blocks are recorded, chosen at random.
_RECORDED_STEPS = 3
_TOKENIZER_RATE = 16_000
_MAX_SECONDS = 15.0
# One block of prompt and one of speech, each with look-ahead tokens.
_PROMPT_TOKENS, _SPOKEN_TOKENS = 28, 25


@dataclass(frozen=True, slots=True)
class Effort:
    """Amount of speech for calibration. Its ``repr`` is part of cache keys."""

    num_clips: int = 100
    num_held_out: int = 8
    percentile: float = PERCENTILE


@dataclass(frozen=True, slots=True)
class CalibrationClip:
    """The prompt of one voice, and ``tokens`` of the same or another voice to decode with it.

    ``mel`` (80, frames) is the recorded mel of the tokens.
    """

    prompt: FlowPrompt = field(repr=False)
    tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Voice:
    """Tokens and mel (frames, 80) of a bundled voice, and its speaker embedding."""

    tokens: tuple[int, ...]
    mel: FloatArray = field(repr=False)
    embedding: FloatArray = field(repr=False)


def calibration_clips(
    checkpoint: Checkpoint, count: int, *, held_out: bool = False, seed: int = 1
) -> list[CalibrationClip]:
    """Return ``count`` random clips of the calibration voices, or of the held-out voice.

    Raises any error of reading the clips or loading the front end.
    """
    names = sorted(path.name for path in (paths.resources() / "voices").glob("*.wav"))
    chosen = names[-1:] if held_out else names[:-1]
    voices = [_encode_voice(checkpoint, name) for name in chosen]
    generator, frames_of = np.random.default_rng(seed), checkpoint.generation.frames_of_tokens
    clips = []
    for _ in range(count):
        speaking, spoken = (voices[int(generator.integers(len(voices)))] for _ in range(2))
        start = int(generator.integers(len(speaking.tokens) - _PROMPT_TOKENS))
        stop = start + _PROMPT_TOKENS
        voice_mel = np.ascontiguousarray(speaking.mel[frames_of(start) : frames_of(stop)])
        prompt = FlowPrompt(speaking.tokens[start:stop], voice_mel, speaking.embedding)
        start = int(generator.integers(len(spoken.tokens) - _SPOKEN_TOKENS))
        stop = start + _SPOKEN_TOKENS
        mel = np.ascontiguousarray(spoken.mel[frames_of(start) : frames_of(stop)].T)
        clips.append(CalibrationClip(prompt, spoken.tokens[start:stop], mel))
    return clips


def _encode_voice(checkpoint: Checkpoint, name: str) -> _Voice:
    clip, generation = read_audio(paths.resources() / "voices" / name), checkpoint.generation
    at_16k = clip.resampled(_TOKENIZER_RATE)
    tokens = checkpoint.load_speech_tokenizer(1).tokenize(whisper_log_mel(at_16k)[:, : int(100 * _MAX_SECONDS)])
    mel = prompt_mel(clip.resampled(checkpoint.prompt_mel.sample_rate), checkpoint.prompt_mel)
    num_tokens = min(len(tokens), generation.tokens_of_frames(len(mel)))
    embedding = checkpoint.load_speaker_encoder(1).embed(kaldi_fbank(at_16k))
    return _Voice(tokens[:num_tokens], mel[: generation.frames_of_tokens(num_tokens)], embedding)


def write_quantized_flow(
    checkpoint: Checkpoint, folder: Path, device: Device, report: files.Report, effort: Effort = Effort()
) -> float:
    """Fill ``folder`` as ``write_flow`` does, with an 8-bit step; return the distortion in decibels.

    ``report`` receives the number of clips done and their total; it may raise an exception to cancel. Raises
    ``UnsupportedPrecision`` if the distortion exceeds the limit.
    """
    files.write_flow(checkpoint, folder, Precision.FLOAT32, lambda _done, _total: report(0, _count_steps(effort)))
    held_out = calibration_clips(checkpoint, effort.num_held_out, held_out=True)
    step_path = folder / files.FLOW_STEP
    step = RecordingGraph(OrtGraph(step_path, device))
    flow = files.open_flow(folder, lambda path: step if path == step_path else OrtGraph(path, device), blocks_at_once=1)
    wanted = [_decode(flow, clip) for clip in held_out]
    generator, num_runs = np.random.default_rng(2), 2 * checkpoint.flow.solver.num_steps  # two blocks

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(calibration_clips(checkpoint, effort.num_clips)):
            state = flow.prepare_prompt(clip.prompt)
            step.start(generator.choice(num_runs, _RECORDED_STEPS, replace=False).tolist())
            flow.open_stream(state).decode(clip.tokens, ())
            yield step.recorded
            report(index + 1, _count_steps(effort))

    quantize(step_path, runs(), kept=_FLOW_KEPT, percentile=effort.percentile)
    quantised = files.open_flow(folder, lambda path: OrtGraph(path, device), blocks_at_once=1)
    return _check_distortion(wanted, [_decode(quantised, clip) for clip in held_out], effort, report)


def write_quantized_vocoder(
    checkpoint: Checkpoint, folder: Path, device: Device, report: files.Report, effort: Effort = Effort()
) -> float:
    """Fill ``folder`` as ``write_vocoder`` does, in 8 bits; otherwise like ``write_quantized_flow``."""
    files.write_vocoder(checkpoint, folder, Precision.FLOAT32, lambda _done, _total: report(0, _count_steps(effort)))
    held_out = calibration_clips(checkpoint, effort.num_held_out, held_out=True)
    decoder_path = folder / files.VOCODER_DECODER
    decoder = RecordingGraph(OrtGraph(decoder_path, device))
    vocoder = files.open_vocoder(folder, checkpoint, lambda _path: decoder)
    wanted = [_audio_mel(vocoder, clip, checkpoint) for clip in held_out]

    def runs() -> Iterator[Sequence[Inputs]]:
        for index, clip in enumerate(calibration_clips(checkpoint, effort.num_clips)):
            # The first chunk starts an utterance, the second continues it.
            decoder.start((0, 1))
            stream = vocoder.open_stream(vocoder.noise(index))
            mel = torch.from_numpy(clip.mel)
            half = mel.shape[1] // 2
            stream.synthesize(mel[:, :half], is_last=False)
            stream.synthesize(mel[:, half:], is_last=True)
            yield decoder.recorded
            report(index + 1, _count_steps(effort))

    quantize(decoder_path, runs(), kept=_VOCODER_KEPT, percentile=effort.percentile)
    quantised = files.open_vocoder(folder, checkpoint, lambda path: OrtGraph(path, device))
    return _check_distortion(wanted, [_audio_mel(quantised, clip, checkpoint) for clip in held_out], effort, report)


def _count_steps(effort: Effort) -> int:
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
    wanted: Sequence[FloatArray], found: Sequence[FloatArray], effort: Effort, report: files.Report
) -> float:
    distortion = float(np.mean([mel_distance_db(*pair) for pair in zip(wanted, found, strict=True)]))
    if not distortion <= MAX_DISTORTION_DB:
        raise UnsupportedPrecision(
            "With 8 bits the audio differs from float32 by {distortion:.2f} dB, more than {limit:g} dB.",
            remedy="Another engine is used.",
            distortion=distortion,
            limit=MAX_DISTORTION_DB,
        )
    report(_count_steps(effort), _count_steps(effort))
    return distortion
