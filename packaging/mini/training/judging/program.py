"""The evaluated model, run as in the app: by the program's synthesizer, with streaming."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import soundfile

from studio.errors import NoSpeechMade
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, RequestControl, SynthesisReport, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer
from studio.text.segmentation import IncrementalText, TextPart
from training.corpus.utterance import SAMPLE_RATE, FloatArray

# Time between words or Chinese characters: 150 words or 240 characters a minute.
_SECONDS_BETWEEN = {"en": 0.4, "zh": 0.25}
_PIECES = {"en": re.compile(r"\S+\s*"), "zh": re.compile(r"\w\W*")}
_SILENCE = np.zeros(SAMPLE_RATE // 10, np.float32)


@dataclass(frozen=True, slots=True)
class Clip:
    """A prompt and its transcript. ``language`` is "en" or "zh"."""

    name: str
    path: Path
    transcript: str
    language: str

    @property
    def samples(self) -> FloatArray:
        samples, _ = soundfile.read(self.path, dtype="float32")
        return np.asarray(samples, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    samples: FloatArray = field(repr=False)
    first_audio_seconds: float
    real_time_factor: float


@dataclass(frozen=True, slots=True, eq=False)
class SaidArriving:
    """Speech of a text that arrived word by word. Times are in seconds after the first word."""

    samples: FloatArray = field(repr=False)
    first_audio_seconds: float
    written_seconds: float  # when the last word arrived


class Program:
    """A model folder, opened by ``studio.pipeline``. Results are stored in the folder ``sounds``, for listening."""

    def __init__(self, folder: Path, sounds: Path, *, num_threads: int | None = None) -> None:
        """Raise ``StudioError`` for a folder without a model."""
        self._synthesizer: Synthesizer = load_synthesizer(folder, EngineOptions(num_threads=num_threads))
        self._sounds = sounds
        self._said: dict[tuple[str, str], Said] = {}

    def say(self, text: str, clip: Clip) -> Said:
        """Synthesize each request once. If the model generates no speech, return a short silence."""
        if (text, clip.name) not in self._said:
            self._said[text, clip.name] = said = self._speak(text, clip)
            self._sounds.mkdir(parents=True, exist_ok=True)
            number = sum(1 for _, name in self._said if name == clip.name)
            soundfile.write(self._sounds / f"{clip.name}-{number:02d}.wav", said.samples, SAMPLE_RATE, subtype="PCM_16")
        return self._said[text, clip.name]

    def say_arriving(self, text: str, clip: Clip) -> SaidArriving:
        """Synthesize ``text`` while it is typed at a constant speed. If the model generates no speech, return silence."""
        self.say(clip.transcript, clip)  # prepares the voice
        parts: SimpleQueue[TextPart | None] = SimpleQueue()
        begun = time.monotonic()
        written_seconds = 0.0

        def write() -> None:
            nonlocal written_seconds
            divider = IncrementalText(interleaves=True)
            try:
                for number, piece in enumerate(_PIECES[clip.language].findall(text)):
                    time.sleep(_SECONDS_BETWEEN[clip.language] if number else 0.0)
                    written_seconds = time.monotonic() - begun
                    for part in divider.feed(piece):
                        parts.put(part)
                for part in divider.finish():
                    parts.put(part)
            finally:
                parts.put(None)

        writing = threading.Thread(target=write)
        writing.start()
        samples = [np.zeros(0, np.float32)]
        first_audio_seconds = float("inf")
        while (part := parts.get()) is not None:
            request = self._request(part.text, clip, seed=len(text))
            try:
                for chunk in self._synthesizer.stream(request, control=RequestControl(), text=part.arriving):
                    first_audio_seconds = min(first_audio_seconds, time.monotonic() - begun)
                    samples.append(chunk.samples)
            except NoSpeechMade:
                continue
        writing.join()
        said = np.concatenate(samples)
        return SaidArriving(said if len(said) else _SILENCE, first_audio_seconds, written_seconds)

    def _request(self, text: str, clip: Clip, *, seed: int) -> SynthesisRequest:
        voice = VoiceReference(clip.path, transcript=clip.transcript, name=clip.name)
        return SynthesisRequest(text=text, voice=voice, seed=seed)

    def _speak(self, text: str, clip: Clip) -> Said:
        request = self._request(text, clip, seed=len(text))
        chunks = self._synthesizer.stream(request, control=RequestControl())
        samples: list[FloatArray] = []
        try:
            while True:
                samples.append(next(chunks).samples)
        except StopIteration as end:
            report: SynthesisReport = end.value
        except NoSpeechMade:
            return Said(_SILENCE, float("inf"), float("inf"))
        return Said(np.concatenate(samples), report.first_audio_seconds, report.real_time_factor)
