"""Benchmarks of each stage: run a candidate on the recorded inputs, compare its output, and time it."""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch

from studio.audio.waveform import Waveform
from studio.engines.reference_io import (
    LogitsRecorder,
    ReferenceIO,
    as_tokens,
    random_tokens,
    streamed_mel,
    streamed_samples,
)
from studio.engines.stage import Stage
from studio.engines.task import TrialSize
from studio.engines.verification import apply_limits
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.measurements import Timing, Verification, compare
from studio.model.mel_distance import mel_distance_db
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FloatArray, FlowDecoder, SpeakerEncoder, SpeechLM, SpeechTokenizer, Vocoder
from studio.voices.features import prompt_mel


class StageBenchmark(ABC):
    """Verification and timing of one stage on one recording."""

    stage: ClassVar[Stage]

    def __init__(self, reference_io: ReferenceIO, checkpoint: Checkpoint, trial_size: TrialSize) -> None:
        self.reference_io = reference_io
        self.checkpoint = checkpoint
        self.trial_size = trial_size

    def verify(self, engine: Any, precision: Precision) -> Verification:
        """Compare ``engine`` with the recording and apply the limits. Errors of the engine are passed on."""
        with torch.inference_mode():
            found = self.compare(engine)
            if found.is_finite and not self.stays_finite(engine):
                found = replace(found, is_finite=False)
        return apply_limits(self.stage, precision, found)

    @abstractmethod
    def compare(self, engine: Any) -> Verification: ...

    def stays_finite(self, engine: Any) -> bool:  # noqa: ARG002 - not every stage can overflow
        """Return whether the output stays finite on other lines, which are not recorded."""
        return True

    @abstractmethod
    def work(self, engine: Any) -> Callable[[], Iterator[object]]:
        """Return the function to time: one line, streamed if the model supports it.

        Work that is needed once per voice is done here.
        """

    @property
    def audio_seconds(self) -> float:
        """Seconds of speech that ``work`` produces."""
        return self.checkpoint.generation.seconds_of_tokens(len(self.reference_io.speech_tokens))


class ClipBenchmark(StageBenchmark):
    """Benchmark of a stage that reads the clip in one call."""

    @abstractmethod
    def run(self, engine: Any) -> Any:
        """Return the output for the clip."""

    def work(self, engine: Any) -> Callable[[], Iterator[object]]:
        return lambda: iter((self.run(engine),))

    @property
    def audio_seconds(self) -> float:
        return float(self.reference_io.clip_seconds[0])


class SpeechTokenizerTrial(ClipBenchmark):
    stage = Stage.SPEECH_TOKENIZER

    def run(self, engine: SpeechTokenizer) -> tuple[int, ...]:
        return engine.tokenize(self.reference_io.log_mel)

    def compare(self, engine: SpeechTokenizer) -> Verification:
        wanted = as_tokens(self.reference_io.clip_tokens)
        found = self.run(engine)[: len(wanted)]
        same = sum(ours == theirs for ours, theirs in zip(wanted, found, strict=False))
        return Verification(True, 0.0, 0.0, len(found), agreement=same / max(1, len(wanted)))


class SpeakerEncoderTrial(ClipBenchmark):
    stage = Stage.SPEAKER_ENCODER

    def run(self, engine: SpeakerEncoder) -> FloatArray:
        return engine.embed(self.reference_io.fbank)

    def compare(self, engine: SpeakerEncoder) -> Verification:
        return compare(self.reference_io.embedding, np.asarray(self.run(engine)))


class SpeechLMTrial(StageBenchmark):
    stage = Stage.SPEECH_LM

    def compare(self, engine: SpeechLM) -> Verification:
        """Compare the next token's scores, given the recorded tokens before it, less each row's mean."""
        recorder = LogitsRecorder(as_tokens(self.reference_io.speech_tokens))
        for _ in engine.generate(self.reference_io.speech_request(), recorder):
            pass
        wanted, found = _centred(self.reference_io.scores), _centred(recorder.scores())
        verification = compare(wanted, found)
        is_same = wanted.argmax(axis=1) == found.argmax(axis=1) if verification.is_finite else np.zeros(1)
        return replace(verification, agreement=float(is_same.mean()))

    def work(self, engine: SpeechLM) -> Callable[[], Iterator[object]]:
        request, options = self.reference_io.speech_request(), self.checkpoint.speech_lm.sampling
        shifts = itertools.cycle(range(len(request.text_tokens)))

        def generate() -> Iterator[int]:
            """Generate another text with other random numbers in each round, because vLLM keeps states of earlier texts."""
            shift = next(shifts)
            text = request.text_tokens[shift:] + request.text_tokens[:shift]
            # The sampler of synthesis: engines that sample themselves pass the scores of each token to any other.
            return engine.generate(replace(request, text_tokens=text), RepetitionAwareSampler(options, seed=shift))

        return generate


