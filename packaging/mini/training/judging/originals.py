"""Speech of the synthesizers: prompts for the model, and references for its output."""

from __future__ import annotations

import wave
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from training.corpus.rendering import Voice, labels_only, listened_to, rendered
from training.corpus.speakers import STRANGER, SpeakerRecipe, speaker_recipes
from training.corpus.store import to_pcm
from training.corpus.texts import prompt_sentences
from training.corpus.tokens import encode, phones_of, shipped_pairs
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed, Utterance

# The bundled voices use the first five prompt sentences, so the evaluation uses others.
_FIRST_SENTENCE = 5


@dataclass(frozen=True, slots=True)
class Clip:
    """A prompt for the program. ``utterance`` is the output of the synthesizer for it."""

    speaker: str
    path: Path
    transcript: str
    utterance: Utterance = field(repr=False)


class Originals(Protocol):
    def clip(self, speaker: str) -> Clip: ...

    def say(self, speaker: str, text: str) -> Utterance: ...

    def phones(self, accent: str, text: str) -> list[str]:
        """Return eSpeak's phones in the named accent, in the form used by tokens."""
        ...

    def strangers(self) -> list[str]:
        """Return the speakers that were in no training set."""
        ...


class Synthesizers:
    """Write prompts to ``folder``. The results are deterministic."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recipes: dict[str, SpeakerRecipe] = {recipe.name: recipe for recipe in speaker_recipes()}
        self._voices: dict[str, Voice] = {}
        self._said: dict[tuple[str, str], Utterance] = {}
        self._clips: dict[str, Clip] = {}

    def clip(self, speaker: str) -> Clip:
        if speaker not in self._clips:
            sentences = prompt_sentences()[_FIRST_SENTENCE:]
            transcript = sentences[_number(speaker) % len(sentences)]
            utterance = self.say(speaker, transcript)
            path = self._folder / f"{speaker}.wav"
            write_wave(path, utterance)
            self._clips[speaker] = Clip(speaker, path, transcript, utterance)
        return self._clips[speaker]

    def say(self, speaker: str, text: str) -> Utterance:
        if (speaker, text) not in self._said:
            generator = np.random.default_rng(_number(speaker + text))
            self._said[speaker, text], _ = rendered(
                text, self._voice(speaker), style="normal", split="test", table=shipped_pairs(), generator=generator
            )
        return self._said[speaker, text]

    def phones(self, accent: str, text: str) -> list[str]:
        labels = labels_only(text, self._recipes[_PLAIN_ESPEAK], accent)
        return phones_of(encode(labels, np.zeros(len(labels) // 2, np.int32), shipped_pairs()), shipped_pairs())

    def strangers(self) -> list[str]:
        """Return the unseen speaker, then speakers of flite and eSpeak alternately."""
        kept = [recipe.name for recipe in self._recipes.values() if recipe.split == "validation"]
        flite = [name for name in kept if self._recipes[name].engine == "flite"]
        espeak = [name for name in kept if self._recipes[name].engine == "espeak"]
        mixed = [name for pair in zip(flite, espeak, strict=False) for name in pair]
        return [STRANGER, *mixed]

    def _voice(self, speaker: str) -> Voice:
        if speaker not in self._recipes:
            raise CorpusFailed(f"There is no speaker {speaker}. Those there are: training/corpus/speakers.py.")
        if speaker not in self._voices:
            self._voices[speaker] = listened_to(self._recipes[speaker], prompt_sentences()[:3])
        return self._voices[speaker]


_PLAIN_ESPEAK = "espeak-max-en-us-p50@1.00"


def write_wave(path: Path, utterance: Utterance) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(to_pcm(utterance.samples).tobytes())


def _number(text: str) -> int:
    return zlib.crc32(text.encode())
