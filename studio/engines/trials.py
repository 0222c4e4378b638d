"""One trial a stage: a candidate does what was recorded, is compared with the recording, and is timed.

A trial keeps the promise of the stage to itself: whoever runs trials need not know what a stage takes.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
import torch

from studio.audio.waveform import Waveform
from studio.engines.distance import Distance, distance, mel_distance_db
from studio.engines.limits import apply_tolerances
from studio.engines.manifest import Timing, Verification
from studio.engines.reference_io import (
    TOKENS_PER_SECOND,
    LogitsRecorder,
    ReferenceIO,
    as_tokens,
    random_tokens,
    streamed_mel,
    streamed_samples,
)
from studio.engines.stage import Stage
from studio.engines.trial_size import TrialSize
from studio.model.checkpoint import Checkpoint
from studio.model.config import Precision
from studio.model.stages import FlowDecoder, SpeakerEncoder, SpeechLM, SpeechTokenizer, Vocoder
from studio.voices.features import prompt_mel


class StageBenchmark(ABC):
    """Of one stage, on one recording."""

    stage: ClassVar[Stage]

    def __init__(self, recording: ReferenceIO, checkpoint: Checkpoint, extent: TrialSize) -> None:
        self.recording = recording
        self.checkpoint = checkpoint
        self.extent = extent

    def verify(self, engine: Any, precision: Precision) -> Verification:
        """What ``engine`` (the promise of ``stage``) makes of the recording, judged. Raises what the engine raises."""
        with torch.inference_mode():
            found = self.compare(engine)
            if found.is_finite and not self.stays_finite(engine):
                found = Verification(False, found.relative_error, found.max_error, found.num_values)
        return apply_tolerances(self.stage, precision, found)

    @abstractmethod
    def compare(self, engine: Any) -> Verification: ...

    def stays_finite(self, engine: Any) -> bool:  # noqa: ARG002 - not every stage can overflow
        """Over further lines that were not recorded."""
        return True

    @abstractmethod
    def work(self, engine: Any) -> Callable[[], Iterator[object]]:
        """What is timed: a line as speaking asks for it, result by result; what a voice needs once is done before."""

    @property
    def audio_seconds(self) -> float:
        """How much speech ``work`` stands for."""
        return len(self.recording.speech_tokens) / TOKENS_PER_SECOND


class SpeechTokenizerTrial(StageBenchmark):
    stage = Stage.SPEECH_TOKENIZER

    def compare(self, engine: SpeechTokenizer) -> Verification:
        wanted = as_tokens(self.recording.clip_tokens)
        found = engine.tokenize(self.recording.log_mel)[: len(wanted)]
        same = sum(ours == theirs for ours, theirs in zip(wanted, found, strict=False))
        return Verification(True, 0.0, 0.0, len(found), agreement=same / max(1, len(wanted)))

    def work(self, engine: SpeechTokenizer) -> Callable[[], Iterator[object]]:
        return lambda: iter((engine.tokenize(self.recording.log_mel),))

    @property
    def audio_seconds(self) -> float:
        return float(self.recording.clip_seconds[0])


class SpeakerEncoderTrial(StageBenchmark):
    stage = Stage.SPEAKER_ENCODER

    def compare(self, engine: SpeakerEncoder) -> Verification:
        return _plain(distance(self.recording.embedding, np.asarray(engine.embed(self.recording.fbank))))

    def work(self, engine: SpeakerEncoder) -> Callable[[], Iterator[object]]:
        return lambda: iter((engine.embed(self.recording.fbank),))

    @property
    def audio_seconds(self) -> float:
        return float(self.recording.clip_seconds[0])


class SpeechLMTrial(StageBenchmark):
    stage = Stage.SPEECH_LM

    def compare(self, engine: SpeechLM) -> Verification:
        """Scores of the next token with the recorded tokens before it, each row's mean taken off."""
        keeper = LogitsRecorder(as_tokens(self.recording.speech_tokens))
        for _ in engine.generate(self.recording.speech_request(), keeper):
            pass
        wanted, found = _centred(self.recording.scores), _centred(keeper.scores())
        apart = distance(wanted, found)
        agreement = float((wanted.argmax(axis=1) == found.argmax(axis=1)).mean()) if apart.is_finite else 0.0
        return Verification(
            apart.is_finite, apart.relative_error, apart.max_error, apart.num_values, agreement=agreement
        )

    def work(self, engine: SpeechLM) -> Callable[[], Iterator[object]]:
        tokens = as_tokens(self.recording.speech_tokens)
        return lambda: engine.generate(self.recording.speech_request(), LogitsRecorder(tokens))


