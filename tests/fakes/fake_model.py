"""A small fake model for tests of the worker, the client and the command line.

It returns one chunk for each word: 0.1 s of the constant 0.1 times the position of the word. A line is a sentence. Some
words have special effects (see ``_execute``), and so have some folder names (see ``open_fake``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from waiting import wait_until

from studio.audio.files import read_audio
from studio.engines.overview import EngineAction, EngineStatus
from studio.errors import ModelNotFound, NothingToSpeak
from studio.model.options import Quality
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    EngineOptions,
    FlowQuality,
    LengthFinding,
    LengthVerdict,
    Mode,
    RequestControl,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
    VoiceSummary,
)
from studio.text.arriving import ArrivingText

SAMPLE_RATE = 24_000
CHUNK_SAMPLES = 2_400
Chunks = Generator[AudioChunk, None, SynthesisReport]


def open_fake(folder: Path, options: EngineOptions, _control: RequestControl | None = None) -> FakeModel:
    match folder.name:
        case "missing":
            raise ModelNotFound(f"There is no model folder {folder}.", remedy="Choose another.")
        case "no-torch":
            raise ImportError("No module named 'torch'")
        case "slow-load":
            time.sleep(60)
    return FakeModel(folder, options)


def open_talkative(folder: Path, options: EngineOptions, _control: RequestControl) -> FakeModel:
    print("the fake model is open")  # noqa: T201 - as libraries do
    return open_fake(folder, options)


def _quality_of(request: SynthesisRequest | ConversionRequest) -> FlowQuality:
    """Return invented measurements of a quality that is not exact."""
    return FlowQuality() if request.quality is Quality.EXACT else FlowQuality(request.quality, 0.25, 0.5)


class FakeModel:
    """Records all ``requests``. In a folder named three-at-once, it runs three lines concurrently.

    It speaks a text with "drawl" more slowly from the second time on.
    """

    estimated_seconds = 0.25
    warnings: tuple[str, ...] = ()

    def __init__(self, folder: Path, options: EngineOptions) -> None:
        self.options = options
        self.is_closed = False
        self.num_finished_writes = 0
        self.requests: list[SynthesisRequest | ConversionRequest] = []
        self.description = EngineDescription(
            model_name=folder.name,
            generation="cosyvoice3",
            folder=str(folder),
            sample_rate=SAMPLE_RATE,
            device="cpu" if options.device == "auto" else options.device,
            stages={"speech_lm": options.speech_lm_precision},
            weights_key=f"weights of {folder.name}",
            makes_noise=folder.name.startswith("noise"),
            is_provisional=options.compares_later,
            max_concurrent_lines=3 if folder.name == "three-at-once" else 1,
            interleaves_text=folder.name == "interleaves",
        )

    def prepare_voice(self, voice: VoiceReference, *, control: RequestControl) -> VoiceSummary:
        for share in (0.5, 1.0):
            control.raise_if_cancelled()
            control.report_progress("voice", share)
        return VoiceSummary(voice.name, 3.0, 75, 10, warnings=("a little quiet",))

    def stream(
        self,
        request: SynthesisRequest,
        *,
        control: RequestControl,
        in_batch: bool = False,
        text: ArrivingText | None = None,
    ) -> Chunks:
        self.requests.append(request)
        if text is not None:
            return (yield from self._speak_arriving(request, text, control))
        if any(known.replaced for known in request.known_tokens):
            return (yield from self._repair(request))
        is_fast = (request.preset or "").startswith("speed.")
        is_slow = "drawl" in request.text and sum(each.text == request.text for each in self.requests) > 1
        samples = CHUNK_SAMPLES * 3 // 4 if is_fast else CHUNK_SAMPLES * (5 if is_slow else 4) // 4
        lines = [line for line in request.text.splitlines() if line.strip()] or [""]
        index = request.num_skipped
        while index < len(lines) and not (index > request.num_skipped and control.is_stopped_early):
            start = len(" ".join(lines[:index]).split())
            for chunk in self._speak(lines[index], control, start=start, samples=samples):
                yield replace(
                    chunk, sentence_index=request.first_index + index, num_sentences=request.first_index + len(lines)
                )
            index += 1
        is_whole = index - request.num_skipped == len(lines)
        spoken = request.text if is_whole else "\n".join(lines[request.num_skipped : index])
        is_odd = "babble" in request.text or ("mumble" in request.text and request.is_played)
        odd = (LengthFinding(request.text, LengthVerdict.TOO_LONG),) if is_odd else ()
        report = replace(self._report(request.mode, spoken), num_items=index - request.num_skipped)
        return replace(report, odd_lengths=odd, quality=_quality_of(request))

    def _repair(self, request: SynthesisRequest) -> Chunks:
        """Speak 0.1 s for each token, a constant of a thousandth of it. New tokens begin at 900; there is one more."""
        evidence: list[SentenceEvidence] = []
        for known in request.known_tokens:
            tokens = known.speech_tokens
            if known.replaced is not None:
                start, end = known.replaced
                tokens = (*tokens[:start], *range(900, 901 + end - start), *tokens[end:])
            for token in tokens:
                yield AudioChunk(np.full(CHUNK_SAMPLES, token / 1000, np.float32), SAMPLE_RATE)
            start_seconds = evidence[-1].to_seconds if evidence else 0.0
            to_seconds = start_seconds + 0.1 * len(tokens)
            evidence.append(SentenceEvidence(known.spoken_text, start_seconds, to_seconds, tokens, token_seconds=0.1))
        return replace(self._report(request.mode, request.text), evidence=tuple(evidence))

    def _speak_arriving(self, request: SynthesisRequest, text: ArrivingText, control: RequestControl) -> Chunks:
        control.when_cancelled(text.close)
        num_words = 0
        for fragment in text:
            for chunk in self._speak(fragment.text, control, start=num_words):
                yield replace(chunk, sentence_index=request.first_index, num_sentences=request.first_index + 1)
            num_words += len(fragment.text.split())
        return self._report(request.mode, text.written.strip())

    def convert(self, request: ConversionRequest, *, control: RequestControl) -> Chunks:
        self.requests.append(request)
        if request.source.is_file():
            read_audio(request.source)
        words = "converted speech wait" if "wait" in request.source.stem else "converted speech"
        yield from self._speak(words, control)
        return replace(self._report(Mode.CONVERSION, ""), quality=_quality_of(request))

    def read_recording(self, request: SynthesisRequest, source: Path, *, control: RequestControl) -> SynthesisReport:
        """Read ten tokens a second, from 100 on."""
        self.requests.append(request)
        seconds = round(read_audio(source).seconds, 1)
        tokens = tuple(range(100, 100 + round(10 * seconds)))
        evidence = SentenceEvidence(request.text, 0.0, seconds, tokens, token_seconds=0.1)
        return replace(self._report(Mode.RECORDING, request.text), audio_seconds=seconds, evidence=(evidence,))

    def watch_engines(self, on_status: Callable[[EngineStatus], None]) -> None: ...

    def manage_engines(self, action: EngineAction, keys: Collection[str]) -> int:
        return 0

    def finish_writes(self, control: RequestControl) -> None:
        self.num_finished_writes += 1
        for share in (0.5, 1.0):
            control.report_progress("save", share)

    def close(self) -> None:
        self.is_closed = True

    def _speak(
        self, text: str, control: RequestControl, start: int = 0, samples: int = CHUNK_SAMPLES
    ) -> Iterator[AudioChunk]:
        for position, word in enumerate(text.split(), start + 1):
            self._execute(word, control)
            yield AudioChunk(np.full(samples, 0.1 * (position % 10), np.float32), SAMPLE_RATE)
            if position == 1:
                control.report_estimate(self.estimated_seconds)
            control.report_progress("speech", position / 10)

    def _execute(self, word: str, control: RequestControl) -> None:
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
            case "listen.":
                wait_until(lambda: control.is_stopped_early)
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
            voice_was_cached=True,
            device_memory_bytes=12_000_000,
            max_concurrent_lines=self.description.max_concurrent_lines,
            evidence=(SentenceEvidence(text, 0.0, 0.1 * max(1, len(text.split()))),) if text else (),
        )