class FlowTrial(StageBenchmark):
    stage = Stage.FLOW

    def compare(self, engine: FlowDecoder) -> Verification:
        prompt, tokens = self.reference_io.flow_prompt(), as_tokens(self.reference_io.speech_tokens)
        state = engine.prepare_prompt(prompt)
        streamed = _joined(streamed_mel(engine, state, len(prompt.speech_tokens), tokens))
        whole = engine.decode_whole(prompt, tokens).float().cpu().numpy()
        pairs = ((self.reference_io.mel, streamed), (self.reference_io.whole_mel, whole))
        worst = max((compare(*pair) for pair in pairs), key=lambda verification: verification.relative_error)
        return replace(worst, mel_distance_db=max(mel_distance_db(*pair) for pair in pairs))

    def stays_finite(self, engine: FlowDecoder) -> bool:
        prompt = self.reference_io.flow_prompt()
        state = engine.prepare_prompt(prompt)
        for seed in range(self.trial_size.num_seeds):
            tokens = random_tokens(self.checkpoint.speech_lm, self.trial_size.num_tokens, seed)
            line = streamed_mel(engine, state, len(prompt.speech_tokens), tokens)
            if not all(bool(mel.isfinite().all()) for mel in line):
                return False
        return True

    def work(self, engine: FlowDecoder) -> Callable[[], Iterator[object]]:
        prompt, tokens = self.reference_io.flow_prompt(), as_tokens(self.reference_io.speech_tokens)
        if not engine.streams_exactly:
            return lambda: iter((engine.decode_whole(prompt, tokens),))
        state = engine.prepare_prompt(prompt)
        return lambda: streamed_mel(engine, state, len(prompt.speech_tokens), tokens)


class VocoderTrial(StageBenchmark):
    stage = Stage.VOCODER

    def compare(self, engine: Vocoder) -> Verification:
        found = _joined(streamed_samples(engine, self._mel()))
        wanted = self.reference_io.samples
        is_comparable = np.isfinite(found).all() and found.shape == wanted.shape
        distance_db = mel_distance_db(self._mel_of(wanted), self._mel_of(found)) if is_comparable else float("inf")
        return replace(compare(wanted, found), mel_distance_db=distance_db)

    def stays_finite(self, engine: Vocoder) -> bool:
        mel = torch.from_numpy(self.reference_io.whole_mel.copy())
        return bool(engine.synthesize_whole(mel, engine.noise(1)).isfinite().all())

    def work(self, engine: Vocoder) -> Callable[[], Iterator[object]]:
        return lambda: streamed_samples(engine, self._mel())

    def _mel(self) -> torch.Tensor:
        return torch.from_numpy(self.reference_io.mel.copy())

    def _mel_of(self, samples: FloatArray) -> FloatArray:
        settings = self.checkpoint.prompt_mel
        waveform = Waveform(samples, self.checkpoint.vocoder.sample_rate)
        return prompt_mel(waveform.resampled(settings.sample_rate), settings).T


TRIALS: dict[Stage, type[StageBenchmark]] = {
    trial.stage: trial for trial in (SpeechTokenizerTrial, SpeakerEncoderTrial, SpeechLMTrial, FlowTrial, VocoderTrial)
}


def time_interleaved(
    trial: StageBenchmark, engine: Any, reference: Any, between: Callable[[], None] = lambda: None
) -> Timing:
    """Time both engines alternately and keep the best round of each; call ``between`` before each round.

    The first round warms up, and counts only if there is no time for another.
    """
    ours, theirs = trial.work(engine), trial.work(reference)
    seconds: list[tuple[float, float, float]] = []
    begun = time.perf_counter()
    while len(seconds) <= trial.trial_size.num_rounds:
        between()
        first, total = _seconds(ours)
        _, reference_total = _seconds(theirs)
        seconds.append((first, total, reference_total))
        if time.perf_counter() - begun > trial.trial_size.timing_seconds:
            break
    counted = seconds[1:] or seconds
    return Timing(
        seconds_per_audio_second=min(total for _, total, _ in counted) / trial.audio_seconds,
        reference_seconds_per_audio_second=min(total for _, _, total in counted) / trial.audio_seconds,
        first_seconds=min(first for first, _, _ in counted),
        num_rounds=len(counted),
    )


def time_alone(
    trial: StageBenchmark, engine: Any, reference_seconds: float, between: Callable[[], None] = lambda: None
) -> Timing:
    """Time ``engine`` and compare it with ``reference_seconds``, measured earlier. For engines that do not fit together."""
    num_rounds, (first, total) = _best_times(trial, engine, between)
    return Timing(
        seconds_per_audio_second=total / trial.audio_seconds,
        reference_seconds_per_audio_second=reference_seconds / trial.audio_seconds,
        first_seconds=first,
        num_rounds=num_rounds,
    )


def time_single(trial: StageBenchmark, engine: Any, between: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """Return the best seconds until the first and the last result of a line; the first round warms up."""
    return _best_times(trial, engine, between)[1]


def _best_times(trial: StageBenchmark, engine: Any, between: Callable[[], None]) -> tuple[int, tuple[float, float]]:
    """Return the number of counted rounds, and their shortest times until the first and the last result."""
    work = trial.work(engine)
    seconds: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(seconds) <= trial.trial_size.num_rounds:
        between()
        seconds.append(_seconds(work))
        if time.perf_counter() - begun > trial.trial_size.timing_seconds:
            break
    counted = seconds[1:] or seconds
    return len(counted), (min(first for first, _ in counted), min(total for _, total in counted))


def _seconds(work: Callable[[], Iterator[object]]) -> tuple[float, float]:
    """Return the seconds until the first and the last result."""
    started = time.perf_counter()
    first = None
    with torch.inference_mode():
        for result in work():
            if isinstance(result, torch.Tensor) and result.device.type != "cpu":
                torch.get_device_module(result.device).synchronize(result.device)
            if first is None:
                first = time.perf_counter() - started
    total = time.perf_counter() - started
    return total if first is None else first, total


def _joined(pieces: Iterable[torch.Tensor]) -> FloatArray:
    joined: FloatArray = torch.cat(list(pieces), dim=-1).float().cpu().numpy()
    return joined


def _centred(scores: FloatArray) -> FloatArray:
    centred: FloatArray = scores - scores.mean(axis=1, keepdims=True)
    return centred
