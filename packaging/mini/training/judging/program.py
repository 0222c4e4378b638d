"""The evaluated model, run as in the app: by the program's synthesizer, with streaming."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

from studio.errors import NoSpeechMade
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, RequestControl, SynthesisReport, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer
from training.corpus.utterance import SAMPLE_RATE, FloatArray


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

    def _speak(self, text: str, clip: Clip) -> Said:
        voice = VoiceReference(clip.path, transcript=clip.transcript, name=clip.name)
        request = SynthesisRequest(text=text, voice=voice, seed=len(text))
        chunks = self._synthesizer.stream(request, control=RequestControl())
        samples: list[FloatArray] = []
        try:
            while True:
                samples.append(next(chunks).samples)
        except StopIteration as end:
            report: SynthesisReport = end.value
        except NoSpeechMade:
            return Said(np.zeros(SAMPLE_RATE // 10, np.float32), float("inf"), float("inf"))
        return Said(np.concatenate(samples), report.first_audio_seconds, report.real_time_factor)