class FlowTrial(StageBenchmark):
    stage = Stage.FLOW

    def compare(self, engine: FlowDecoder) -> Verification:
        prompt, tokens = self.recording.flow_prompt(), as_tokens(self.recording.speech_tokens)
        state = engine.prepare_prompt(prompt)
        streamed = _joined(streamed_mel(engine, state, len(prompt.speech_tokens), tokens))
        whole = engine.decode_whole(prompt, tokens).float().cpu().numpy()
        worst = max(
            (distance(self.recording.mel, streamed), distance(self.recording.whole_mel, whole)),
            key=lambda apart: apart.relative_error,
        )
        return Verification(
            worst.is_finite,
            worst.relative_error,
            worst.max_error,
            worst.num_values,
            mel_distance_db=max(
                mel_distance_db(self.recording.mel, streamed), mel_distance_db(self.recording.whole_mel, whole)
            ),
        )

    def stays_finite(self, engine: FlowDecoder) -> bool:
        prompt = self.recording.flow_prompt()
        state = engine.prepare_prompt(prompt)
        for seed in range(self.extent.num_seeds):
            tokens = random_tokens(self.checkpoint.speech_lm, self.extent.num_tokens, seed)
            line = streamed_mel(engine, state, len(prompt.speech_tokens), tokens)
            if not all(bool(mel.isfinite().all()) for mel in line):
                return False
        return True

    def work(self, engine: FlowDecoder) -> Callable[[], Iterator[object]]:
        prompt, tokens = self.recording.flow_prompt(), as_tokens(self.recording.speech_tokens)
        state = engine.prepare_prompt(prompt)
        return lambda: streamed_mel(engine, state, len(prompt.speech_tokens), tokens)


class VocoderTrial(StageBenchmark):
    stage = Stage.VOCODER

    def compare(self, engine: Vocoder) -> Verification:
        found = _joined(streamed_samples(engine, self._mel()))
        apart = distance(self.recording.samples, found)
        return Verification(
            apart.is_finite,
            apart.relative_error,
            apart.max_error,
            apart.num_values,
            mel_distance_db=mel_distance_db(self._heard(self.recording.samples), self._heard(found))
            if apart.is_finite and found.shape == self.recording.samples.shape
            else float("inf"),
        )

    def stays_finite(self, engine: Vocoder) -> bool:
        mel = torch.from_numpy(self.recording.whole_mel.copy())
        return bool(engine.synthesize_whole(mel, engine.noise(1)).isfinite().all())

    def work(self, engine: Vocoder) -> Callable[[], Iterator[object]]:
        return lambda: streamed_samples(engine, self._mel())

    def _mel(self) -> torch.Tensor:
        return torch.from_numpy(self.recording.mel.copy())

    def _heard(self, samples: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
        settings = self.checkpoint.prompt_mel
        mel = prompt_mel(
            Waveform(samples, self.checkpoint.vocoder.sample_rate).resampled(settings.sample_rate), settings
        )
        return mel.T


TRIALS: dict[Stage, type[StageBenchmark]] = {
    trial.stage: trial for trial in (SpeechTokenizerTrial, SpeakerEncoderTrial, SpeechLMTrial, FlowTrial, VocoderTrial)
}


def time_interleaved(
    trial: StageBenchmark, engine: Any, reference: Any, between: Callable[[], None] = lambda: None
) -> Timing:
    """Both do the same work in turns; the best of each counts. ``between`` is called before each turn.

    The first turn of each warms up, and counts only where there is no time for another.
    """
    ours, theirs = trial.work(engine), trial.work(reference)
    seconds: list[tuple[float, float, float]] = []
    begun = time.perf_counter()
    while len(seconds) <= trial.extent.num_rounds:
        between()
        first, total = _seconds(ours)
        _, reference_total = _seconds(theirs)
        seconds.append((first, total, reference_total))
        if time.perf_counter() - begun > trial.extent.timing_seconds:
            break
    counted = seconds[1:] or seconds
    return Timing(
        seconds_per_audio_second=min(total for _, total, _ in counted) / trial.audio_seconds,
        reference_seconds_per_audio_second=min(total for _, _, total in counted) / trial.audio_seconds,
        first_seconds=min(first for first, _, _ in counted),
        num_rounds=len(counted),
    )


def time_single(trial: StageBenchmark, engine: Any) -> tuple[float, float]:
    """Seconds until the first result of a line and until its last, the best of some turns; the first turn warms up."""
    work = trial.work(engine)
    begun = time.perf_counter()
    seconds = [_seconds(work)]
    while len(seconds) <= trial.extent.num_rounds and time.perf_counter() - begun <= trial.extent.timing_seconds:
        seconds.append(_seconds(work))
    counted = seconds[1:] or seconds
    return min(first for first, _ in counted), min(total for _, total in counted)


def _seconds(work: Callable[[], Iterator[object]]) -> tuple[float, float]:
    """Until the first result, and until the last."""
    started = time.perf_counter()
    first = None
    with torch.inference_mode():
        for result in work():
            if isinstance(result, torch.Tensor) and result.is_cuda:
                torch.cuda.synchronize(result.device)
            if first is None:
                first = time.perf_counter() - started
    total = time.perf_counter() - started
    return total if first is None else first, total


def _joined(pieces: Iterable[torch.Tensor]) -> np.ndarray[Any, np.dtype[np.float32]]:
    joined: np.ndarray[Any, np.dtype[np.float32]] = torch.cat(list(pieces), dim=-1).float().cpu().numpy()
    return joined


def _centred(scores: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    centred: np.ndarray[Any, np.dtype[np.float32]] = scores - scores.mean(axis=1, keepdims=True)
    return centred


def _plain(apart: Distance) -> Verification:
    return Verification(apart.is_finite, apart.relative_error, apart.max_error, apart.num_values)
