"""A model of a few dozen lines for tests of the worker, the client and the command line.

It says one chunk a word: 0.1 s of the constant 0.1 x (position of the word). What else it does is
asked for in the text, see ``_say``; how it opens, by the folder's name, see ``open_fake``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from studio.audio.files import read_audio
from studio.errors import ModelNotFound, NothingToSpeak
from studio.pipeline.control import RequestControl
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    LengthFinding,
    LengthVerdict,
    Mode,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)

SAMPLE_RATE = 24_000
CHUNK_SAMPLES = 2_400
Chunks = Generator[AudioChunk, None, SynthesisReport]


def open_fake(folder: Path, options: EngineOptions) -> FakeModel:
    match folder.name:
        case "missing":
            raise ModelNotFound(f"There is no model folder {folder}.", remedy="Choose another.")
        case "no-torch":
            raise ImportError("No module named 'torch'")
        case "slow-load":
            time.sleep(60)
    return FakeModel(folder, options)


def open_talkative(folder: Path, options: EngineOptions) -> FakeModel:
    print("the fake model is open")  # noqa: T201 - as libraries do
    return open_fake(folder, options)


class FakeModel:
    """``requests``: all it was asked. Of a folder named three-at-once, it gains by speaking three lines at once."""

    promised_seconds = 0.25
    warnings: tuple[str, ...] = ()

    def __init__(self, folder: Path, options: EngineOptions) -> None:
        self.options = options
        self.is_closed = False
        self.num_finished_writes = 0
        self.requests: list[SynthesisRequest | ConversionRequest] = []
        self.description = EngineDescription(
            model_name=folder.name,
            generation="CosyVoice3",
            folder=str(folder),
            sample_rate=SAMPLE_RATE,
            device=options.device,
            stages={"speech_lm": options.speech_lm_precision},
            weights_key=f"weights of {folder.name}",
            makes_noise=folder.name.startswith("noise"),
            max_concurrent_lines=3 if folder.name == "three-at-once" else 1,
        )

    def prepare_voice(self, voice: VoiceReference, *, progress: Callable[[str, float], None]) -> VoiceSummary:
        for share in (0.5, 1.0):
            progress("voice", share)
        return VoiceSummary(voice.name, 3.0, 75, 10, 1000, warnings=("a little quiet",))

    def stream(self, request: SynthesisRequest, *, control: RequestControl, in_batch: bool = False) -> Chunks:
        self.requests.append(request)
        yield from self._say(iter([request.text]), request.mode, control)
        is_odd = "babble" in request.text or ("mumble" in request.text and request.is_played)
        odd = (LengthFinding(request.text, LengthVerdict.TOO_LONG),) if is_odd else ()
        return replace(self._report(request.mode, request.text), odd_lengths=odd)

    def stream_pieces(self, request: SynthesisRequest, pieces: Iterator[str], *, control: RequestControl) -> Chunks:
        self.requests.append(request)
        spoken: list[str] = []
        heard = (spoken.append(piece) or piece for piece in pieces)
        yield from self._say(heard, request.mode, control)
        return self._report(request.mode, "".join(spoken))

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        self.requests.append(request)
        if request.source.is_file():
            read_audio(request.source)
        words = "converted speech wait" if "wait" in request.source.stem else "converted speech"
        yield from self._say(iter([words]), Mode.CONVERSION, control)
        return self._report(Mode.CONVERSION, "")

    def finish_writes(self, control: RequestControl) -> None:
        self.num_finished_writes += 1
        for share in (0.5, 1.0):
            control.report_progress("save", share)

    def close(self) -> None:
        self.is_closed = True

    def _say(self, pieces: Iterator[str], mode: Mode, control: RequestControl) -> Iterator[AudioChunk]:
        position = 0
        for piece in pieces:
            for word in piece.split():
                self._obey(word, control)
                position += 1
                yield AudioChunk(np.full(CHUNK_SAMPLES, 0.1 * (position % 10), np.float32), SAMPLE_RATE)
                if position == 1:
                    control.report_estimate(self.promised_seconds)
                control.report_progress("speech", position / 10)

    def _obey(self, word: str, control: RequestControl) -> None:
        match word:
            case "nothing":
                raise NothingToSpeak("There is nothing to speak.", remedy="Write a word.")
            case "memory":
                raise MemoryError
            case "torch-memory":
                raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")
            case "bug":
                raise ZeroDivisionError("division by zero")
            case "card-fault":
                raise RuntimeError("CUDA error: an illegal memory access was encountered")
            case "exit":
                sys.stderr.write("leaving\n")
                sys.exit(3)
            case "wait":
                while not control.is_cancelled:
                    time.sleep(0.005)
                control.raise_if_cancelled()
            case "stuck":
                time.sleep(600)
            case "rest":
                time.sleep(0.1)
            case "breathe":
                time.sleep(0.01)

    def _report(self, mode: Mode, text: str) -> SynthesisReport:
        return SynthesisReport(
            first_audio_seconds=0.2,
            audio_seconds=0.1 * max(1, len(text.split())),
            total_seconds=0.4,
            sample_rate=SAMPLE_RATE,
            mode=mode,
            num_speech_tokens=25,
            stages={"speech_lm": 0.1, "flow": 0.2, "vocoder": 0.1},
            engine={"speech_lm": "fake"},
            spoken_text=(text,),
            warnings=self.warnings,
        )
