"""Bundled voices for trying out cloning: a few seconds of original sentences, spoken by the synthesizers."""

from __future__ import annotations

import argparse
import json
import sys
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studio.paths import resources
from training.corpus.rendering import listened_to, rendered
from training.corpus.speakers import speaker_recipes
from training.corpus.store import to_pcm
from training.corpus.texts import prompt_sentences
from training.corpus.tokens import shipped_pairs
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed, Utterance

_FLITE = (
    "Made with flite 2.2 (Carnegie Mellon University; permissive licence) from the CMU ARCTIC voice {voice}, which may be "
    "used freely. "
)
_ESPEAK = (
    "Made with eSpeak NG 1.52 (GPL 3 or later; its licence does not extend to the speech it makes), variant {voice}. "
)
_OURS = "The sentence was written for this project. The recording may be used under the project's own licence."


@dataclass(frozen=True, slots=True)
class PromptVoice:
    """A bundled voice: its name for the user, its timbre in the corpus, and its sentence."""

    name: str
    description: str
    speaker: str
    sentence: int


PROMPT_VOICES = (
    PromptVoice("Ada", "A bright woman's voice, American.", "flite-slt@1.00", 0),
    PromptVoice("Angus", "A light man's voice, once Scottish.", "flite-awb@1.00", 1),
    PromptVoice("Miles", "A deep man's voice, American; the model never heard it in training.", "flite-rms@1.00", 2),
    PromptVoice("Linda", "A woman's voice, mechanical.", "espeak-linda-en-us-p50@1.00", 3),
    PromptVoice("Max", "A man's voice, mechanical.", "espeak-max-en-us-p50@1.00", 4),
)


def make_prompt_voices(folder: Path) -> list[Path]:
    """Write ``NAME.wav`` (24 kHz, 16 bit), its transcript ``NAME.txt`` and its origin ``NAME.json`` for each voice.

    The program lists the voices by name, and uses the first one by default. Return the audio files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recipes = {recipe.name: recipe for recipe in speaker_recipes()}
    made = []
    for number, prompt in enumerate(PROMPT_VOICES):
        sentence = prompt_sentences()[prompt.sentence]
        voice = listened_to(recipes[prompt.speaker], prompt_sentences()[:3])
        generator = np.random.default_rng(number)
        utterance, _ = rendered(
            sentence, voice, style="normal", split="test", table=shipped_pairs(), generator=generator
        )
        path = folder / f"{prompt.name}.wav"
        _write_wave(path, utterance)
        licence = (_FLITE if voice.recipe.engine == "flite" else _ESPEAK).format(voice=voice.recipe.voice) + _OURS
        content = {
            "name": prompt.name,
            "description": prompt.description,
            "transcript": sentence,
            "language": "en",
            "speaker": prompt.speaker,
            "made_with": f"{voice.recipe.engine}, voice {voice.recipe.voice}",
            "licence": licence,
        }
        path.with_suffix(".txt").write_text(sentence + "\n", encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        made.append(path)
    return made


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py voices", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=resources() / "voices", help="where the recordings go")
    try:
        for path in make_prompt_voices(parser.parse_args(arguments).folder):
            print(path)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _write_wave(path: Path, utterance: Utterance) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(to_pcm(utterance.samples).tobytes())
