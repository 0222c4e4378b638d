"""One line, from its text to a recording: normalisation, phonemes, the teacher's speech, and effects."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from studio.text.language import Language
from studio.text.split import ParagraphEnd
from studio.text.spoken import finish, shown, spoken_transcript
from studio.text.tokenizer import COSYVOICE3_TEXT
from training.corpus.acoustics import f0_of
from training.corpus.effects import LEVEL_DBFS, active_level_dbfs, limited, whispered, with_effort
from training.corpus.lines import Line, Recording
from training.corpus.plan import Job
from training.corpus.styles import DELIVERY_OF_STYLE, Effort
from training.corpus.utterance import SAMPLES_PER_HALF_FRAME, SAMPLES_PER_TOKEN, FloatArray
from training.corpus.voices import VoiceRecipe
from training.teacher.mandarin import MandarinText
from training.teacher.network import MAX_SYMBOLS, Mixture, Prosody, TeacherSpeech

_LANGUAGES = {"en": Language.ENGLISH, "zh": Language.CHINESE}
_LEVEL_SPREAD_DB = 1.5
_MIN_SYMBOLS = 3


class Synthesizer(Protocol):
    """``Teacher``, or a fake of it."""

    def speak(self, phonemes: str, *, timbre: Mixture, manner: Mixture, prosody: Prosody) -> TeacherSpeech: ...


class Sounds(Protocol):
    """The pronunciation of both languages."""

    def english(self, text: str, accent: str) -> str: ...

    def mandarin(self, text: str, accent: str) -> MandarinText: ...


def rendered(
    job: Job, voice: VoiceRecipe, synthesizer: Synthesizer, sounds: Sounds, random: np.random.Generator
) -> Recording | None:
    """Return the recording of ``job``, or None if a word has no known pronunciation or the line is too long."""
    spoken = spoken_form(job.text, job.language)
    delivery = DELIVERY_OF_STYLE[job.style]
    try:
        if job.language == "zh":
            read = sounds.mandarin(spoken, voice.accent)
        else:
            read = MandarinText(sounds.english(spoken, voice.accent), ())
    except ValueError:
        return None
    if not _MIN_SYMBOLS <= len(read.phonemes) <= MAX_SYMBOLS:
        return None
    usual = delivery.prosody
    speech = synthesizer.speak(
        read.phonemes,
        timbre=voice.timbre,
        manner=voice.mandarin if job.language == "zh" else voice.english,
        prosody=Prosody(usual.rate * voice.rate, usual.pitch * voice.pitch, usual.range, usual.energy),
    )
    samples, f0_hz = _with_effects(speech.samples, delivery.effort, random)
    line = Line(
        text=job.text,
        spoken=spoken,
        language=job.language,
        kind=job.kind,
        voice=job.voice,
        style=job.style,
        split=job.split,
        symbols=speech.symbols,
        frames=speech.frames,
        syllables=read.syllables,
    )
    return Recording(line, samples, f0_hz)


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
