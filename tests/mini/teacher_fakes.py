"""A teacher that hums, and pronunciation without lexicons, for corpora of a few seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from training.corpus import rendering
from training.corpus.build import make_shard
from training.corpus.plan import Job
from training.corpus.store import PLAN_FILE, Corpus
from training.corpus.utterance import SAMPLE_RATE, SAMPLES_PER_HALF_FRAME, FloatArray
from training.teacher.english import UnknownWord
from training.teacher.mandarin import MandarinText
from training.teacher.network import SAMPLES_PER_FRAME, Mixture, Prosody, TeacherReading, TeacherSpeech


class FakeTeacher:
    """Each symbol is a tone of its own, as long as four frames, longer when slow, with silence around all of them."""

    def speak(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherSpeech:
        frames = _frames(phonemes, prosody)
        hertz = np.array([0, *(200 + 37 * (ord(symbol) % 64) for symbol in phonemes), 0], np.float64)
        phase = np.cumsum(np.repeat(hertz, np.multiply(frames, SAMPLES_PER_FRAME))) / SAMPLE_RATE
        return TeacherSpeech(phonemes, frames, (0.1 * np.sin(2 * np.pi * phase)).astype(np.float32))

    def read(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherReading:
        frames = _frames(phonemes, prosody)
        num_halves = sum(frames) * SAMPLES_PER_FRAME // SAMPLES_PER_HALF_FRAME // 2 * 2
        is_silent = np.ones(num_halves, bool)
        is_silent[5:-5] = False
        return TeacherReading(phonemes, frames, np.full(num_halves, 120.0, np.float32), is_silent)


def _frames(phonemes: str, prosody: Prosody) -> tuple[int, ...]:
    return (4, *([round(4 / prosody.rate)] * len(phonemes)), 4)


class FakeSounds:
    """Letters are phonemes; each Han character is one syllable."""

    def english(self, text: str, accent: str) -> str:
        if "Xyzzy" in text:
            raise UnknownWord("Xyzzy")
        return text.lower()

    def mandarin(self, text: str, accent: str) -> MandarinText:
        return MandarinText("ma→ ni↓" * (len(text) // 2), ("ma1", "ni3") * (len(text) // 2))


def measured_without_praat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every line have an F0 of 120 Hz throughout."""

    def measured(samples: FloatArray) -> FloatArray:
        return np.full(len(samples) // 480, 120.0, np.float32)

    monkeypatch.setattr(rendering, "f0_of", measured)


def fake_teacher_corpus(folder: Path, monkeypatch: pytest.MonkeyPatch, *, num_lines: int = 12) -> Corpus:
    """Write lines of both languages by two training voices and an unseen one, and open them."""
    measured_without_praat(monkeypatch)
    voices = ("train-000", "train-001", "validation-000")
    jobs = [
        Job(text, language, "sentence", voice, "normal", "train" if voice[0] == "t" else "validation")
        for number in range(num_lines // 6)
        for voice in voices
        for language, text in (("en", f"It is number {number} of all."), ("zh", f"这是第{number}个。"))
    ]
    write(folder, jobs)
    (folder / PLAN_FILE).write_text('{"seed": 0, "texts_and_voices": ""}', "utf-8")
    return Corpus.open(folder)


def write(folder: Path, jobs: Sequence[Job]) -> float:
    """Write one shard and return its seconds."""
    return make_shard(folder, 0, jobs, FakeTeacher(), FakeSounds(), seed=0)
