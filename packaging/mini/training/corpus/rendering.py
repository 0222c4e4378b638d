"""One line, from its text to a recording or a reading: normalisation, phonemes, the teacher, and effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from studio.text.language import Language
from studio.text.split import ParagraphEnd
from studio.text.spoken import finish, shown, spoken_transcript
from studio.text.tokenizer import COSYVOICE3_TEXT
from training.corpus.acoustics import f0_of
from training.corpus.effects import LEVEL_DBFS, active_level_dbfs, limited, whispered, with_effort
from training.corpus.lines import Line, Reading, Recording
from training.corpus.phones import VOICED, timed_labels
from training.corpus.plan import Job
from training.corpus.styles import DELIVERY_OF_STYLE, Effort
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME, SAMPLES_PER_TOKEN, FloatArray
from training.corpus.voices import VoiceRecipe
from training.teacher.mandarin import MandarinText
from training.teacher.network import MAX_SYMBOLS, Mixture, Prosody, TeacherReading, TeacherSpeech

_LANGUAGES = {"en": Language.ENGLISH, "zh": Language.CHINESE}
_LEVEL_SPREAD_DB = 1.5
_MIN_SYMBOLS = 3


class Synthesizer(Protocol):
    """``Teacher``, or a fake of it."""

    def speak(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherSpeech: ...

    def read(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherReading: ...


class Sounds(Protocol):
    """The pronunciation of both languages."""

    def english(self, text: str, accent: str) -> str: ...

    def mandarin(self, text: str, accent: str) -> MandarinText: ...


def rendered(
    job: Job, voice: VoiceRecipe, synthesizer: Synthesizer, sounds: Sounds, random: np.random.Generator
) -> Recording | None:
    """Return the recording of ``job``, or None if a word has no known pronunciation or the line is too long."""
    script = _script(job, voice, sounds)
    if script is None:
        return None
    speech = synthesizer.speak(script.phonemes, timbre=voice.timbre, manner=script.manner, prosody=_prosody(job, voice))
    samples, f0_hz = _with_effects(speech.samples, DELIVERY_OF_STYLE[job.style].effort, random)
    return Recording(script.line(speech.symbols, speech.frames), samples, f0_hz)


def read(job: Job, voice: VoiceRecipe, synthesizer: Synthesizer, sounds: Sounds) -> Reading | None:
    """Return the reading of ``job`` without its sound, or None like :func:`rendered`."""
    script = _script(job, voice, sounds)
    if script is None:
        return None
    reading = synthesizer.read(script.phonemes, timbre=voice.timbre, manner=script.manner, prosody=_prosody(job, voice))
    line = script.line(reading.symbols, reading.frames)
    labels, tones = timed_labels(line, reading.is_silent)
    is_voiced = np.isin(labels, list(VOICED)) & (DELIVERY_OF_STYLE[job.style].effort is not Effort.WHISPER)
    return Reading(line, labels, tones, np.where(is_voiced, reading.f0_hz, np.float32(0.0)))


@dataclass(frozen=True, slots=True)
class _Script:
    """The normalised text of a job, its pronunciation, and the styles that determine its prosody."""

    job: Job
    spoken: str
    phonemes: str
    syllables: tuple[str, ...]
    manner: Mixture

    def line(self, symbols: str, frames: tuple[int, ...]) -> Line:
        job = self.job
        return Line(
            text=job.text,
            spoken=self.spoken,
            language=job.language,
            kind=job.kind,
            voice=job.voice,
            style=job.style,
            split=job.split,
            symbols=symbols,
            frames=frames,
            syllables=self.syllables,
        )


def _script(job: Job, voice: VoiceRecipe, sounds: Sounds) -> _Script | None:
    spoken = spoken_form(job.text, job.language)
    try:
        if job.language == "zh":
            heard = sounds.mandarin(spoken, voice.accent)
        else:
            heard = MandarinText(sounds.english(spoken, voice.accent), ())
    except ValueError:
        return None
    if not _MIN_SYMBOLS <= len(heard.phonemes) <= MAX_SYMBOLS:
        return None
    manner = voice.mandarin if job.language == "zh" else voice.english
    return _Script(job, spoken, heard.phonemes, heard.syllables, manner)


def _prosody(job: Job, voice: VoiceRecipe) -> Prosody:
    usual = DELIVERY_OF_STYLE[job.style].prosody
    return Prosody(usual.rate * voice.rate, usual.pitch * voice.pitch, usual.range, usual.energy)


def spoken_form(text: str, language: str) -> str:
    """Return ``text`` in words and with an end mark, as the program's text pipeline converts a paragraph."""
    spoken = spoken_transcript(text, COSYVOICE3_TEXT.tags)
    return shown(finish(spoken, _LANGUAGES[language], ParagraphEnd.PARAGRAPH))


def _with_effects(samples: FloatArray, effort: Effort, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return whole tokens of sound at the level of ``effort``, and its F0."""
    padded = np.pad(samples, (0, -len(samples) % SAMPLES_PER_TOKEN))
    f0_hz = f0_of(padded)
    if effort is Effort.WHISPER:
        padded = whispered(padded, f0_hz, random)
        f0_hz = np.zeros(len(padded) // SAMPLES_PER_HALF_FRAME, np.float32)
    changed = with_effort(padded, effort)
    level = LEVEL_DBFS[effort] + random.uniform(-_LEVEL_SPREAD_DB, _LEVEL_SPREAD_DB)
    gain = np.float32(10.0 ** ((level - active_level_dbfs(changed)) / 20.0))
    return limited(changed * gain), f0_hz
