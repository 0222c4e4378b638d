"""A model that sleeps instead of computing, to measure what a service or a cluster adds to a line.

Each word of the text is a chunk of 0.1 s and takes ``CHUNK_SECONDS``. The first samples of a chunk contain the time at
which it was produced. The others depend on the text and the seed, so that lines can be compared bit for bit.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Collection, Generator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.engines.overview import EngineAction, EngineStatus
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    Mode,
    RequestControl,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)

SAMPLE_RATE = 24_000
CHUNK_SAMPLES = 2_400
CHUNK_SECONDS = 0.1
# Digits of the time in microseconds, four in each of the first samples.
TIME_SAMPLES = 4
_STEP = 10_000
# File for the id of the process that owns the worker, written when a line begins.
BUSY_VARIABLE = "TIMBRE_SLEEPING_MODEL_BUSY"
_STATE_BYTES = 1 << 20
_VOICES_IN_MEMORY = 4

Chunks = Generator[AudioChunk, None, SynthesisReport]


def open_sleeping(folder: Path, options: EngineOptions, _control: RequestControl) -> SleepingModel:
    return SleepingModel(folder, options)


def time_of(samples: npt.NDArray[np.int16]) -> float:
    """Return the time of a chunk, in seconds on the clock of ``time.monotonic``."""
    digits = (int(value) * _STEP**position for position, value in enumerate(samples[:TIME_SAMPLES]))
    return float(sum(digits)) / 1e6


class SleepingModel:
    """Prepared voices are kept in memory only, so that ``voice_was_cached`` refers to this worker."""

    def __init__(self, folder: Path, options: EngineOptions) -> None:
        self._voices: set[bytes] = set()
        self.description = EngineDescription(
            model_name=folder.name,
            generation="cosyvoice3",
            folder=str(folder),
            sample_rate=SAMPLE_RATE,
            device=options.device,
            stages={},
            voice_memory_bytes=_VOICES_IN_MEMORY * _STATE_BYTES,
        )

    def prepare_voice(self, voice: VoiceReference, *, control: RequestControl) -> VoiceSummary:
        del control
        self._voices.add(_digest(voice))
        return VoiceSummary(voice.name, 10.0, 250, 10, state_bytes=_STATE_BYTES)

    def stream(self, request: SynthesisRequest, *, control: RequestControl, in_batch: bool = False) -> Chunks:
        del in_batch
        text = request.text
        started = time.monotonic()
        _note_busy()
        voice = _digest(request.voice)
        was_cached = voice in self._voices
        self._voices.add(voice)
        noise = np.random.default_rng([request.seed, *text.encode()])
        num_chunks = len(text.split())
        for _ in range(num_chunks):
            time.sleep(CHUNK_SECONDS)
            control.raise_if_cancelled()
            levels = noise.integers(0, _STEP, CHUNK_SAMPLES)
            microseconds = int(time.monotonic() * 1e6)
            levels[:TIME_SAMPLES] = [microseconds // _STEP**position % _STEP for position in range(TIME_SAMPLES)]
            # Exactly representable in 16 bits.
            yield AudioChunk((levels / 32_768).astype(np.float32), SAMPLE_RATE)
        seconds = num_chunks * CHUNK_SAMPLES / SAMPLE_RATE
        return SynthesisReport(
            first_audio_seconds=CHUNK_SECONDS,
            audio_seconds=seconds,
            total_seconds=time.monotonic() - started,
            sample_rate=SAMPLE_RATE,
            mode=Mode.ZERO_SHOT,
            num_speech_tokens=0,
            stages={},
            engine={},
            voice_was_cached=was_cached,
        )

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        raise NotImplementedError

    def watch_engines(self, on_status: Callable[[EngineStatus], None]) -> None: ...

    def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int:
        del action, keys
        return 0

    def finish_writes(self, control: RequestControl) -> None: ...

    def close(self) -> None: ...


def _digest(voice: VoiceReference) -> bytes:
    return hashlib.sha256(voice.clip.read_bytes()).digest()


def _note_busy() -> None:
    """Write the id of the process that started this one."""
    if path := os.environ.get(BUSY_VARIABLE):
        Path(path).write_text(str(os.getppid()), "utf-8")
